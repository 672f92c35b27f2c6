import { type Criterion, type FileAssertion, isCountedSource } from '@kervyxa/contract';
import type { TreeArchive } from '@kervyxa/core';
import type {
  FileReading,
  PackageAccess,
  RunOutcome,
  RunRequest,
  SandboxSession,
  SessionRequest,
  StagedRun,
} from '@kervyxa/sandbox';
import type { LimitFunction } from 'p-limit';
import { type CountReading, readCount, toCountCommand } from './count.ts';
import { gradeEnd } from './grade-end.ts';
import type { ProbeJudging } from './grade-judging.ts';
import type { RunEvidence } from './grade.ts';
import { toJudgeCommand } from './judge-guards.ts';
import { COMPLETION_MARKER, MetricScanner } from './metric.ts';
import {
  PROBE_FILE_BYTES_MAX,
  type ProbeOutput,
  StreamKeeper,
  takeProbeOutput,
  toJudgeTree,
} from './probe-output.ts';
import { withSameInputs } from './same-inputs.ts';

const MIB = 1024 * 1024;
/** The largest file that is weighed: by digest, size or lines. */
const FILE_BYTES_MAX = 64 * MIB;
/** The largest file whose text is looked at: a linear pattern still takes seconds for each MiB. */
const TEXT_BYTES_MAX = MIB;
const NO_CONTENT = new Uint8Array();

export type JudgeProbe = Extract<Criterion, { type: 'judge_probe' }>;

/** What a judge runs with. */
export interface JudgeBench {
  /** Opens a session on another tree than the solver's: the same image and limits. */
  readonly openSession: (
    parts: Pick<SessionRequest, 'tree' | 'verifierPackage' | 'runsMax'>,
  ) => Promise<SandboxSession>;
  readonly verifierPackage: TreeArchive | null;
  /** A slot for each command that runs. */
  readonly running: LimitFunction;
  readonly onStart: (criterion: Criterion) => void;
  readonly onOutput: NonNullable<RunRequest['onOutput']>;
  readonly signal: AbortSignal;
}

/** What the criteria of a trial run with. */
export interface CriterionBench extends JudgeBench {
  /** The session that holds the solver's tree. */
  readonly session: SandboxSession;
  /** Settled once the session's inputs are measured; until then no command is let go. */
  readonly measured: Promise<unknown>;
  /** A fresh text of printable ASCII that nobody can guess. */
  readonly createToken: () => string;
}

/** Runs a criterion and answers the facts about it; of a judge_probe also what its judge makes of them. */
export async function runCriterion(
  bench: CriterionBench,
  criterion: Criterion,
): Promise<RunEvidence> {
  if (criterion.type === 'judge_probe') return runJudgeProbe(bench, criterion);
  const { session, measured, verifierPackage, signal, onOutput } = bench;
  const scanner = new MetricScanner();
  const token = asksForToken(criterion) ? bench.createToken() : null;
  const request = {
    command: commandOf(criterion),
    timeoutMs: criterion.timeoutSeconds * 1_000,
    package: toAccess(criterion, verifierPackage),
    ...(token !== null && { stdinLine: token }),
    onOutput: (...[stream, chunk]: Parameters<typeof onOutput>) => {
      if (stream === 'stdout') scanner.push(chunk);
      onOutput(stream, chunk);
    },
  };
  return runInSlot(bench, { session, measured, request, criterion }, async (staged, outcome) => {
    const metric = scanner.finish();
    return {
      outcome,
      metric,
      isComplete: token === null ? null : scanner.lastLine === `${COMPLETION_MARKER}=${token}`,
      file: await readFileOf(criterion, staged, signal),
      count: readCountOf(criterion, outcome),
      judging: null,
    };
  });
}

