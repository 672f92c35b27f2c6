import type { Contract, Criterion } from '@kervyxa/contract';
import type { ContractReason, TreeArchive, Verdict } from '@kervyxa/core';
import type { TreeFiles } from '@kervyxa/intake';
import type { AdditionRule, InputDigests } from '@kervyxa/sandbox';
import type { Checkers } from './checker-fit.ts';
import { gradeRun, gradeSetup, isCommandNotFound } from './grade.ts';
import { createProgress, type Progress } from './progress.ts';
import { toInfraReason } from './infra.ts';
import { toNotRun, toResult, type CriterionResult, type Reason } from './result.ts';
import { type CheckerDeps, runCheckers } from './run-checkers.ts';
import { assertSame } from './same-inputs.ts';
import type { StepLog } from './steps.ts';
import {
  type CriterionEnd,
  endedLate,
  runTrial,
  type SetupFailure,
  type TrialDeps,
  type TrialEnd,
  type TrialRequest,
} from './trial.ts';
import { isChecker, isCommand, isCounted, whyUnavailable } from './why-unavailable.ts';

export interface JudgeDeps extends TrialDeps, CheckerDeps {
  readonly log: StepLog;
}

export interface JudgeRequest {
  readonly contract: Contract;
  readonly image: string;
  readonly tree: TreeArchive;
  readonly baseTree: TreeArchive;
  /** Of the commit: what checkers get of it. */
  readonly files: TreeFiles;
  /** Of either tree: what set-up may not change for the criteria. */
  readonly keptPaths: readonly string[];
  /** What set-up may not leave for the criteria. */
  readonly additions?: AdditionRule;
  readonly verifierPackage: TreeArchive | null;
  readonly dependencies: TreeArchive | null;
  readonly checkers: Checkers;
}

export type Judgement =
  | {
      readonly kind: 'judged';
      readonly criteria: CriterionResult[];
      /** What the commands read; null where none ran. */
      readonly inputs: InputDigests | null;
    }
  /** The set-up did not get through, so there is nothing to say about any criterion. */
  | { readonly kind: 'stopped'; readonly verdict: Verdict; readonly reason: Reason };

const NOT_FOUND_AT_BASE =
  'the shell finds no such command, at the base commit either: the contract names one that is not there';
const NOT_COUNTED_AT_BASE =
  'the image has no harness for this source, or finds no such program, at the base commit either';
const STARTED_AHEAD = 2;
/** Nothing runs beside, and no container is started meanwhile. */
const ALONE = { isAlone: true, parallelism: 1, startedAhead: 0 };

/**
 * Runs and grades the criteria of a contract on a commit that policy let through.
 *
 * 1. Criteria that can't run here are INCONCLUSIVE; all others run on the commit's tree, side by side. Checkers get
 *    files of the commit, and neither workspace nor set-up: the public ones run before all that is hidden, the hidden
 *    ones after all that is public (see `runCriteria` for why).
 * 2. What exceeded its time runs once more with nothing beside it on this worker; only a second time-out counts.
 * 3. A set-up that fails, or a command that the shell could not run, is tried at the base commit: where it works
 *    there, the solver broke it; where it does not, the contract is broken.
 */
export async function judgeCriteria(
  deps: JudgeDeps,
  request: JudgeRequest,
  signal: AbortSignal,
): Promise<Judgement> {
  const { contract } = request;
  const runnable = contract.criteria.filter(
    (criterion) => whyUnavailable(criterion, request) === null,
  );
  const commands = runnable.filter(isCommand);
  const progress = createProgress(deps, contract, (criterion, end) =>
    gradeCriterion(criterion, end, signal),
  );
  const graded = new Map<string, CriterionResult>();
  const addCheckers = async (visibility: Criterion['visibility']): Promise<void> => {
    const criteria = runnable.filter(isChecker).filter((each) => each.visibility === visibility);
    const results = await runCheckers(deps, { ...request, criteria }, progress.checkers, signal);
    for (const result of results) graded.set(result.id, result);
  };
  const trial = {
    ...request,
    criteria: commands,
    isAlone: false,
    stopsAtLate: true,
    parallelism: planParallelism(contract, deps.coreCount),
    startedAhead: STARTED_AHEAD,
  };

  await addCheckers('public');
  const ends = await runWithSecondTry(deps, trial, progress, signal);
  if (ends.kind === 'setup_failed') return judgeSetup(deps, trial, ends, signal);

  for (const criterion of commands) {
    graded.set(criterion.id, gradeCriterion(criterion, ends.ends.get(criterion.id), signal));
  }
  const notFound = commands.filter((criterion) =>
    isNotFound(criterion, ends.ends.get(criterion.id)),
  );
  const atBase = { ...trial, stopsAtLate: false, criteria: notFound };
  for (const other of await judgeNotFoundAtBase(deps, atBase, signal)) {
    graded.set(other.id, other);
  }
  await addCheckers('hidden');
  const criteria = contract.criteria.map(
    (criterion) => graded.get(criterion.id) ?? toUnavailable(criterion, request),
  );
  progress.finish(criteria);
  return { kind: 'judged', criteria, inputs: ends.inputs };
}

/** What criteria measure must not depend on their neighbours: no more at once than there are cores for. */
function planParallelism({ environment }: Contract, coreCount: number): number {
  return Math.max(1, Math.floor(coreCount / environment.cpuCount));
}

type TrialOfCommit = TrialRequest & { readonly baseTree: TreeArchive };

