import type { PgBoss } from 'pg-boss';
import type { QueueName } from '../ports.ts';
import { type JobData, type JobFlow, type SqlTransaction, toDb } from './send.ts';
import { takeTurns } from './turns.ts';

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
