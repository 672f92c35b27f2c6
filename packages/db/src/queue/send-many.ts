import type { PgBoss } from 'pg-boss';
import type { QueueName } from '../ports.ts';
import { type JobData, type JobFlow, type SqlTransaction, toDb } from './send.ts';
import { takeTurns } from './turns.ts';

export interface NewJob extends JobFlow {
  readonly subjectId: string;
}

/** A job whose turn is known. */
export interface PlannedJob extends NewJob {
  readonly turn: number;
}

/**
 * Like `SendJob` for several at once, ready at once, of subjects that have no job yet: as many statements as for one.
 * In two steps, each of which can share a round trip with other statements.
 */
export interface SendMany {
  /** Takes their turns: those that they would get one after the other. */
  plan(sql: SqlTransaction, name: QueueName, jobs: readonly NewJob[]): Promise<PlannedJob[]>;
  send(sql: SqlTransaction, name: QueueName, jobs: readonly PlannedJob[]): Promise<void>;
}

export function createSendMany(boss: PgBoss): SendMany {
  return {
    plan: async (sql, name, jobs) => {
      const turns = await takeTurns(toDb(sql), name, jobs);
      return jobs.map((job, index) => ({ ...job, turn: turns[index] ?? 0 }));
    },
    send: async (sql, name, jobs) => {
      const inserts = jobs.map(({ subjectId, contractId, solverId, turn }) => {
        const data: JobData = { contractId, solverId, tries: 0 };
        return { data, priority: -turn, singletonKey: subjectId };
      });
      await boss.insert(name, inserts, { db: toDb(sql) });
    },
  };
}
