import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { PrismaClient } from '../client.ts';
import { isConflict, toDbError } from '../driver-errors.ts';
import { createDbError } from '../errors.ts';
import type { QueueName } from '../ports.ts';
import { allAnswered, type Sql } from './sql.ts';

/** One transaction, and whom to tell once it has committed. */
export interface Transaction {
  readonly sql: Sql;
  /**
   * For a statement whose answer nobody waits for: the commit is sent with it, and undone where it fails. Its trouble is
   * told, and not that of statements after it, which fail because of it.
   */
  leave(answer: Promise<unknown>): void;
  /** Queues that got a job. */
  readonly queues: Set<QueueName>;
  /** Contracts and runs that got an event. */
  readonly streams: Set<string>;
}

/**
 * Does the work in one transaction on one connection: under READ COMMITTED, so that each statement after a lock sees
 * what the holder before committed. Again from the start where it lost to another transaction, a bounded number of
 * times; so the work changes nothing but the database. Throws DB_UNAVAILABLE, and what the work throws.
 */
export type Transact = <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>;

/** Three ways to one database: single statements, plain reads, and work that must happen together or not at all. */
export interface Connections {
  readonly pool: pg.Pool;
  readonly client: PrismaClient;
  readonly transact: Transact;
}

// Statements with arrays would be planned anew each time, which takes longer than they do.
const BEGIN = 'BEGIN; SET LOCAL plan_cache_mode = force_generic_plan';
const TRIES_MAX = 8;
const BACKOFF_MS = 10;

export function createTransact(
  pool: pg.Pool,
  afterCommit: (transaction: Transaction) => void,
): Transact {
  return async (work) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await tryOnce(pool, afterCommit, work);
      } catch (error) {
        if (!isConflict(error)) throw toDbError(error);
        if (tries === TRIES_MAX) throw createConflict(error);
        // Those who lost together must not come back together.
        await delay(randomInt(BACKOFF_MS * 2 ** tries));
      }
    }
  };
}

const names = new Map<string, string>();

/**
 * Statements of transactions are few and always the same texts: the server parses and plans each once a connection.
 */
function toPrepared(connection: pg.PoolClient): Sql {
  return {
    query: (config) => {
      const name = names.get(config.text) ?? `kervyxa_${names.size}`;
      names.set(config.text, name);
      return connection.query({ name, ...config });
    },
  };
}

async function tryOnce<T>(
  pool: pg.Pool,
  afterCommit: (transaction: Transaction) => void,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const connection = await pool.connect();
  let isBroken = false;
  const onError = () => {
    isBroken = true;
  };
  // Between two statements a lost connection is told here, and must not end the process.
  connection.on('error', onError);
  const left: Promise<unknown>[] = [];
  const troubles: unknown[] = [];
  try {
    const transaction: Transaction = {
      sql: toPrepared(connection),
      leave: (answer) => {
        left.push(answer);
        // Heard at once: trouble that nobody hears ends the process.
        answer.catch((error: unknown) => troubles.push(error));
      },
      queues: new Set<QueueName>(),
      streams: new Set<string>(),
    };
    // The first statements of the work are sent with it; where it fails, so do they.
    const begun = connection.query(BEGIN);
    const [, answer] = await allAnswered([begun, work(transaction)]);
    await allAnswered([...left, connection.query('COMMIT')]);
    afterCommit(transaction);
    return answer;
  } catch (error) {
    await connection.query('ROLLBACK').catch(onError);
    const [first = error] = troubles;
    throw first;
  } finally {
    connection.off('error', onError);
    connection.release(isBroken);
  }
}

function createConflict(cause: unknown): Error {
  return createDbError('DB_UNAVAILABLE', {
    message: `expected a transaction to succeed, got ${TRIES_MAX} that lost to others`,
    fix: 'Try again.',
    cause,
  });
}
