import { randomUUID } from 'node:crypto';
import { type CheckerPackage, type Conformance, createConformance } from '@kervyxa/checker';
import type { Contract } from '@kervyxa/contract';
import type { Clock, CommitSha, TreeArchive } from '@kervyxa/core';
import type { FetchedCommit, Intake } from '@kervyxa/intake';
import type { Sandbox } from '@kervyxa/sandbox';
import { verifierError } from './errors.ts';
import type { VerificationEvent } from './events.ts';
import { createGate, type Gate } from './gate.ts';
import { toInfraReason } from './infra.ts';
import { judgeCandidate, type StepEnd, toEnd } from './judge-candidate.ts';
import { toNotRun, type VerificationResult } from './result.ts';
import { createStepLog, type StepLog } from './steps.ts';

export interface VerifierDeps {
  readonly intake: Intake;
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  /** The operator's runtime catalogue: name → image id. A name that is not in it goes to the engine as it is. */
  readonly runtimes: ReadonlyMap<string, string>;
  /** Cores of the machine that runs the containers: as many criteria run side by side as it has room for. */
  readonly coreCount: number;
  /** Shared by all verifications of one worker: what must run alone waits for the others. Its own where left out. */
  readonly gate?: Gate;
  /** Shared by all verifications of one worker: what has been seen of a package is not run again. Its own where left out. */
  readonly conformance?: Conformance;
  /** Makes the token of a benchmark that asks for one: printable ASCII that nobody can guess. Random where left out. */
  readonly createToken?: () => string;
}

export interface VerifyRequest {
  readonly contract: Contract;
  readonly contractDigest: string;
  readonly repositoryUrl: string;
  readonly commit: CommitSha;
  /** Its digest is the SHA-256 that the contract names. Null: hidden criteria that need it end INCONCLUSIVE. */
  readonly verifierPackage: TreeArchive | null;
  /**
   * The dependency bundle; its digest is the SHA-256 that the contract names. Left out or null: a contract that names
   * one ends INCONCLUSIVE.
   */
  readonly dependencies?: TreeArchive | null;
  /** Checker packages by their digests. Left out: none; criteria whose package is not here end INCONCLUSIVE. */
  readonly checkers?: ReadonlyMap<string, CheckerPackage>;
  /** The token issued to this solver, for contracts with `claim: trailer`; null where none is issued. */
  readonly claimToken?: string | null;
}

export interface VerifyOptions {
  readonly signal: AbortSignal;
  readonly onEvent?: (event: VerificationEvent) => void;
}

/**
 * Judges one commit against one contract.
 *
 * 1. The hidden package and the dependency bundle are those that the contract froze, or the caller is told.
 * 2. The commit is fetched, whole and exact; what can't be had is INCONCLUSIVE.
 * 3. The diff is held against the constraints; every breach is FAIL, and nothing of the solver's runs.
 * 4. The image is resolved to the one content that the engine holds.
 * 5. Set-up and criteria run, each in a container of its own, and are graded from recorded facts. What they read was
 *    the same afterwards as before, or nothing is said.
 * 6. The verdict follows from the criteria; no criterion, no PASS.
 *
 * Never throws for what a solver, a server or an engine did: that is a verdict. Throws AppError for what the caller
 * can mend (VERIFIER_PACKAGE_MISMATCH, VERIFIER_DEPENDENCIES_MISMATCH, INTAKE_URL_REFUSED) and the signal's reason after an abort; either way no
 * container is left.
 */
export async function verifyCommit(
  given: VerifierDeps,
  request: VerifyRequest,
  { signal, onEvent = () => undefined }: VerifyOptions,
): Promise<VerificationResult> {
  assertInputsFrozen(request);
  const deps = completeDeps(given);
  const log = createStepLog(deps.clock, onEvent);
  const empty = emptyResult(request);
  try {
    const fetched = await fetchCommit(deps, request, log, signal);
    if (fetched.kind === 'stop') return { ...empty, ...toEnd(fetched) };
    try {
      const { claimToken = null, dependencies = null, checkers = new Map() } = request;
      const asked = { ...request, claimToken, dependencies, checkers, candidate: fetched.value };
      const judged = await judgeCandidate(
        deps,
        { ...asked, asksPolicy: true },
        { log, signal, onEvent },
      );
      return { ...empty, ...judged };
    } finally {
      await fetched.value.close();
    }
  } catch (error) {
    const reason = toInfraReason(error, null, signal);
    log.abandon(reason);
    return { ...empty, verdict: 'ERROR', reasons: [reason] };
  }
}

