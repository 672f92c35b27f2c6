import { compileLinearRegex, type Contract, type Criterion, METRIC_SIGNS } from '@kervyxa/contract';
import { toPrintable } from '@kervyxa/core';
import type { FileReading, RunOutcome } from '@kervyxa/sandbox';
import type { CountReading } from './count.ts';
import { measureCount } from './grade-count.ts';
import { fail, type Grade, gradeEnd, inconclusive, PASS } from './grade-end.ts';
import { gradeJudging, type ProbeJudging, sayFound } from './grade-judging.ts';
import type { MetricReading } from './metric.ts';

/**
 * Everything recorded about one run of a criterion. `file` is null where the criterion names none, `count` where its
 * work is not counted.
 */
export interface RunEvidence {
  /** How the command ended; of a judge_probe the probe's. */
  readonly outcome: RunOutcome;
  readonly metric: MetricReading;
  /** Whether the last line showed the token; null where the criterion asks for none. */
  readonly isComplete: boolean | null;
  readonly file: FileReading | null;
  readonly count: CountReading | null;
  /** Null for all but a judge_probe whose probe came to its end. */
  readonly judging: ProbeJudging | null;
}

/** Exit statuses with which a shell says that it could not run the command. */
const COMMAND_NOT_RUN = new Set([126, 127]);

/**
 * Grades a run from recorded facts alone; pure. Facts of ours come first (time-out, flood), then the exit status,
 * then what was printed or written: a metric from a failing command does not count (BUG-1, THREATS M20).
 */
export function gradeRun(criterion: Criterion, evidence: RunEvidence): Grade {
  const { timeoutSeconds } = criterion;
  const exitCode = expectedExitCode(criterion);
  const ended = gradeEnd(evidence.outcome, { exitCode, timeoutSeconds });
  if (ended.status !== 'pass') return ended;
  switch (criterion.type) {
    case 'exit_code':
    case 'regression':
      return ended;
    case 'file_assertion':
      return gradeFileAssertion(criterion, evidence.file);
    case 'benchmark':
      return gradeBenchmark(criterion, evidence);
    case 'judge_probe':
      if (evidence.judging === null) throw new TypeError('a probe that ended well has a judge');
      return gradeJudging(evidence.judging, timeoutSeconds);
    case 'checker':
      throw new TypeError(`a criterion of type ${criterion.type} has no run to grade`);
  }
}

/** Whether a command of the criterion ran out of time, which counts only when it does so again. */
export function isLate({ outcome, judging }: RunEvidence): boolean {
  return outcome.timedOut || (judging?.kind === 'judged' && judging.outcome.timedOut);
}

/** True where the shell could not run the command; whose fault that is, a run at the base commit tells. */
export function isCommandNotFound(criterion: Criterion, outcome: RunOutcome): boolean {
  const { timedOut, outputExceeded, exitCode } = outcome;
  if (timedOut || outputExceeded || exitCode === expectedExitCode(criterion)) return false;
  return COMMAND_NOT_RUN.has(exitCode);
}

/** How one of the contract's set-up commands ended. */
export function gradeSetup({ environment }: Contract, index: number, outcome: RunOutcome): Grade {
  const timeoutSeconds = environment.setup[index]?.timeoutSeconds ?? 0;
  return gradeEnd(outcome, { exitCode: 0, timeoutSeconds });
}

function expectedExitCode(criterion: Criterion): number {
  return criterion.type === 'exit_code' ? criterion.expectedExitCode : 0;
}

function gradeFileAssertion(
  { path, assertion }: Extract<Criterion, { type: 'file_assertion' }>,
  file: FileReading | null,
): Grade {
  if (file === null) throw new TypeError('a file assertion needs the reading of its file');
  const name = toPrintable(path);
  if (assertion.op === 'absent') {
    return file.kind === 'absent'
      ? PASS
      : fail('ASSERTION_FAILED', `expected no ${name}, got ${sayFound(file)}`);
  }
  if (file.kind !== 'file') {
    return fail('ASSERTION_FAILED', `expected a regular file ${name}, got ${sayFound(file)}`);
  }
  if (assertion.op === 'exists') return PASS;
  if (assertion.op === 'sha256') {
    if (file.sha256 === assertion.value) return PASS;
    return fail(
      'ASSERTION_FAILED',
      `expected ${name} with SHA-256 ${assertion.value}, got ${file.sha256}`,
    );
  }
  if (file.bytesTotal > file.head.length) {
    return fail(
      'ASSERTION_FAILED',
      `expected ${name} of at most ${file.head.length} bytes, got ${file.bytesTotal}`,
    );
  }
  return holdsText(assertion, file.head)
    ? PASS
    : fail(
        'ASSERTION_FAILED',
        `expected ${name} to satisfy "${assertion.op}", got ${file.bytesTotal} bytes that do not`,
      );
}

