import { type CheckerPackage, readCheckerPackage, runtimeOf } from '@kervyxa/checker';
import { checkerDigestsOf, findingOf, type Contract, type Finding } from '@kervyxa/contract';
import { toPrintable } from '@kervyxa/core';
import type { ContractRow } from '@kervyxa/db';
import type { Checkers } from '@kervyxa/verifier';
import { toImageReference } from '../images.ts';
import { loadChecker, loadCheckerFiles } from './checker-sources.ts';
import type { JobDeps } from './job.ts';

/** The checker packages that an approved contract names, which its requester has uploaded. */
export async function loadCheckers(
  deps: JobDeps,
  contract: Contract,
  { requesterId }: ContractRow,
  signal: AbortSignal,
): Promise<Checkers> {
  const checkers = new Map<string, CheckerPackage>();
  for (const sha256 of checkerDigestsOf(contract)) {
    await assertUploaded(deps, sha256, requesterId);
    checkers.set(sha256, await loadChecker(deps, sha256, signal));
  }
  return checkers;
}

/** CHECKER_UNFIT for packages that are uploaded, and no checker packages that lint lets through. */
export async function lintPackages(
  deps: JobDeps,
  { criteria }: Contract,
  { requesterId }: ContractRow,
  signal: AbortSignal,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [index, criterion] of criteria.entries()) {
    if (criterion.type !== 'checker' || criterion.checker === null) continue;
    const { sha256 } = criterion.checker;
    await assertUploaded(deps, sha256, requesterId);
    const reading = readCheckerPackage(await loadCheckerFiles(deps, sha256, signal), sha256);
    if (reading.package !== null) continue;
    const refused = reading.findings.filter(({ severity }) => severity === 'refuse');
    const codes = [...new Set(refused.map(({ code }) => code))].join(', ');
    findings.push(
      findingOf('CHECKER_UNFIT', `/criteria/${index}/checker`, {
        message: `expected a checker package that lint lets through, got one with ${toPrintable(codes, 300)}`,
        fix: 'Mend what "kervyxa checker lint DIR" lists, upload the folder again and name its digest.',
      }),
    );
  }
  return findings;
}

/**
 * Freezes the images that run the checkers' programs as they are here now, as `environment.image` is: another build of a
 * runtime may decide otherwise.
 */
export async function pinRuntimes(
  { sandbox, runtimes }: Pick<JobDeps, 'sandbox' | 'runtimes'>,
  contract: Contract,
  checkers: Checkers,
  signal: AbortSignal,
): Promise<Contract> {
  const criteria: Contract['criteria'] = [];
  for (const criterion of contract.criteria) {
    if (criterion.type !== 'checker' || criterion.checker === null) {
      criteria.push(criterion);
      continue;
    }
    const { sha256, runtime: named } = criterion.checker;
    const program = checkers.get(sha256)?.programs.get(criterion.stage);
    const name = program === undefined ? null : await runtimeOf(program);
    const isPinned = name === null || named?.startsWith(`${name}@`) === true;
    const runtime = isPinned
      ? named
      : `${name}@${await sandbox.resolveImage(toImageReference(name, runtimes), signal)}`;
    criteria.push({ ...criterion, checker: { sha256, runtime } });
  }
  return { ...contract, criteria };
}

async function assertUploaded(
  { database }: JobDeps,
  sha256: string,
  requesterId: string,
): Promise<void> {
  if ((await database.reads.packageOf(sha256, requesterId)) !== null) return;
  throw new Error(`expected package ${sha256} in the database, got none`);
}