/** The criteria's ends, those that were late the first time from a second run with nothing beside it. */
async function runWithSecondTry(
  deps: TrialDeps,
  trial: TrialOfCommit,
  progress: Progress,
  signal: AbortSignal,
): Promise<TrialEnd> {
  if (trial.criteria.length === 0) return { kind: 'ran', ends: new Map(), inputs: null };
  const first = await runPatiently(deps, trial, progress.listen, signal);
  if (first.kind === 'setup_failed') return first;
  const ends = new Map(first.ends);
  const addTrial = async (more: TrialOfCommit): Promise<SetupFailure | null> => {
    const { criteria } = more;
    const end = await runPatiently(deps, more, progress.listen, signal).catch(toBroken(criteria));
    assertSame(first.inputs, end.inputs);
    if (end.kind === 'setup_failed') return end;
    for (const [id, each] of end.ends) ends.set(id, each);
    return null;
  };
  const addSecondTry = async (criteria: readonly Criterion[]): Promise<SetupFailure | null> => {
    const late = criteria.filter(({ id }) => endedLate(ends.get(id)));
    return late.length === 0 ? null : addTrial({ ...trial, ...ALONE, criteria: late });
  };
  const left = trial.criteria.filter(({ id }) => !ends.has(id));
  const failed =
    (await addSecondTry(trial.criteria)) ??
    (left.length === 0 ? null : await addTrial({ ...trial, criteria: left })) ??
    (await addSecondTry(left));
  return failed ?? { kind: 'ran', ends, inputs: first.inputs };
}

/** Runs a trial, and once more with nothing beside it where its set-up was late. */
async function runPatiently(
  deps: TrialDeps,
  trial: TrialRequest,
  listen: Progress['listen'],
  signal: AbortSignal,
): Promise<TrialEnd> {
  const first = await runTrial(deps, trial, listen({ isLast: false }), signal);
  if (first.kind !== 'setup_failed' || !first.outcome.timedOut) return first;
  const second = await runTrial(deps, { ...trial, ...ALONE }, listen({ isLast: true }), signal);
  assertSame(first.inputs, second.inputs);
  return second;
}

/** A further trial that we could not run takes nothing from what the first one showed of other criteria. */
function toBroken(criteria: readonly Criterion[]): (error: unknown) => TrialEnd {
  return (error) => ({
    kind: 'ran',
    ends: new Map(criteria.map(({ id }) => [id, { kind: 'broke', error }])),
    inputs: null,
  });
}

const toNobody = () => ({});

async function judgeSetup(
  deps: TrialDeps,
  trial: TrialOfCommit,
  { index, outcome }: SetupFailure,
  signal: AbortSignal,
): Promise<Judgement> {
  const subject = `environment.setup[${index}]`;
  const atBase = await runPatiently(
    deps,
    { ...trial, tree: trial.baseTree, criteria: [] },
    toNobody,
    signal,
  );
  const what = gradeSetup(trial.contract, index, outcome).message ?? '';
  if (atBase.kind === 'setup_failed') {
    const message = `set-up fails at the base commit too: ${what}`;
    const reason: Reason = { code: 'SETUP_FAILED_AT_BASE', subject, message };
    return { kind: 'stopped', verdict: 'INCONCLUSIVE', reason };
  }
  const message = `set-up works at the base commit and not here: ${what}`;
  return { kind: 'stopped', verdict: 'FAIL', reason: { code: 'SETUP_FAILED', subject, message } };
}

/** What running the trial's criteria at the base commit changes: where the command is not found there either. */
async function judgeNotFoundAtBase(
  deps: TrialDeps,
  trial: TrialOfCommit,
  signal: AbortSignal,
): Promise<CriterionResult[]> {
  if (trial.criteria.length === 0) return [];
  const base = { ...trial, tree: trial.baseTree };
  const atBase = await runPatiently(deps, base, toNobody, signal).catch(toBroken(trial.criteria));
  return trial.criteria.flatMap((criterion): CriterionResult[] => {
    if (atBase.kind === 'setup_failed') {
      const message = 'the shell finds no such command, and set-up fails at the base commit';
      return [toContractBroken(criterion, 'SETUP_FAILED_AT_BASE', message)];
    }
    const end = atBase.ends.get(criterion.id);
    if (end?.kind !== 'ran') return [gradeCriterion(criterion, end, signal)];
    if (!isNotFound(criterion, end)) return [];
    const message = isCounted(criterion) ? NOT_COUNTED_AT_BASE : NOT_FOUND_AT_BASE;
    return [toContractBroken(criterion, 'COMMAND_NOT_FOUND', message)];
  });
}

function toContractBroken(
  criterion: Criterion,
  reason: ContractReason,
  message: string,
): CriterionResult {
  return { ...toNotRun(criterion), status: 'inconclusive', reason, message };
}

function gradeCriterion(
  criterion: Criterion,
  end: CriterionEnd | undefined,
  signal: AbortSignal,
): CriterionResult {
  if (end?.kind === 'ran')
    return toResult(criterion, end.evidence, gradeRun(criterion, end.evidence));
  const lost = new Error(`no end was recorded for criterion ${criterion.id}`);
  const { code, message } = toInfraReason(end?.error ?? lost, criterion.id, signal);
  return { ...toNotRun(criterion), status: 'error', reason: code, message };
}

function isNotFound(criterion: Criterion, end: CriterionEnd | undefined): boolean {
  return end?.kind === 'ran' && isCommandNotFound(criterion, end.evidence.outcome);
}

function toUnavailable(criterion: Criterion, request: JudgeRequest): CriterionResult {
  const message = whyUnavailable(criterion, request);
  return { ...toNotRun(criterion), status: 'inconclusive', reason: 'STAGE_UNAVAILABLE', message };
}
