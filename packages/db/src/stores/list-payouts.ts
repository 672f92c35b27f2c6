import type { Payout } from '../generated/client.ts';
import { Prisma } from '../generated/client.ts';
import { type Page, type PageRequest, PAYOUT_STATES, type PayoutRow } from '../ports.ts';
import { toPage, toSlice } from './pages.ts';
import { toOneOf } from './rows.ts';
import { columnsOf, queryRows, type Sql } from './sql.ts';

const LISTED_COLUMNS = columnsOf(Prisma.PayoutScalarFieldEnum, 'p', ['nextTryAt']);
type ListedPayout = Omit<Payout, 'nextTryAt'> & { readonly seq: bigint };

/** In the reverse order of the ledger, where each was booked by one transfer. Throws DB_CURSOR_INVALID. */
export async function listPayouts(
  sql: Sql,
  state: PayoutRow['state'] | null,
  page: PageRequest,
): Promise<Page<PayoutRow>> {
  const slice = toSlice(page);
  const rows = await queryRows<ListedPayout>(
    sql,
    `SELECT ${LISTED_COLUMNS}, t.seq FROM payouts p
     JOIN escrow_resolutions r ON r.contract_id = p.contract_id
     JOIN ledger_transfers t ON t.id = r.transfer_id
     WHERE ($1::text IS NULL OR p.state = $1) AND ($2::bigint IS NULL OR t.seq < $2)
     ORDER BY t.seq DESC LIMIT $3`,
    [state, slice.after, slice.take],
  );
  return toPage(rows, slice, ({ seq: _place, ...row }) => {
    return { ...row, state: toOneOf(PAYOUT_STATES, row.state) };
  });
}
