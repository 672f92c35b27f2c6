import type { Contract } from '@kervyxa/contract';
import type { TreeArchive, Verdict } from '@kervyxa/core';
import type { CandidateTree } from '@kervyxa/intake';
import type { InputDigests } from '@kervyxa/sandbox';
import type { VerificationEvent } from './events.ts';
import type { Checkers } from './checker-fit.ts';
import { toInfraReason } from './infra.ts';
import { judgeCriteria } from './judge.ts';
import { fenceAdditions, fencedPaths, gradePolicy } from './policy.ts';
import { type Reason, toNotRun, type VerificationResult } from './result.ts';
import type { StepLog } from './steps.ts';
import { gradeVerdict, toReasons } from './verdict.ts';
import type { VerifierDeps } from './verify-commit.ts';

/** What a step hands to the next one, or why no next one runs. */
export type StepEnd<T> =
  | { readonly kind: 'go'; readonly value: T }
  | { readonly kind: 'stop'; readonly verdict: Verdict; readonly reasons: readonly Reason[] };

export interface CandidateRequest {
  readonly contract: Contract;
  readonly candidate: CandidateTree;
  /** False only for a base tree, which has no diff to hold against the constraints. */
  readonly asksPolicy: boolean;
  readonly claimToken: string | null;
  readonly verifierPackage: TreeArchive | null;
  readonly dependencies: TreeArchive | null;
  readonly checkers: Checkers;
}

export interface JudgeContext {
  readonly log: StepLog;
  readonly signal: AbortSignal;
  readonly onEvent: (event: VerificationEvent) => void;
}

/** What there is to say about a tree, wherever it comes from. */
export type CandidateResult = Omit<VerificationResult, 'contractDigest' | 'commit'>;

/**
 * Judges a tree that is at hand, a commit's or a derived one: policy, image, set-up and criteria, verdict; see
 * `verifyCommit`, of which these are the last four steps. Throws what `toInfraReason` throws on.
 */
export async function judgeCandidate(
  deps: Required<VerifierDeps>,
  request: CandidateRequest,
  { log, signal, onEvent }: JudgeContext,
): Promise<CandidateResult> {
  const { contract, candidate, verifierPackage, dependencies, checkers } = request;
  const changedFiles = candidate.changedFiles.map(({ path, status }) => ({ path, status }));
  const notRun = contract.criteria.map(toNotRun);
  const ofTree = { tree: candidate.tree, changedFiles };
  const known = { ...ofTree, imageDigest: null, inputs: null, criteria: notRun };

  const policy = checkPolicy(request, log);
  if (policy.kind === 'stop') return { ...known, ...toEnd(policy) };

  const image = await resolveImage(deps, contract, log, signal);
  if (image.kind === 'stop') return { ...known, ...toEnd(image) };

  const [tree, baseTree] = [candidate.archive(), candidate.baseArchive()];
  // Policy let the commit through, so both trees hold these.
  const hasSetup = contract.environment.setup.length > 0;
  const keptPaths = hasSetup ? fencedPaths(contract, candidate.baseFiles().paths) : [];
  const additions = hasSetup
    ? { additions: fenceAdditions(contract, candidate.files().paths, keptPaths) }
    : {};
  const trees = { tree, baseTree, files: candidate.files(), keptPaths, ...additions };
  const judged = await judgeCriteria(
    { ...deps, log, onEvent },
    { contract, image: image.value, ...trees, verifierPackage, dependencies, checkers },
    signal,
  );
  const resolved = { ...known, imageDigest: image.value };
  if (judged.kind === 'stopped') {
    const { verdict, reason } = judged;
    return { ...resolved, verdict, reasons: [reason] };
  }
  const { criteria } = judged;
  const verdict = gradeVerdict(criteria);
  return {
    ...resolved,
    inputs: toInputs(judged.inputs),
    criteria,
    verdict,
    reasons: toReasons(criteria),
  };
}

function toInputs(inputs: InputDigests | null): VerificationResult['inputs'] {
  if (inputs === null) return null;
  const { tree: checkout, ...others } = inputs;
  return { checkout, ...others };
}

function checkPolicy(
  { contract, candidate, claimToken, asksPolicy }: CandidateRequest,
  log: StepLog,
): StepEnd<null> {
  if (!asksPolicy) return { kind: 'go', value: null };
  const finish = log.start({ id: 'policy', kind: 'policy', title: 'Check the changed files' });
  const reasons = gradePolicy(contract, candidate, claimToken);
  const [primary] = reasons;
  if (primary === undefined) {
    finish('pass');
    return { kind: 'go', value: null };
  }
  finish('fail', primary);
  return { kind: 'stop', verdict: 'FAIL', reasons };
}

async function resolveImage(
  { sandbox, runtimes }: VerifierDeps,
  { environment }: Contract,
  log: StepLog,
  signal: AbortSignal,
): Promise<StepEnd<string>> {
  const finish = log.start({
    id: 'image',
    kind: 'image',
    title: `Find image ${environment.image}`,
  });
  try {
    const reference = runtimes.get(environment.image) ?? environment.image;
    const value = await sandbox.resolveImage(reference, signal);
    finish('pass');
    return { kind: 'go', value };
  } catch (error) {
    const reason = toInfraReason(error, environment.image, signal);
    finish('error', reason);
    return { kind: 'stop', verdict: 'ERROR', reasons: [reason] };
  }
}

export function toEnd({ verdict, reasons }: Extract<StepEnd<unknown>, { kind: 'stop' }>): {
  verdict: Verdict;
  reasons: Reason[];
} {
  return { verdict, reasons: [...reasons] };
}
