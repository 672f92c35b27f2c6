import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { PrismaClient } from './client.ts';
import { isConflict, toDbError } from './driver-errors.ts';
import { createDbError } from './errors.ts';
import type { Prisma } from './generated/client.ts';

export type Transaction = Prisma.TransactionClient;

export interface TransactionOptions {
  readonly isolation?: 'ReadCommitted' | 'RepeatableRead' | 'Serializable';
}

const TRIES_MAX = 8;
const BACKOFF_MS = 10;

/**
 * Does the work in one transaction, again from the start where it lost to another one (deadlock, serialization), a
 * bounded number of times. The work must change nothing but the database. Throws DB_UNAVAILABLE, and what the work
 * throws.
 */
export async function withTransaction<T>(
  client: PrismaClient,
  work: (transaction: Transaction) => Promise<T>,
  { isolation = 'ReadCommitted' }: TransactionOptions = {},
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await client.$transaction(work, { isolationLevel: isolation });
    } catch (error) {
      if (!isConflict(error)) throw toDbError(error);
      if (tries === TRIES_MAX) throw createConflict(error);
      // Those who lost together must not come back together.
      await delay(randomInt(BACKOFF_MS * 2 ** tries));
    }
  }
}

function createConflict(cause: unknown): Error {
  return createDbError('DB_UNAVAILABLE', {
    message: `expected a transaction to succeed, got ${TRIES_MAX} that lost to others`,
    fix: 'Try again.',
    cause,
  });
}
