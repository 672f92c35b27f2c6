import {
  type Contract,
  type Criterion,
  type FileAssertion,
  isCountedSource,
} from '@kervyxa/contract';
import type { TreeArchive } from '@kervyxa/core';
import type {
  FileReading,
  PackageAccess,
  RunOutcome,
  RunRequest,
  Sandbox,
  SandboxLimits,
  SandboxSession,
  StagedRun,
} from '@kervyxa/sandbox';
import pLimit, { type LimitFunction } from 'p-limit';
import { type CountReading, readCount, toCountCommand } from './count.ts';
import type { Gate } from './gate.ts';
import { gradeSetup, type RunEvidence } from './grade.ts';
import { MetricScanner } from './metric.ts';

const MIB = 1024 * 1024;
/** The largest file that is weighed: by digest, size or lines. */
const FILE_BYTES_MAX = 64 * MIB;
/** The largest file whose text is looked at: a linear pattern still takes seconds for each MiB. */
const TEXT_BYTES_MAX = MIB;
const NO_CONTENT = new Uint8Array();

export interface TrialDeps {
  readonly sandbox: Sandbox;
  readonly gate: Gate;
}

/** What one trial runs: the contract's set-up on one tree, then some of its criteria. */
export interface TrialRequest {
  readonly contract: Contract;
  readonly image: string;
  readonly tree: TreeArchive;
  readonly verifierPackage: TreeArchive | null;
  readonly dependencies: TreeArchive | null;
  readonly criteria: readonly Criterion[];
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

/** A set-up command did not end with 0, so no criterion ran. */
export interface SetupFailure {
  readonly kind: 'setup_failed';
  readonly index: number;
  readonly outcome: RunOutcome;
}

export type TrialEnd =
  { readonly kind: 'ran'; readonly ends: ReadonlyMap<string, CriterionEnd> } | SetupFailure;

/**
 * Opens a session on the tree, runs the set-up, then the criteria, and closes the session, whatever happens. Every
 * container is gone when it resolves; a session that can't be cleaned up rejects, so that no verdict rests on it.
 */
export async function runTrial(
  { sandbox, gate }: TrialDeps,
  request: TrialRequest,
  listener: TrialListener,
  signal: AbortSignal,
): Promise<TrialEnd> {
  const pass = request.isAlone ? gate.alone : gate.beside;
  return pass(() => runSession(sandbox, request, listener, signal), signal);
}

async function runSession(
  sandbox: Sandbox,
  request: TrialRequest,
  listener: TrialListener,
  signal: AbortSignal,
): Promise<TrialEnd> {
  const { contract, image, tree, verifierPackage, dependencies, criteria } = request;
  const limits = toLimits(contract);
  const session = await sandbox.openSession(
    { image, tree, verifierPackage, dependencies, limits, runsMax: criteria.length },
    signal,
  );
  // Reported when it happens; what keeps it from happening is thrown below, after whatever waited for it.
  session.ready.then(listener.onSessionOpen, () => undefined);
  try {
    const failed = await runSetup(session, contract, listener, signal);
    if (failed !== null) return failed;
    const ends = await runCriteria(session, request, listener, signal);
    await session.ready;
    return { kind: 'ran', ends };
  } finally {
    await session.close();
  }
}

function toLimits({ environment }: Contract): SandboxLimits {
  return {
    memoryBytes: environment.memoryMB * MIB,
    cpuCount: environment.cpuCount,
    pidsMax: environment.pidsLimit,
    workspaceBytes: environment.workspaceMB * MIB,
    outputBytes: environment.outputKB * 1024,
  };
}

async function runSetup(
  session: SandboxSession,
  contract: Contract,
  listener: TrialListener,
  signal: AbortSignal,
): Promise<SetupFailure | null> {
  for (const [index, { command, timeoutSeconds }] of contract.environment.setup.entries()) {
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
  session: SandboxSession,
  { criteria, parallelism, startedAhead, verifierPackage }: TrialRequest,
  listener: TrialListener,
  signal: AbortSignal,
): Promise<Map<string, CriterionEnd>> {
  const staging = pLimit(parallelism + startedAhead);
  const running = pLimit(parallelism);
  const ends = new Map<string, CriterionEnd>();
  const runOne = async (criterion: Criterion): Promise<void> => {
    const access = toAccess(criterion, verifierPackage);
    const context = { access, running, listener, signal };
    const end = await runCriterion(session, criterion, context).then(
      (evidence): CriterionEnd => ({ kind: 'ran', evidence }),
      (error: unknown): CriterionEnd => ({ kind: 'broke', error }),
    );
    ends.set(criterion.id, end);
    if (!signal.aborted) listener.onCriterionEnd?.(criterion, end);
  };
  await Promise.all(criteria.map((criterion) => staging(() => runOne(criterion))));
  signal.throwIfAborted();
  return ends;
}

async function runCriterion(
  session: SandboxSession,
  criterion: Criterion,
  context: {
    readonly access: PackageAccess;
    readonly running: LimitFunction;
    readonly listener: TrialListener;
    readonly signal: AbortSignal;
  },
): Promise<RunEvidence> {
  const { access, running, listener, signal } = context;
  const scanner = new MetricScanner();
  const outputEnd = Promise.withResolvers<void>();
  const staged = await session.stage(
    {
      command: commandOf(criterion),
      timeoutMs: criterion.timeoutSeconds * 1_000,
      package: access,
      onOutput: (stream, chunk) => {
        if (stream === 'stdout') scanner.push(chunk);
        listener.onOutput?.(`criterion:${criterion.id}`, stream, chunk);
      },
      onOutputEnd: outputEnd.resolve,
    },
    signal,
  );
  try {
    // The slot is free again when the command is; the engine takes its time to say how it ended.
    const { release } = await running(async () => {
      listener.onCriterionStart?.(criterion);
      const outcome = staged.release(signal);
      await Promise.race([outcome, outputEnd.promise]);
      return { release: outcome };
    });
    const outcome = await release;
    return {
      outcome,
      metric: scanner.finish(),
      file: await readFileOf(criterion, staged, signal),
      count: readCountOf(criterion, outcome),
    };
  } finally {
    // Removed while others run; the session's close waits for it and reports what could not be removed.
    staged.dispose().catch(() => undefined);
  }
}

function toAccess({ visibility }: Criterion, verifierPackage: TreeArchive | null): PackageAccess {
  return verifierPackage !== null && visibility === 'hidden' ? 'shared' : 'none';
}

/** The one command of a criterion that runs in the solver's container. */
function commandOf(criterion: Criterion): string {
  if (criterion.type === 'judge_probe' || criterion.type === 'checker') {
    throw new TypeError(`a criterion of type ${criterion.type} is not run by a trial`);
  }
  if (criterion.type === 'benchmark' && isCountedSource(criterion.source)) {
    return toCountCommand(criterion.source, criterion.command);
  }
  return criterion.command;
}

function readCountOf(criterion: Criterion, { stdout }: RunOutcome): CountReading | null {
  const isCounted = criterion.type === 'benchmark' && isCountedSource(criterion.source);
  return isCounted ? readCount(stdout) : null;
}

/** The file that the criterion names, as the command left it; its content only where grading looks at it. */
async function readFileOf(
  criterion: Criterion,
  staged: StagedRun,
  signal: AbortSignal,
): Promise<FileReading | null> {
  if (criterion.type !== 'file_assertion' && criterion.type !== 'benchmark') return null;
  if (criterion.path === null) return null;
  if (criterion.type === 'file_assertion' && looksAtText(criterion.assertion.op)) {
    return staged.readFile(criterion.path, TEXT_BYTES_MAX, signal);
  }
  const file = await staged.readFile(criterion.path, FILE_BYTES_MAX, signal);
  // Evidence is kept until the end, and 64 criteria may leave 64 MiB each.
  return file.kind === 'file' ? { ...file, head: NO_CONTENT } : file;
}

function looksAtText(op: FileAssertion['op']): boolean {
  return op === 'equals' || op === 'contains' || op === 'matches';
}