/** The probe in the session of the solver's tree; then, in one without it, the judge on what the probe left. */
async function runJudgeProbe(bench: CriterionBench, criterion: JudgeProbe): Promise<RunEvidence> {
  const { session, measured, verifierPackage, signal, onOutput } = bench;
  const { probe, timeoutSeconds } = criterion;
  const stdout = new StreamKeeper(PROBE_FILE_BYTES_MAX);
  const request = {
    command: probe.command,
    timeoutMs: timeoutSeconds * 1_000,
    package: toAccess(criterion, verifierPackage),
    onOutput: (...[stream, chunk]: Parameters<typeof onOutput>) => {
      if (stream === 'stdout') stdout.push(chunk);
      onOutput(stream, chunk);
    },
  };
  const { outcome, left } = await runInSlot(
    bench,
    { session, measured, request, criterion },
    async (staged, ended) => {
      const hasEnded = gradeEnd(ended, { exitCode: 0, timeoutSeconds }).status === 'pass';
      return {
        outcome: ended,
        left: hasEnded
          ? await takeProbeOutput(staged, probe.outputs, stdout.finish(), signal)
          : null,
      };
    },
  );
  return {
    outcome,
    metric: { kind: 'none' },
    isComplete: null,
    file: null,
    count: null,
    judging: left === null ? null : await judgeOutput(bench, criterion, left),
  };
}

async function judgeOutput(
  bench: JudgeBench,
  criterion: JudgeProbe,
  left: ProbeOutput,
): Promise<ProbeJudging> {
  if (left.kind === 'refused') return left;
  return { kind: 'judged', outcome: await runJudge(bench, criterion, left.files) };
}

/** Runs the judge on what a probe left, by path, in a session of its own that is gone when this resolves. */
export async function runJudge(
  bench: JudgeBench,
  criterion: JudgeProbe,
  files: ReadonlyMap<string, Uint8Array>,
): Promise<RunOutcome> {
  const verifierPackage = criterion.visibility === 'hidden' ? bench.verifierPackage : null;
  const session = await bench.openSession({
    tree: await toJudgeTree(files),
    verifierPackage,
    runsMax: 1,
  });
  try {
    const request = {
      command: toJudgeCommand(criterion.judge.command),
      timeoutMs: criterion.timeoutSeconds * 1_000,
      package: verifierPackage === null ? ('none' as const) : ('shared' as const),
      onOutput: bench.onOutput,
    };
    const { value: outcome } = await withSameInputs(session, bench.signal, (measured) =>
      runInSlot(bench, { session, measured, request, criterion }, async (_staged, ended) => ended),
    );
    return outcome;
  } finally {
    await session.close();
  }
}

interface SlotRun {
  readonly session: SandboxSession;
  readonly measured: Promise<unknown>;
  readonly request: RunRequest;
  readonly criterion: Criterion;
}

/** Stages a run, waits for a slot, and hands what it left to `use` before it is disposed of. */
async function runInSlot<T>(
  { running, onStart, signal }: JudgeBench,
  { session, measured, request, criterion }: SlotRun,
  use: (staged: StagedRun, outcome: RunOutcome) => Promise<T>,
): Promise<T> {
  const outputEnd = Promise.withResolvers<void>();
  const staged = await session.stage({ ...request, onOutputEnd: outputEnd.resolve }, signal);
  try {
    await measured;
    // The slot is free again when the command is; the engine takes its time to say how it ended.
    const { release } = await running(async () => {
      onStart(criterion);
      const outcome = staged.release(signal);
      await Promise.race([outcome, outputEnd.promise]);
      return { release: outcome };
    });
    return await use(staged, await release);
  } finally {
    // Removed while others run; the session's close waits for it and reports what could not be removed.
    staged.dispose().catch(() => undefined);
  }
}

/**
 * What of the hidden package a criterion's run sees. A check reads it under a user of its own and starts the solver's
 * code under another; what is measured in the command's own processes, or leaves a file, has only the solver's.
 */
function toAccess(
  { type, visibility }: Criterion,
  verifierPackage: TreeArchive | null,
): PackageAccess {
  if (verifierPackage === null || visibility !== 'hidden') return 'none';
  if (type === 'judge_probe') return 'probe';
  return type === 'regression' || type === 'exit_code' ? 'apart' : 'shared';
}

function asksForToken(criterion: Criterion): boolean {
  return criterion.type === 'benchmark' && criterion.completion === 'token';
}

/** The one command of a criterion that runs in the solver's container. */
function commandOf(criterion: Exclude<Criterion, JudgeProbe>): string {
  if (criterion.type === 'checker') {
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
