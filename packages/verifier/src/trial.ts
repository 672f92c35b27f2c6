import type { Contract, Criterion } from '@kervyxa/contract';
import type { TreeArchive } from '@kervyxa/core';
import type {
  AdditionRule,
  InputDigests,
  RunOutcome,
  RunRequest,
  Sandbox,
  SandboxLimits,
} from '@kervyxa/sandbox';
import pLimit from 'p-limit';
import type { Gate } from './gate.ts';
import { gradeSetup, isLate, type RunEvidence } from './grade.ts';
import { cutProbeInputs } from './probe-inputs.ts';
import { type CriterionBench, runCriterion } from './run-criterion.ts';
import { withSameInputs } from './same-inputs.ts';

const MIB = 1024 * 1024;

export interface TrialDeps {
  readonly sandbox: Sandbox;
  readonly gate: Gate;
  readonly createToken: () => string;
}

/** What one trial runs: the contract's set-up on one tree, then some of its criteria. */
export interface TrialRequest {
  readonly contract: Contract;
  readonly image: string;
  readonly tree: TreeArchive;
  /** Of the tree: what set-up may not change for the criteria. */
  readonly keptPaths: readonly string[];
  /** What set-up may not leave for the criteria. */
  readonly additions?: AdditionRule;
  readonly verifierPackage: TreeArchive | null;
  readonly dependencies: TreeArchive | null;
  readonly criteria: readonly Criterion[];
  /** Where a public criterion was late the hidden ones are not run: their ends are missing. */
  readonly stopsAtLate?: boolean;
  /** How many criteria run side by side. */
  readonly parallelism: number;
  /** Nothing else runs on this worker meanwhile. */
  readonly isAlone: boolean;
  /** How many more containers are started meanwhile and wait: starting one takes a core for a moment. */
  readonly startedAhead: number;
}

export interface TrialListener {
  onSessionOpen?(): void;
  onSetupStart?(index: number): void;
  onSetupEnd?(index: number, outcome: RunOutcome): void;
  onCriterionStart?(criterion: Criterion): void;
  onCriterionEnd?(criterion: Criterion, end: CriterionEnd): void;
  /** `stepId` is `setup:<index>` or `criterion:<id>`, as in VerificationEvent. */
  onOutput?(stepId: string, ...output: Parameters<NonNullable<RunRequest['onOutput']>>): void;
}

/** Evidence, or what kept us from having any. */
export type CriterionEnd =
  | { readonly kind: 'ran'; readonly evidence: RunEvidence }
  | { readonly kind: 'broke'; readonly error: unknown };

/** What set-up and every run read, the same before the first and after the last; null where nothing ran. */
interface Measured {
  readonly inputs: InputDigests | null;
}

/** A set-up command did not end with 0, so no criterion ran. */
export interface SetupFailure extends Measured {
  readonly kind: 'setup_failed';
  readonly index: number;
  readonly outcome: RunOutcome;
}

interface RanTrial extends Measured {
  readonly kind: 'ran';
  readonly ends: ReadonlyMap<string, CriterionEnd>;
}

export type TrialEnd = RanTrial | SetupFailure;

/**
 * Opens a session on the tree, runs the set-up, then the criteria, and closes the session, whatever happens. Every
 * container is gone when it resolves; a session that can't be cleaned up rejects, so that no verdict rests on it, and so
 * does one whose inputs were changed meanwhile, whatever came of the runs: VERIFIER_INPUTS_CHANGED.
 */
export async function runTrial(
  deps: TrialDeps,
  request: TrialRequest,
  listener: TrialListener,
  signal: AbortSignal,
): Promise<TrialEnd> {
  const pass = request.isAlone ? deps.gate.alone : deps.gate.beside;
  return pass(() => runSession(deps, request, listener, signal), signal);
}

