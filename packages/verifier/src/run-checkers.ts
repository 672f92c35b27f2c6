import {
  type CheckDeps,
  type CheckerPackage,
  type CheckSubmission,
  type Conformance,
  type InputFile,
  runStage,
  type StageEnd,
} from '@kervyxa/checker';
import { toPrintable } from '@kervyxa/core';
import type { TreeFiles } from '@kervyxa/intake';
import type { Sandbox } from '@kervyxa/sandbox';
import pLimit from 'p-limit';
import { type CheckerCriterion, type Checkers, fitChecker } from './checker-fit.ts';
import type { VerificationEvent } from './events.ts';
import type { Gate } from './gate.ts';
import { type Grade, inconclusive } from './grade-end.ts';
import { gradeStage } from './grade-stage.ts';
import { toInfraReason } from './infra.ts';
import { type CriterionResult, toNotRun } from './result.ts';

export interface CheckerDeps {
  readonly sandbox: Sandbox;
  readonly gate: Gate;
  readonly runtimes: ReadonlyMap<string, string>;
  readonly conformance: Conformance;
  readonly coreCount: number;
  readonly onEvent: (event: VerificationEvent) => void;
}

export interface CheckerRequest {
  readonly criteria: readonly CheckerCriterion[];
  readonly checkers: Checkers;
  /** Of the commit. */
  readonly files: TreeFiles;
}

export interface CheckerListener {
  onStart(criterion: CheckerCriterion): void;
  onEnd(result: CriterionResult): void;
}

/** The longest text that a published contract lets a fixture have, in UTF-8. */
export const SUMMARY_BYTES_MAX = 40_000;

/**
 * Runs criteria whose packages are here, side by side as far as there are cores, each in a container of its own without
 * the commit's tree. Answers a result for each; every container is gone then. Throws what `toInfraReason` throws on.
 */
export async function runCheckers(
  deps: CheckerDeps,
  { criteria, checkers, files }: CheckerRequest,
  listener: CheckerListener,
  signal: AbortSignal,
): Promise<CriterionResult[]> {
  const asked = criteria.map((criterion) => ({
    criterion,
    checker: toPackage(criterion, checkers),
  }));
  const cores = Math.max(1, ...asked.map(({ criterion, checker }) => coresOf(criterion, checker)));
  const running = pLimit(Math.max(1, Math.floor(deps.coreCount / cores)));
  const ended = await Promise.allSettled(
    asked.map(({ criterion, checker }) =>
      running(async () => {
        signal.throwIfAborted();
        listener.onStart(criterion);
        const result = await runChecker(deps, { criterion, checker, files }, signal);
        listener.onEnd(result);
        return result;
      }),
    ),
  );
  return ended.map((end) => {
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  });
}

function toPackage(criterion: CheckerCriterion, checkers: Checkers): CheckerPackage {
  const fit = fitChecker(criterion, checkers);
  if (fit.kind === 'fits') return fit.package;
  throw new TypeError(`criterion ${criterion.id} can't run: ${fit.message}`);
}

function coresOf({ stage }: CheckerCriterion, { programs }: CheckerPackage): number {
  return programs.get(stage)?.limits.vcpu ?? 1;
}

interface OneChecker {
  readonly criterion: CheckerCriterion;
  readonly checker: CheckerPackage;
  readonly files: TreeFiles;
}

async function runChecker(
  deps: CheckerDeps,
  { criterion, checker, files }: OneChecker,
  signal: AbortSignal,
): Promise<CriterionResult> {
  try {
    const read = await readSubmission(criterion, checker, files);
    if (read.kind === 'unmet') return toStageResult(criterion, gradeStage(read));
    return await askChecker(deps, { criterion, checker, submission: read.submission }, signal);
  } catch (error) {
    const { code, message } = toInfraReason(error, criterion.id, signal);
    return { ...toNotRun(criterion), status: 'error', reason: code, message };
  }
}

