import type { CheckerPackage } from '@kervyxa/checker';
import {
  withCheckerDigests,
  withDependenciesDigest,
  withPackageDigest,
  type Contract,
} from '@kervyxa/contract';
import { Sha256HexSchema, type TreeArchive } from '@kervyxa/core';
import type { Checkers } from '@kervyxa/verifier';
import { cliError } from './errors.ts';

/** The options of every command that runs a contract. */
export interface RunInputOptions {
  readonly package?: string;
  readonly deps?: string;
  /** Folders of checker packages. */
  readonly checker?: readonly string[];
}

/** What the containers get besides a commit, and the contract with their digests. */
export interface RunInputs {
  readonly contract: Contract;
  readonly verifierPackage: TreeArchive | null;
  readonly dependencies: TreeArchive | null;
  readonly checkers: Checkers;
}

/** How they are read. */
export interface RunInputReader {
  loadPackage(folder: string): Promise<TreeArchive>;
  /** From a file or folder, which is read again when it is used. */
  openBundle(path: string): Promise<TreeArchive>;
  loadChecker(folder: string): Promise<CheckerPackage>;
}

/** For `Command.option`: may be given as often as needed. */
export const CHECKER_OPTION: readonly [
  flags: string,
  description: string,
  collect: (folder: string, before: readonly string[] | undefined) => readonly string[],
] = [
  '--checker <dir>',
  'a checker package; once for each that criteria use',
  (folder, before = []) => [...before, folder],
];

const PACKAGE = 'KERVYXA_VERIFIER_PACKAGE';
/** A probe has a part of the package, under a name of its own. */
const USES_PACKAGE = /KERVYXA_(?:VERIFIER_PACKAGE|PROBE)\b/;

/**
 * Reads bundle, hidden package and checker packages; where the contract names none, it gets their digests. Throws
 * CLI_PACKAGE_MISSING, CONTRACT_CHECKER_MISMATCH and what the reader throws.
 */
export async function loadRunInputs(
  asked: Contract,
  options: RunInputOptions,
  reader: RunInputReader,
): Promise<RunInputs> {
  const bundled = await loadDependencies(asked, options.deps, reader);
  const { contract, checkers } = await loadCheckers(bundled.contract, options.checker, reader);
  const inputs = { dependencies: bundled.dependencies, checkers };
  assertCheckersNamed(contract, checkers);
  if (options.package === undefined) {
    assertPackageNotNeeded(contract);
    return { ...inputs, contract, verifierPackage: null };
  }
  const verifierPackage = await reader.loadPackage(options.package);
  const sha256 = Sha256HexSchema.parse(verifierPackage.digest);
  return { ...inputs, verifierPackage, contract: withPackageDigest(contract, sha256) };
}

/**
 * Reads checker packages; in criteria that name none the contract gets the digest of the one that is given. Throws
 * CONTRACT_CHECKER_MISMATCH and what the reader throws.
 */
export async function loadCheckers(
  contract: Contract,
  folders: readonly string[] = [],
  reader: Pick<RunInputReader, 'loadChecker'>,
): Promise<Pick<RunInputs, 'contract' | 'checkers'>> {
  const checkers = new Map<string, CheckerPackage>();
  for (const folder of folders) {
    const checker = await reader.loadChecker(folder);
    checkers.set(checker.digest, checker);
  }
  const digests = [...checkers.keys()].map((digest) => Sha256HexSchema.parse(digest));
  return { contract: withCheckerDigests(contract, digests), checkers };
}

/** A criterion that names no package by now would end as if the contract were broken. */
function assertCheckersNamed({ criteria }: Contract, checkers: Checkers): void {
  const user = criteria.find((each) => each.type === 'checker' && each.checker === null);
  if (user === undefined) return;
  throw cliError('CLI_PACKAGE_MISSING', {
    message: `expected one --checker DIR, as criterion ${user.id} names no checker package, got ${checkers.size}`,
    fix:
      checkers.size === 0
        ? 'Give the folder of the package: --checker DIR.'
        : 'Name the digest of each package in checker.sha256; "kervyxa checker lint DIR" prints it.',
  });
}

async function loadDependencies(
  contract: Contract,
  path: string | undefined,
  reader: RunInputReader,
): Promise<Pick<RunInputs, 'contract' | 'dependencies'>> {
  if (path === undefined) return { contract, dependencies: null };
  const dependencies = await reader.openBundle(path);
  const sha256 = Sha256HexSchema.parse(dependencies.digest);
  return { contract: withDependenciesDigest(contract, sha256), dependencies };
}

/**
 * A package that was forgotten would look like the solver's failure: what a hidden criterion runs is not there. A
 * contract that names the package says so itself (STAGE_UNAVAILABLE).
 */
function assertPackageNotNeeded({ criteria, verifierPackage }: Contract): void {
  if (verifierPackage !== null) return;
  const user = criteria.find(
    (criterion) =>
      criterion.visibility === 'hidden' && USES_PACKAGE.test(JSON.stringify(criterion)),
  );
  if (user === undefined) return;
  throw cliError('CLI_PACKAGE_MISSING', {
    message: `expected --package DIR, as criterion ${user.id} uses $${PACKAGE}, got none`,
    fix: 'Give the folder of the hidden package: --package DIR.',
  });
}
