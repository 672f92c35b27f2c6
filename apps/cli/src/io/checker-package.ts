import { readCheckerPackage, type CheckerPackage } from '@kervyxa/checker';
import { toPrintable } from '@kervyxa/core';
import { cliError } from '../errors.ts';
import { loadCheckerFolder } from './checker-folder.ts';

/**
 * Reads a folder as a checker package that can be run. Throws CLI_CHECKER_REFUSED and what `loadCheckerFolder` throws.
 */
export async function loadCheckerPackage(folder: string): Promise<CheckerPackage> {
  const { files, archive } = await loadCheckerFolder(folder, new AbortController().signal);
  const { package: checker, findings } = readCheckerPackage(files, archive.digest);
  if (checker !== null) return checker;
  const refused = findings.filter(({ severity }) => severity === 'refuse');
  const codes = [...new Set(refused.map(({ code }) => code))].join(', ');
  throw cliError('CLI_CHECKER_REFUSED', {
    message: `expected a checker package in ${toPrintable(folder, 300)}, got one that lint refuses: ${codes}`,
    fix: `Mend what "kervyxa checker lint ${toPrintable(folder, 300)}" lists.`,
  });
}
