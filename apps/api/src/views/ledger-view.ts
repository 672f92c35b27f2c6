import type { TransferRow } from '@kervyxa/db';
import { z } from 'zod';
import { AmountField, CountField, TimeField, TransferIdField, toTime } from './fields.ts';

export const TransferView = z.strictObject({
  id: TransferIdField,
  seq: CountField,
  kind: z.string(),
  currency: z.string(),
  contractId: z.string().nullable(),
  hash: z.string(),
  prevHash: z.string(),
  recordedAt: TimeField,
  postings: z.array(
    z.strictObject({ source: z.string(), destination: z.string(), amountMinor: AmountField }),
  ),
});

export function toTransferView(row: TransferRow): z.infer<typeof TransferView> {
  return {
    id: row.id,
    seq: row.seq.toString(),
    kind: row.kind,
    currency: row.currency,
    contractId: row.contractId,
    hash: row.hash,
    prevHash: row.prevHash,
    recordedAt: toTime(row.recordedAt),
    postings: row.postings.map(({ source, destination, amountMinor }) => ({
      source,
      destination,
      amountMinor: amountMinor.toString(),
    })),
  };
}
