import type { Db, PgBoss } from 'pg-boss';
import type { QueueName } from '../ports.ts';
import { type JobData, type JobFlow, type SqlTransaction, toDb } from './send.ts';
import { QUEUE_SCHEMA } from './turns.ts';

export interface NewJob extends JobFlow {
  readonly subjectId: string;
}

/**
 * Like `SendJob` for several at once, ready at once, of subjects that have no job yet: as many statements as for one.
 * Their turns are those that they would get one after the other.
 */
export type SendMany = (
  sql: SqlTransaction,
  name: QueueName,
  jobs: readonly NewJob[],
) => Promise<void>;

export function createSendMany(boss: PgBoss): SendMany {
  return async (sql, name, jobs) => {
    const db = toDb(sql);
    const turns = await takeTurns(db, name, jobs);
    const inserts = jobs.map(({ subjectId, contractId, solverId }, index) => {
      const data: JobData = { contractId, solverId, tries: 0 };
      return { data, priority: -(turns[index] ?? 0), singletonKey: subjectId };
    });
    await boss.insert(name, inserts, { db });
  };
}

/** In each flow the turns after its last one, in the order of the jobs; a job's own is the later of its two. */
async function takeTurns(db: Db, name: QueueName, flows: readonly JobFlow[]): Promise<number[]> {
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
       INSERT INTO ${QUEUE_SCHEMA}.turn (queue, flow, turn) SELECT $1::text, flow, turn FROM turns
     )
     SELECT max(turn) AS turn FROM turns GROUP BY n ORDER BY n`,
    [name, flows.map(({ contractId }) => contractId), flows.map(({ solverId }) => solverId)],
  );
  return rows.map(({ turn }) => Number(turn));
}