function holdsText(
  assertion: { readonly op: 'equals' | 'contains' | 'matches'; readonly value: string },
  bytes: Uint8Array,
): boolean {
  const content = Buffer.from(bytes);
  switch (assertion.op) {
    case 'equals':
      return content.equals(Buffer.from(assertion.value));
    case 'contains':
      return content.includes(assertion.value);
    case 'matches':
      return compileLinearRegex(assertion.value).test(content.toString('utf8'));
  }
}

function gradeBenchmark(
  criterion: Extract<Criterion, { type: 'benchmark' }>,
  evidence: RunEvidence,
): Grade {
  const measured = measure(criterion, evidence);
  if (typeof measured !== 'number') return measured;
  const { name, unit, op, threshold } = criterion.metric;
  if (meets(measured, op, threshold)) return { ...PASS, metric: measured };
  const message = `expected ${name} ${METRIC_SIGNS[op]} ${threshold} ${unit}, got ${measured}`;
  return { ...fail('THRESHOLD_NOT_MET', toPrintable(message)), metric: measured };
}

function measure(
  criterion: Extract<Criterion, { type: 'benchmark' }>,
  { outcome, metric, isComplete, file, count }: RunEvidence,
): number | Grade {
  switch (criterion.source) {
    case 'marker':
      if (isComplete === false) return fail('METRIC_MISSING', NOT_COMPLETE);
      return readMarker(metric);
    case 'artifact_bytes':
    case 'artifact_lines':
      if (file?.kind !== 'file') {
        const found = file === null ? 'nothing' : sayFound(file);
        return fail(
          'METRIC_MISSING',
          `expected a regular file ${toPrintable(criterion.path ?? '')}, got ${found}`,
        );
      }
      return criterion.source === 'artifact_bytes' ? file.bytesTotal : file.lineCount;
    case 'peak_memory_bytes':
      return (
        outcome.peakMemoryBytes ??
        inconclusive('STAGE_UNAVAILABLE', "this worker can't read the peak memory of a container")
      );
    case 'node_block_count':
    case 'node_peak_heap_bytes':
    case 'python_opcode_count':
    case 'python_peak_bytes':
    case 'instructions':
      return measureCount(criterion, outcome, count);
  }
}

const NOT_COMPLETE =
  'expected KERVYXA_DONE=<the line on stdin> as the last line on stdout, got none or another: the harness did not reach its end, did not read its stdin, or printed something after it';

function readMarker(metric: MetricReading): number | Grade {
  switch (metric.kind) {
    case 'one':
      return metric.value;
    case 'none':
      return fail(
        'METRIC_MISSING',
        'expected one line KERVYXA_METRIC=<number> on stdout, got none',
      );
    case 'several':
      return fail(
        'METRIC_DUPLICATED',
        `expected one line KERVYXA_METRIC=<number> on stdout, got ${metric.count}`,
      );
    case 'malformed':
      return fail(
        'METRIC_MALFORMED',
        `expected KERVYXA_METRIC=<decimal number> alone on its line, got "${toPrintable(metric.line, 80)}"`,
      );
  }
}

/** Compares positively only, so that nothing but a number on the right side of the threshold passes (THREATS M05). */
export function meets(
  value: number,
  op: 'lt' | 'lte' | 'gt' | 'gte' | 'eq',
  threshold: number,
): boolean {
  switch (op) {
    case 'lt':
      return value < threshold;
    case 'lte':
      return value <= threshold;
    case 'gt':
      return value > threshold;
    case 'gte':
      return value >= threshold;
    case 'eq':
      return value === threshold;
  }
}
