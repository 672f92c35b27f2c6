import { join } from 'node:path';
import type { Clock } from '@kervyxa/core';
import type { Database } from '@kervyxa/db';
import { toPublicPem } from '@kervyxa/evidence';
import { stateFolder } from '@kervyxa/setup';
import type { WorkerOptions } from '@kervyxa/worker';
import { openSigningKeys } from './signing-key.ts';

/** Where this machine's key is; a machine that is set up anew without it gets another. */
export function signingFolder(): string {
  return join(stateFolder(), 'signing-keys');
}

/**
 * The key of this machine, made where there is none, and listed for those who check what it signs. Throws
 * CLI_KEY_UNUSABLE, DB_SIGNING_KEY_RETIRED.
 */
export async function openDaemonSigning(
  { work }: Pick<Database, 'work'>,
  { verifierId, clock }: { readonly verifierId: string; readonly clock: Clock },
): Promise<WorkerOptions['signing']> {
  const openKey = () => openSigningKeys(signingFolder(), clock).current;
  const key = openKey();
  await work.useSigningKey({ keyid: key.keyid, publicKey: toPublicPem(key) });
  return { verifierId, openKey };
}
