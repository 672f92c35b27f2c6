import type { Event } from '../generated/client.ts';
import type { EventRow, Reads } from '../ports.ts';
import type { EventCursors } from './event-cursors.ts';
import { toOneOf } from './rows.ts';
import { queryRows, type Sql } from './sql.ts';

const AUDIENCES = ['PUBLIC', 'PARTIES', 'OWNER'] as const;
const LIMIT_MAX = 1_000;

/**
 * Events in the order of the transactions that wrote them, and of writing within each. A transaction that is still open
 * may have a smaller number than one that has committed: nothing of the oldest open one or after it is shown yet, so
 * that a reader who goes on from the last cursor misses nothing. Throws DB_CURSOR_INVALID.
 */
export async function loadEvents(
  sql: Sql,
  cursors: EventCursors,
  [stream, after, limit]: Parameters<Reads['events']>,
): Promise<readonly EventRow[]> {
  const [column, subject] =
    'runId' in stream ? ['run_id', stream.runId] : ['contract_id', stream.contractId];
  const [xid, id] = after === null ? [0n, 0n] : cursors.toPlace(after);
  const rows = await queryRows<Event>(
    sql,
    `SELECT id, xid, at, name, actor_id AS "actorId", contract_id AS "contractId",
       submission_id AS "submissionId", run_id AS "runId", challenge_id AS "challengeId", audience, data
     FROM events
     WHERE ${column} = $1 AND (xid, id) > ($2, $3)
       AND xid < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
     ORDER BY xid, id LIMIT $4`,
    [subject, xid, id, Math.min(limit, LIMIT_MAX)],
  );
  return rows.map((row) => toEventRow(row, cursors));
}

function toEventRow(row: Event, { toCursor }: EventCursors): EventRow {
  return {
    cursor: toCursor([BigInt(row.xid), BigInt(row.id)]),
    at: row.at,
    name: row.name,
    actorId: row.actorId,
    contractId: row.contractId,
    submissionId: row.submissionId,
    runId: row.runId,
    challengeId: row.challengeId,
    audience: toOneOf(AUDIENCES, row.audience),
    // A CHECK constraint keeps it an object.
    data: row.data as Readonly<Record<string, unknown>>,
  };
}
