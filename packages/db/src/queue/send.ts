import { sha256Hex } from '@kervyxa/core';
import type { Db, PgBoss } from 'pg-boss';
import type { QueueName } from '../ports.ts';
import { takeTurns } from './turns.ts';

/** A connection of `pg` on which a transaction has begun. */
export interface SqlTransaction {
  query(config: {
    readonly name: string;
    readonly text: string;
    readonly values: unknown[];
  }): Promise<{ rows: Record<string, unknown>[] }>;
}

export interface JobFlow {
  /** Of a check its problem. */
  readonly contractId: string;
  /** Whose work it is: the solver of a submission, run or check, the requester of an approval, the publisher of a program. */
  readonly solverId: string;
}

/** What pg-boss keeps with a job. */
export interface JobData extends JobFlow {
  readonly tries: number;
}

export interface SendOptions extends JobFlow {
  /** Not before then. */
  readonly delayMs: number;
}

/**
 * Puts a job into its queue, in the caller's transaction: it is there if and only if the transaction commits. One job
 * waits for a subject at any time: where one waits already, it stays that job, and is ready at once if it is wanted at
 * once. Where one is being worked on, another is made that waits until the first has ended, so that whoever changed the
 * subject meanwhile is not forgotten.
 *
 * Call `wake` with the queue's name after the commit.
 */
export type SendJob = (
  sql: SqlTransaction,
  name: QueueName,
  subjectId: string,
  options: SendOptions,
) => Promise<void>;

/** A waiting job can be taken between two looks at it, and the one taken can end; nothing makes it happen for ever. */
const LOOKS_MAX = 5;

export function createSendJob(boss: PgBoss): SendJob {
  return async (sql, name, subjectId, { delayMs, ...flow }) => {
    const db = toDb(sql);
    if (await sendNew(boss, db, name, subjectId, { delayMs, ...flow })) return;
    for (let look = 0; look < LOOKS_MAX; look += 1) {
      // Changing the waiting job locks it: a worker that took it before our commit would not see what we changed.
      const startAfter = delayMs === 0 ? { startAfter: 0 } : {};
      const options = { singletonKey: subjectId, match: 'all' as const, db, ...startAfter };
      const { updated } = await boss.update({ name, options });
      if (updated > 0) return;
      if (await sendNew(boss, db, name, subjectId, { delayMs, ...flow })) return;
    }
    throw new Error(`a job of queue ${name} was neither sent nor found in ${LOOKS_MAX} looks`);
  };
}

/** Whether it was sent; not where a job of this subject waits already. */
export async function sendNew(
  boss: PgBoss,
  db: Db,
  name: QueueName,
  subjectId: string,
  { delayMs, tries = 0, ...flow }: SendOptions & { readonly tries?: number },
): Promise<boolean> {
  const [turn = 0] = await takeTurns(db, name, [flow]);
  const data: JobData = { ...flow, tries };
  const id = await boss.send(name, data, {
    db,
    priority: -turn,
    singletonKey: subjectId,
    ...((name === 'approve' || name === 'conformance') && { group: { id: flow.solverId } }),
    ...(delayMs === 0 ? {} : { startAfter: delayMs / 1_000 }),
  });
  return id !== null;
}

export function toDb(sql: SqlTransaction): Db {
  return {
    executeSql: (text, values = []) => sql.query({ name: nameOf(text), text, values }),
  };
}

const names = new Map<string, string>();

/** Names a statement, so that the server plans it once a connection: planning takes longer than the rest of a send. */
function nameOf(text: string): string {
  const name = names.get(text) ?? `queue_${sha256Hex(text).slice(0, 16)}`;
  names.set(text, name);
  return name;
}
