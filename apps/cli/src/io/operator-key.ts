import { randomBytes } from 'node:crypto';
import { createApiKey, hashOfKey } from '@kervyxa/api';
import type { Database } from '@kervyxa/db';
import type { CommandContext } from '../context.ts';
import { parseSettings } from '../settings.ts';
import { openDaemonDatabase } from './daemon-database.ts';
import { createLog } from './log.ts';

/** Makes one more key for the operator. Throws what opening the database throws. */
export async function addOperatorKey({ host, interrupts }: CommandContext): Promise<string> {
  const stack = new AsyncDisposableStack();
  try {
    const database = await openDaemonDatabase(stack, {
      settings: parseSettings(host.env),
      mayEmbed: true,
      // stdout is for the key.
      log: createLog({ ...host, stdout: host.stderr }, !host.stderr.isTerminal),
      signal: interrupts.signal,
    });
    const key = createApiKey(randomBytes);
    await database.upkeep.addOperatorKey(hashOfKey(key), { onlyFirst: false });
    return key;
  } finally {
    await stack.disposeAsync();
  }
}

/** The key of the very first start; null where there is an operator already. */
export async function addFirstOperatorKey({
  upkeep,
}: Pick<Database, 'upkeep'>): Promise<string | null> {
  const key = createApiKey(randomBytes);
  return (await upkeep.addOperatorKey(hashOfKey(key), { onlyFirst: true })) ? key : null;
}
