import type { Database } from '@kervyxa/db';
import { toPublicPem } from '@kervyxa/evidence';
import type { CommandContext } from '../context.ts';
import { parseSettings } from '../settings.ts';
import { openDaemonDatabase } from './daemon-database.ts';
import { signingFolder } from './daemon-signing.ts';
import { createLog } from './log.ts';
import { rotateSigningKey } from './signing-key.ts';

/**
 * Makes the next key of this machine, then retires those before; `retired` has the ids of those that were in use. Again
 * after a crash between the two it does the rest. A worker that runs meanwhile is refused with the old one and takes the new one. Throws
 * CLI_KEY_UNUSABLE and what opening the database throws.
 */
export function rotateWorkerKey(
  context: CommandContext,
): Promise<{ readonly keyid: string; readonly retired: readonly string[] }> {
  const { clock } = context.host;
  return withDatabase(context, async ({ upkeep }) => {
    const { current, publicKeys } = rotateSigningKey(signingFolder(), clock);
    const { keyid } = current;
    const old = publicKeys.map((key) => key.keyid).filter((each) => each !== keyid);
    const key = { keyid, publicKey: toPublicPem(current) };
    return { keyid, retired: await upkeep.replaceSigningKeys(old, key) };
  });
}

/** False: it is unknown, or retired already. */
export function retireWorkerKey(context: CommandContext, keyid: string): Promise<boolean> {
  return withDatabase(context, ({ upkeep }) => upkeep.retireSigningKey(keyid));
}

async function withDatabase<T>(
  { host, interrupts }: CommandContext,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const stack = new AsyncDisposableStack();
  try {
    const database = await openDaemonDatabase(stack, {
      settings: parseSettings(host.env),
      mayEmbed: true,
      // stdout is for what came of it.
      log: createLog({ ...host, stdout: host.stderr }, !host.stderr.isTerminal),
      signal: interrupts.signal,
    });
    return await work(database);
  } finally {
    await stack.disposeAsync();
  }
}