/** What may be left out, made. */
export function completeDeps({
  gate = createGate(),
  conformance = createConformance(),
  createToken = randomUUID,
  ...given
}: VerifierDeps): Required<VerifierDeps> {
  return { ...given, gate, conformance, createToken };
}

type FrozenInputs = Pick<VerifyRequest, 'contract' | 'verifierPackage' | 'dependencies'>;

/** Throws VERIFIER_PACKAGE_MISMATCH, VERIFIER_DEPENDENCIES_MISMATCH. */
export function assertInputsFrozen(request: FrozenInputs): void {
  assertPackageMatches(request);
  assertDependenciesMatch(request);
}

function assertPackageMatches({ contract, verifierPackage }: FrozenInputs): void {
  if (verifierPackage === null) return;
  const frozen = contract.verifierPackage?.sha256 ?? null;
  if (frozen === verifierPackage.digest) return;
  throw verifierError('VERIFIER_PACKAGE_MISMATCH', {
    message: `expected the package with SHA-256 ${frozen ?? '(none: the contract names no package)'}, got ${verifierPackage.digest}`,
    fix: 'give the folder that was packed when the contract was approved, or approve the contract again',
  });
}

function assertDependenciesMatch({ contract, dependencies = null }: FrozenInputs): void {
  if (dependencies === null) return;
  const frozen = contract.environment.dependencies?.sha256 ?? null;
  if (frozen === dependencies.digest) return;
  throw verifierError('VERIFIER_DEPENDENCIES_MISMATCH', {
    message: `expected the bundle with SHA-256 ${frozen ?? '(none: the contract names no bundle)'}, got ${dependencies.digest}`,
    fix: 'give the bundle that was packed when the contract was approved, or approve the contract again',
  });
}

/** The commit, or why it can't be judged. */
export async function fetchCommit(
  { intake, gate }: Required<VerifierDeps>,
  { contract, repositoryUrl, commit }: Pick<VerifyRequest, 'contract' | 'repositoryUrl' | 'commit'>,
  log: StepLog,
  signal: AbortSignal,
): Promise<StepEnd<FetchedCommit>> {
  const finish = log.start({ id: 'fetch', kind: 'fetch', title: `Fetch ${commit.slice(0, 12)}` });
  const { url: baseRepositoryUrl, baseCommit } = contract.repository;
  try {
    const asked = { baseRepositoryUrl, baseCommit, repositoryUrl, commit };
    const outcome = await gate.beside(() => intake.fetchCommit(asked, signal), signal);
    if (outcome.kind === 'fetched') {
      finish('pass');
      return { kind: 'go', value: outcome.source };
    }
    const reason = { code: outcome.reason, message: outcome.message, subject: null };
    const refused = outcome.kind === 'refused';
    finish(refused ? 'fail' : 'inconclusive', reason);
    return { kind: 'stop', verdict: refused ? 'FAIL' : 'INCONCLUSIVE', reasons: [reason] };
  } catch (error) {
    const reason = toInfraReason(error, null, signal);
    finish('error', reason);
    return { kind: 'stop', verdict: 'ERROR', reasons: [reason] };
  }
}

function emptyResult({ contract, contractDigest, commit }: VerifyRequest): VerificationResult {
  return {
    verdict: 'ERROR',
    contractDigest,
    commit,
    tree: null,
    imageDigest: null,
    changedFiles: [],
    inputs: null,
    criteria: contract.criteria.map(toNotRun),
    reasons: [],
  };
}
