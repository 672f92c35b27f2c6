import type { OperatorSettings } from '@kervyxa/contract';
import { loadRuntimes } from '@kervyxa/setup';
import type { Host } from '../host.ts';
import { parseSettings } from '../settings.ts';

/** What this machine's operator allows. Throws what `parseSettings` throws. */
export function loadSettings({ env }: Pick<Host, 'env'>): OperatorSettings {
  const names = [...loadRuntimes().keys()];
  return {
    ...parseSettings(env).operator,
    // Before the first set-up there is no catalogue, which says nothing against any name.
    catalogue: names.length === 0 ? null : names,
  };
}