/** The files of the commit itself: what set-up makes of the workspace is nothing that anybody has submitted. */
async function readSubmission(
  { artifacts, summary }: CheckerCriterion,
  { contract }: CheckerPackage,
  files: TreeFiles,
): Promise<{ kind: 'read'; submission: CheckSubmission } | Extract<StageEnd, { kind: 'unmet' }>> {
  const { required_artifacts: required } = contract.submission_requirements;
  const read: CheckSubmission['artifacts'][number][] = [];
  for (const { role, path } of artifacts) {
    const bytesMax = required.find((each) => each.role === role)?.max_bytes ?? 0;
    const content = await files.readFile(path, bytesMax);
    if (content === null) return toUnmet(path, bytesMax, files);
    read.push({ ...toArtifact(path, content), role });
  }
  if (summary === null) {
    return { kind: 'read', submission: { artifacts: read, summaryText: null } };
  }
  const content = await files.readFile(summary, SUMMARY_BYTES_MAX);
  if (content === null) return toUnmet(summary, SUMMARY_BYTES_MAX, files);
  const summaryText = toTextOrNull(content);
  if (summaryText === null) {
    return {
      kind: 'unmet',
      message: `expected UTF-8 text in ${toPrintable(summary)}, got other bytes`,
    };
  }
  return { kind: 'read', submission: { artifacts: read, summaryText } };
}

/** A name for people, which a commit has no media type beside. */
export function toArtifact(path: string, content: Uint8Array): InputFile {
  return { filename: path.slice(path.lastIndexOf('/') + 1), mediaType: null, content };
}

function toUnmet(
  path: string,
  bytesMax: number,
  { paths }: TreeFiles,
): Extract<StageEnd, { kind: 'unmet' }> {
  const got = paths.includes(path) ? 'something else' : 'nothing there';
  const message = `expected a regular file ${toPrintable(path)} of at most ${bytesMax} bytes in the commit, got ${got}`;
  return { kind: 'unmet', message };
}

function toTextOrNull(bytes: Uint8Array): string | null {
  const text = Buffer.from(bytes).toString();
  return Buffer.from(text).equals(bytes) ? text : null;
}

export interface AskedStage {
  readonly criterion: CheckerCriterion;
  readonly checker: CheckerPackage;
  readonly submission: CheckSubmission;
}

/**
 * Puts files before the stage that a criterion names. It decides nothing here until its program has given the results
 * of its own fixtures here. Throws what `runStage` throws.
 */
export async function askChecker(
  { sandbox, gate, runtimes, conformance, onEvent }: Omit<CheckerDeps, 'coreCount'>,
  { criterion, checker, submission }: AskedStage,
  signal: AbortSignal,
): Promise<CriterionResult> {
  const { id, stage, timeoutSeconds } = criterion;
  const deps: CheckDeps = { sandbox, gate, runtimes: withFrozen(runtimes, criterion) };
  const { isConformant, problem } = await conformance(deps, checker, stage, signal);
  if (!isConformant) {
    const message = `NOT_CONFORMANT: expected the results of the package’s own fixtures, but ${problem ?? 'got others'}`;
    return toStageResult(criterion, inconclusive('VERIFIER_BROKEN', message));
  }
  let durationMs: number | null = null;
  const end = await runStage(
    {
      ...deps,
      onOutput: (stream, chunk) =>
        onEvent({ kind: 'output', stepId: `criterion:${id}`, attempt: 1, stream, chunk }),
      onEnd: (tookMs) => {
        durationMs = Math.round(tookMs);
      },
    },
    {
      package: withTimeoutMax(checker, timeoutSeconds),
      stageKey: stage,
      submission,
      reference: checker.reference,
    },
    signal,
  );
  return { ...toStageResult(criterion, gradeStage(end)), durationMs };
}

/** The image that approval froze, in the place of what its name means on this machine. */
function withFrozen(
  runtimes: ReadonlyMap<string, string>,
  { checker }: CheckerCriterion,
): ReadonlyMap<string, string> {
  const [name, imageId] = checker?.runtime?.split('@') ?? [];
  return name === undefined || imageId === undefined
    ? runtimes
    : new Map([...runtimes, [name, imageId]]);
}

/** The contract's limit holds where the package asks for more. */
function withTimeoutMax(checker: CheckerPackage, timeoutSecondsMax: number): CheckerPackage {
  const programs = [...checker.programs].map(([key, program]) => {
    const timeoutSeconds = Math.min(program.limits.timeoutSeconds, timeoutSecondsMax);
    return [key, { ...program, limits: { ...program.limits, timeoutSeconds } }] as const;
  });
  return { ...checker, programs: new Map(programs) };
}

function toStageResult(
  criterion: CheckerCriterion,
  { status, reason, message, metric }: Grade,
): CriterionResult {
  return { ...toNotRun(criterion), status, reason, message, metric };
}
