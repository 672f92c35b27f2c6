import type { OperatorSettings } from '@kervyxa/contract';
import { loadRuntimes } from '@kervyxa/setup';
import { parseAllowedOrigins } from '../git-allow.ts';
import type { Host } from '../host.ts';

/** What this machine's operator allows. Throws CLI_GIT_ALLOW_INVALID. */
export function loadSettings({ env }: Pick<Host, 'env'>): OperatorSettings {
  const names = [...loadRuntimes().keys()];
  return {
    allowedOrigins: parseAllowedOrigins(env['KERVYXA_GIT_ALLOW']),
    // Before the first set-up there is no catalogue, which says nothing against any name.
    catalogue: names.length === 0 ? null : names,
  };
}
