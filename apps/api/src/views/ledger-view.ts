import { PAYOUT_STATES, type PayoutRow, type TransferRow } from '@kervyxa/db';
import { z } from 'zod';
import {
  AmountField,
  ContractIdField,
  CountField,
  PayoutIdField,
  PrincipalIdField,
  SubmissionIdField,
  TimeField,
  TransferIdField,
  toTime,
  toTimeOrNull,
} from './fields.ts';

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

export const PayoutStateField = z.enum(PAYOUT_STATES);
export const PayoutView = z.strictObject({
  id: PayoutIdField,
  contractId: ContractIdField,
  submissionId: SubmissionIdField,
  solverId: PrincipalIdField,
  amountMinor: AmountField,
  currency: z.string(),
  state: PayoutStateField,
  tries: z.int().describe('Those that failed.'),
  lastProblem: z.string().nullable().describe('Why the last try failed; null once confirmed.'),
  createdAt: TimeField,
  confirmedAt: TimeField.nullable(),
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

export function toPayoutView(row: PayoutRow): z.infer<typeof PayoutView> {
  return {
    id: row.id,
    contractId: row.contractId,
    submissionId: row.submissionId,
    solverId: row.solverId,
    amountMinor: row.amountMinor.toString(),
    currency: row.currency,
    state: row.state,
    tries: row.tries,
    lastProblem: row.lastProblem,
    createdAt: toTime(row.createdAt),
    confirmedAt: toTimeOrNull(row.confirmedAt),
  };
}
