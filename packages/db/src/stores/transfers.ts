import type { RecordedTransfer } from '@kervyxa/settlement';
import type { TransferRow } from '../ports.ts';
import { queryRows, type Sql } from './sql.ts';

export type LoadedTransfer = RecordedTransfer & Pick<TransferRow, 'contractId'>;

type TransferRecord = Omit<LoadedTransfer, 'postings'> & {
  /** Amounts as text: JSON numbers don't hold 63 bits. */
  readonly postings: readonly {
    readonly source: string;
    readonly destination: string;
    readonly amountMinor: string;
  }[];
};

export type TransferFilter =
  | { readonly id: string }
  | {
      readonly afterSeq: bigint;
      readonly limit: number;
      /** Only those that touch one of these. */
      readonly accounts?: readonly string[];
    };

/** In the order of the chain, postings in their order. */
export async function loadTransfers(
  sql: Sql,
  filter: TransferFilter,
): Promise<readonly LoadedTransfer[]> {
  const [where, values] = toWhere(filter);
  const rows = await queryRows<TransferRecord>(
    sql,
    `SELECT t.id, t.seq, t.kind, t.idempotency_key AS "idempotencyKey", t.input_hash AS "inputHash", t.currency,
       t.contract_id AS "contractId", t.hash, t.prev_hash AS "prevHash", t.recorded_at AS "recordedAt",
       (SELECT json_agg(json_build_object('source', p.source, 'destination', p.destination,
          'amountMinor', p.amount_minor::text) ORDER BY p.index)
        FROM ledger_postings p WHERE p.transfer_id = t.id) AS postings
     FROM ledger_transfers t
     ${where}`,
    values,
  );
  return rows.map(({ postings, ...row }) => {
    const [first, ...rest] = postings.map(({ amountMinor, ...each }) => {
      return { ...each, amountMinor: BigInt(amountMinor) };
    });
    if (first === undefined) throw new Error(`expected postings of transfer ${row.id}, got none`);
    return { ...row, postings: [first, ...rest] };
  });
}

export function toTransferRow(transfer: LoadedTransfer): TransferRow {
  const { id, seq, kind, currency, contractId, hash, prevHash, recordedAt, postings } = transfer;
  return { id, seq, kind, currency, contractId, hash, prevHash, recordedAt, postings };
}

/** One text for each kind of filter, which the server can plan once. */
function toWhere(filter: TransferFilter): readonly [where: string, values: readonly unknown[]] {
  if ('id' in filter) return ['WHERE t.id = $1', [filter.id]];
  const { afterSeq, limit, accounts } = filter;
  if (accounts === undefined) {
    return ['WHERE t.seq > $1 ORDER BY t.seq LIMIT $2', [afterSeq, limit]];
  }
  const where = `WHERE t.seq > $1 AND t.id IN (
      SELECT transfer_id FROM ledger_postings WHERE source = ANY($3)
      UNION SELECT transfer_id FROM ledger_postings WHERE destination = ANY($3))
    ORDER BY t.seq LIMIT $2`;
  return [where, [afterSeq, limit, accounts]];
}