async function runSession(
  deps: TrialDeps,
  request: TrialRequest,
  listener: TrialListener,
  signal: AbortSignal,
): Promise<TrialEnd> {
  const { contract, image, tree, keptPaths, additions, criteria } = request;
  const { verifierPackage, dependencies } = request;
  const limits = toLimits(contract);
  const hasProbe = criteria.some(
    ({ type, visibility }) => type === 'judge_probe' && visibility === 'hidden',
  );
  const probeInputs =
    hasProbe && verifierPackage !== null ? await cutProbeInputs(verifierPackage, signal) : null;
  const runsMax = criteria.length;
  const withheld = { keptPaths, ...(additions !== undefined && { additions }) };
  const parts = { image, tree, ...withheld, verifierPackage, probeInputs, dependencies };
  const session = await deps.sandbox.openSession({ ...parts, limits, runsMax }, signal);
  // Reported when it happens; what keeps it from happening is thrown below, after whatever waited for it.
  session.ready.then(listener.onSessionOpen, () => undefined);
  try {
    const { value, inputs } = await withSameInputs(session, signal, async (measured) => {
      const measuredSession = { session, measured };
      const failed = await runSetup(measuredSession, contract, listener, signal);
      if (failed !== null) return failed;
      const ends = await runCriteria(deps, measuredSession, request, { listener, signal });
      return { kind: 'ran', ends } as const;
    });
    return { ...value, inputs };
  } finally {
    await session.close();
  }
}

export function endedLate(end: CriterionEnd | undefined): boolean {
  return end?.kind === 'ran' && isLate(end.evidence);
}

export function toLimits({ environment }: Contract): SandboxLimits {
  return {
    memoryBytes: environment.memoryMB * MIB,
    cpuCount: environment.cpuCount,
    pidsMax: environment.pidsLimit,
    workspaceBytes: environment.workspaceMB * MIB,
    outputBytes: environment.outputKB * 1024,
  };
}

type MeasuredSession = Pick<CriterionBench, 'session' | 'measured'>;

async function runSetup(
  { session, measured }: MeasuredSession,
  contract: Contract,
  listener: TrialListener,
  signal: AbortSignal,
): Promise<Omit<SetupFailure, 'inputs'> | null> {
  for (const [index, { command, timeoutSeconds }] of contract.environment.setup.entries()) {
    await measured;
    listener.onSetupStart?.(index);
    const outcome = await session.runSetup(
      {
        command,
        timeoutMs: timeoutSeconds * 1_000,
        package: 'none',
        onOutput: (...output) => listener.onOutput?.(`setup:${index}`, ...output),
      },
      signal,
    );
    listener.onSetupEnd?.(index, outcome);
    if (gradeSetup(contract, index, outcome).status !== 'pass') {
      return { kind: 'setup_failed', index, outcome };
    }
  }
  return null;
}

async function runCriteria(
  { sandbox, createToken }: TrialDeps,
  { session, measured }: MeasuredSession,
  request: TrialRequest,
  { listener, signal }: { readonly listener: TrialListener; readonly signal: AbortSignal },
): Promise<Map<string, CriterionEnd>> {
  const { contract, image, criteria, parallelism, startedAhead, verifierPackage } = request;
  const { stopsAtLate = false } = request;
  const staging = pLimit(parallelism + startedAhead);
  const limits = toLimits(contract);
  const bench: Omit<CriterionBench, 'onOutput'> = {
    session,
    measured,
    openSession: (parts) => sandbox.openSession({ image, limits, ...parts }, signal),
    verifierPackage,
    running: pLimit(parallelism),
    createToken,
    onStart: (criterion) => listener.onCriterionStart?.(criterion),
    signal,
  };
  const ends = new Map<string, CriterionEnd>();
  const runOne = async (criterion: Criterion): Promise<void> => {
    const onOutput: CriterionBench['onOutput'] = (...output) =>
      listener.onOutput?.(`criterion:${criterion.id}`, ...output);
    const end = await runCriterion({ ...bench, onOutput }, criterion).then(
      (evidence): CriterionEnd => ({ kind: 'ran', evidence }),
      (error: unknown): CriterionEnd => ({ kind: 'broke', error }),
    );
    ends.set(criterion.id, end);
    if (!signal.aborted) listener.onCriterionEnd?.(criterion, end);
  };
  // Two runs of one commit can talk to each other, by locks on files that both have or by the time that each takes from
  // the other, and what a public one prints is seen: so none runs beside a hidden one, or after it. A late one has its
  // second try first: a clock in its output would tell when the hidden ones ended.
  for (const visibility of ['public', 'hidden'] as const) {
    const group = criteria.filter((criterion) => criterion.visibility === visibility);
    await Promise.all(group.map((criterion) => staging(() => runOne(criterion))));
    if (stopsAtLate && group.some(({ id }) => endedLate(ends.get(id)))) break;
  }
  signal.throwIfAborted();
  return ends;
}
