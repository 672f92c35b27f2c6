import type { Db } from 'pg-boss';
import type { QueueName } from '../ports.ts';
import type { JobFlow } from './send.ts';

/** Schema of pg-boss, and of what stands here. */
export const QUEUE_SCHEMA = 'queue';

/*
 * Start-time fair queueing. A job belongs to two flows, its contract's and its solver's. In each it gets the turn after
 * the flow's last one, but none that has gone by; the later of the two is its own, and jobs are taken in the order of
 * their turns. So a flow with 500 jobs takes turns with all others, a new flow is next but one, and whoever waits is
 * waited for by fewer and fewer: the clock, which is the turn of the job taken last, never goes back.
 *
 * Nothing is locked: two jobs of one flow sent at the same moment may get the same turn, which hurts nobody.
 */
const TABLES = `
  CREATE TABLE IF NOT EXISTS ${QUEUE_SCHEMA}.turn (
    queue text NOT NULL,
    flow text NOT NULL,
    turn integer NOT NULL
  );
  CREATE INDEX IF NOT EXISTS turn_flow ON ${QUEUE_SCHEMA}.turn (queue, flow, turn);
  CREATE TABLE IF NOT EXISTS ${QUEUE_SCHEMA}.clock (
    queue text PRIMARY KEY,
    turn integer NOT NULL
  );`;

/** Several statements in one message are one transaction, which the lock lets one process have at a time. */
export async function createTurns(db: Db, names: readonly QueueName[]): Promise<void> {
  const clocks = names.map((name) => `('${name}', 0)`).join(', ');
  await db.executeSql(`
    SELECT pg_advisory_xact_lock(hashtext('kervyxa queue turns'));
    ${TABLES}
    INSERT INTO ${QUEUE_SCHEMA}.clock (queue, turn) VALUES ${clocks} ON CONFLICT DO NOTHING;`);
}

/** The turns of new jobs, in their order: those that they would get one after the other. */
export async function takeTurns(
  db: Db,
  name: QueueName,
  flows: readonly JobFlow[],
): Promise<number[]> {
  const { rows } = await db.executeSql(
    `WITH jobs AS (
       SELECT * FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS job (contract, solver, n)
     ), flows AS (
       SELECT n, contract AS flow FROM jobs UNION ALL SELECT n, solver FROM jobs
     ), lasts AS (
       SELECT mine.flow, greatest(clock.turn, (
         SELECT max(last.turn) FROM ${QUEUE_SCHEMA}.turn last
         WHERE last.queue = clock.queue AND last.flow = mine.flow
       )) AS turn
       FROM ${QUEUE_SCHEMA}.clock, (SELECT DISTINCT flow FROM flows) AS mine
       WHERE clock.queue = $1::text
     ), turns AS (
       SELECT n, flow, (lasts.turn + row_number() OVER (PARTITION BY flow ORDER BY n))::integer AS turn
       FROM flows JOIN lasts USING (flow)
     ), taken AS (
       INSERT INTO ${QUEUE_SCHEMA}.turn (queue, flow, turn)
       SELECT $1::text, flow, max(turn) FROM turns GROUP BY flow
     )
     SELECT max(turn) AS turn FROM turns GROUP BY n ORDER BY n`,
    [name, flows.map(({ contractId }) => contractId), flows.map(({ solverId }) => solverId)],
  );
  return rows.map(({ turn }) => Number(turn));
}

/** A job with that turn was taken. */
export async function advanceClock(db: Db, name: QueueName, turn: number): Promise<void> {
  await db.executeSql(
    `UPDATE ${QUEUE_SCHEMA}.clock SET turn = $2::integer WHERE queue = $1::text AND turn < $2::integer`,
    [name, turn],
  );
}

/** Forgets turns that have gone by: they decide nothing any more. */
export async function forgetTurns(db: Db): Promise<void> {
  await db.executeSql(
    `DELETE FROM ${QUEUE_SCHEMA}.turn USING ${QUEUE_SCHEMA}.clock
     WHERE clock.queue = turn.queue AND turn.turn <= clock.turn`,
  );
}
