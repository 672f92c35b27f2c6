import { withDependenciesDigest, withPackageDigest, type Contract } from '@kervyxa/contract';
import { Sha256HexSchema, type TreeArchive } from '@kervyxa/core';
import { cliError } from './errors.ts';

/** The options of every command that runs a contract. */
export interface RunInputOptions {
  readonly package?: string;
  readonly deps?: string;
}

/** What the containers get besides a commit, and the contract with their digests. */
export interface RunInputs {
  readonly contract: Contract;
  readonly verifierPackage: TreeArchive | null;
  readonly dependencies: TreeArchive | null;
}

/** How they are read. */
export interface RunInputReader {
  loadPackage(folder: string): Promise<TreeArchive>;
  /** From a file or folder, which is read again when it is used. */
  openBundle(path: string): Promise<TreeArchive>;
}

const PACKAGE = 'KERVYXA_VERIFIER_PACKAGE';
/** A probe has a part of the package, under a name of its own. */
const USES_PACKAGE = /KERVYXA_(?:VERIFIER_PACKAGE|PROBE)\b/;

/**
 * Reads bundle and hidden package; where the contract names none, it gets their digests. Throws CLI_PACKAGE_MISSING and
 * what the reader throws.
 */
export async function loadRunInputs(
  asked: Contract,
  options: RunInputOptions,
  reader: RunInputReader,
): Promise<RunInputs> {
  const { contract, dependencies } = await loadDependencies(asked, options.deps, reader);
  if (options.package === undefined) {
    assertPackageNotNeeded(contract);
    return { contract, verifierPackage: null, dependencies };
  }
  const verifierPackage = await reader.loadPackage(options.package);
  const sha256 = Sha256HexSchema.parse(verifierPackage.digest);
  return { verifierPackage, dependencies, contract: withPackageDigest(contract, sha256) };
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
