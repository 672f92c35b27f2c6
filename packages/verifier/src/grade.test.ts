import { describe, expect, it } from 'vitest';
import type { Criterion } from '@kervyxa/contract';
import { Sha256HexSchema } from '@kervyxa/core';
import type { FileReading, RunOutcome } from '@kervyxa/sandbox';
import type { CountReading, CountReport } from './count.ts';
import type { Grade } from './grade-end.ts';
import { gradeRun, type RunEvidence } from './grade.ts';
import type { MetricReading } from './metric.ts';
import { contractWith, criterion } from './testing/contract.ts';

const stream = { bytesTotal: 0, sha256: '0'.repeat(64), head: new Uint8Array() };

function ended(facts: Partial<RunOutcome> = {}): RunOutcome {
  return {
    exitCode: 0,
    timedOut: false,
    outputExceeded: false,
    oomKilled: false,
    pidsLimitHit: null,
    workspaceFull: null,
    peakMemoryBytes: null,
    durationMs: 5,
    stdout: stream,
    stderr: stream,
    ...facts,
  };
}

function only(overrides: Record<string, unknown>): Criterion {
  const [parsed] = contractWith({ criteria: [criterion('c', overrides)] }).criteria;
  if (parsed === undefined) throw new Error('the contract has a criterion');
  return parsed;
}

function judge(overrides: Record<string, unknown>, evidence: Partial<RunEvidence>): Grade {
  const nothing: RunEvidence = {
    outcome: ended(),
    metric: { kind: 'none' },
    isComplete: null,
    file: null,
    count: null,
    judging: null,
  };
  return gradeRun(only(overrides), { ...nothing, ...evidence });
}

function reasonOf(overrides: Record<string, unknown>, evidence: Partial<RunEvidence>): string {
  const { status, reason } = judge(overrides, evidence);
  return `${status} ${reason ?? ''}`.trim();
}

const exitCode = {};
const marker = {
  type: 'benchmark',
  metric: { name: 'peak_heap', unit: 'bytes', op: 'lt', threshold: 100 },
};
const one = (value: number): MetricReading => ({ kind: 'one', value });

// Keeps R-SANDBOX-FACTS.
describe('an exit status', () => {
  it.each<[string, Partial<RunOutcome>, string]>([
    ['0 passes', {}, 'pass'],
    ['1 fails', { exitCode: 1 }, 'fail EXIT_CODE_MISMATCH'],
    ["125 is the program's own, never ours (C11)", { exitCode: 125 }, 'fail EXIT_CODE_MISMATCH'],
    ['0 after our kill is late (C09, BUG-13)', { timedOut: true }, 'fail TIME_LIMIT'],
    [
      '137 after our kill is late, not memory (BUG-21)',
      { timedOut: true, exitCode: 137, oomKilled: true },
      'fail TIME_LIMIT',
    ],
    ['0 after a flood is a flood (BUG-34)', { outputExceeded: true }, 'fail OUTPUT_LIMIT'],
    [
      '137 with a cgroup kill is memory (BUG-19)',
      { exitCode: 137, oomKilled: true },
      'fail MEMORY_LIMIT',
    ],
    ['1 with a cgroup kill is memory', { exitCode: 1, oomKilled: true }, 'fail MEMORY_LIMIT'],
    ['0 with a killed child passes (BUG-20)', { oomKilled: true }, 'pass'],
    ['137 alone is a crash, not memory (C14)', { exitCode: 137 }, 'fail CRASHED'],
    ['139 is a crash', { exitCode: 139 }, 'fail CRASHED'],
    ['1 with a full disk is the disk', { exitCode: 1, workspaceFull: true }, 'fail DISK_LIMIT'],
    [
      '1 with refused forks is the pids limit',
      { exitCode: 1, pidsLimitHit: true },
      'fail PIDS_LIMIT',
    ],
    ['0 with refused forks passes', { pidsLimitHit: true }, 'pass'],
  ])('%s', (_title, facts, expected) => {
    expect(reasonOf(exitCode, { outcome: ended(facts) })).toBe(expected);
  });

  it('other than 0 passes where the contract expects it', () => {
    expect(reasonOf({ expectedExitCode: 3 }, { outcome: ended({ exitCode: 3 }) })).toBe('pass');
    expect(reasonOf({ expectedExitCode: 3 }, { outcome: ended() })).toBe('fail EXIT_CODE_MISMATCH');
  });
});

describe('a metric', () => {
  it.each<[string, MetricReading, Partial<RunOutcome>, string]>([
    ['below the threshold passes', one(99), {}, 'pass'],
    ['at the threshold of lt fails', one(100), {}, 'fail THRESHOLD_NOT_MET'],
    ['that is missing fails', { kind: 'none' }, {}, 'fail METRIC_MISSING'],
    ['printed twice fails', { kind: 'several', count: 2 }, {}, 'fail METRIC_DUPLICATED'],
    [
      'that is no number fails',
      { kind: 'malformed', line: 'KERVYXA_METRIC=x' },
      {},
      'fail METRIC_MALFORMED',
    ],
    [
      'of a failing command does not count (BUG-1, M20)',
      one(1),
      { exitCode: 1 },
      'fail EXIT_CODE_MISMATCH',
    ],
    [
      'printed before hanging does not count (BUG-13)',
      one(1),
      { timedOut: true },
      'fail TIME_LIMIT',
    ],
    [
      'printed before a flood does not count (BUG-33)',
      one(1),
      { outputExceeded: true },
      'fail OUTPUT_LIMIT',
    ],
  ])('%s', (_title, metric, facts, expected) => {
    expect(reasonOf(marker, { metric, outcome: ended(facts) })).toBe(expected);
  });

  it.each([
    ['lt', 9, 10, 11],
    ['gt', 11, 10, 9],
  ] as const)('is compared strictly with %s', (op, passing, equal, failing) => {
    const of = (value: number): string => {
      const metric = { name: 'm', unit: 'bytes', op, threshold: 10 };
      return judge({ ...marker, metric }, { metric: one(value) }).status;
    };
    expect([of(passing), of(equal), of(failing)]).toEqual(['pass', 'fail', 'fail']);
  });

  it('carries the number it was judged by, also when it fails', () => {
    expect(judge(marker, { metric: one(250) }).metric).toBe(250);
    expect(judge(marker, { metric: one(50) }).metric).toBe(50);
  });

  it('taken by the runner ignores what the program prints', () => {
    const artifact = { ...marker, source: 'artifact_bytes', path: 'out.bin' };
    const file: FileReading = {
      kind: 'file',
      bytesTotal: 500,
      sha256: 'a'.repeat(64),
      lineCount: 7,
      head: new Uint8Array(),
    };
    expect(judge(artifact, { file, metric: one(1) })).toMatchObject({
      status: 'fail',
      metric: 500,
    });
    expect(judge({ ...artifact, source: 'artifact_lines' }, { file })).toMatchObject({
      status: 'pass',
      metric: 7,
    });
    expect(reasonOf(artifact, { file: { kind: 'absent' } })).toBe('fail METRIC_MISSING');
    expect(reasonOf(artifact, { file: { kind: 'not_regular', found: 'a symbolic link' } })).toBe(
      'fail METRIC_MISSING',
    );
  });

  it('from the cgroup is judged, and INCONCLUSIVE where the host has none', () => {
    const metric = { name: 'peak', unit: 'bytes', op: 'lt', threshold: 100, tolerance: 5 };
    const peak = { ...marker, metric, source: 'peak_memory_bytes' };
    expect(judge(peak, { outcome: ended({ peakMemoryBytes: 99 }) })).toMatchObject({
      status: 'pass',
      metric: 99,
    });
    expect(reasonOf(peak, { outcome: ended({ peakMemoryBytes: 101 }) })).toBe(
      'fail THRESHOLD_NOT_MET',
    );
    expect(reasonOf(peak, {})).toBe('inconclusive STAGE_UNAVAILABLE');
  });
});

describe('counted work', () => {
  const answer = Sha256HexSchema.parse('ab'.repeat(32));
  const otherAnswer = Sha256HexSchema.parse('cd'.repeat(32));
  const counted = { ...marker, source: 'node_block_count', stdoutSha256: answer };
  const says = (report: Partial<CountReport>): CountReading => ({
    kind: 'one',
    report: { count: 99, stdoutSha256: answer, exitCode: 0, signal: null, ...report },
  });
  it.each<[string, CountReading, Partial<RunOutcome>, string]>([
    ['below the threshold passes', says({}), {}, 'pass'],
    ['at the threshold of lt fails', says({ count: 100 }), {}, 'fail THRESHOLD_NOT_MET'],
    [
      'is nothing: the program leaves early, without the answer',
      says({ count: 0, stdoutSha256: otherAnswer }),
      {},
      'fail ASSERTION_FAILED',
    ],
    [
      'is none that the harness trusts, whatever the answer',
      says({ count: null }),
      {},
      'fail METRIC_MISSING',
    ],
    [
      'of a program that fails does not count (BUG-1, M20)',
      says({ exitCode: 1 }),
      {},
      'fail EXIT_CODE_MISMATCH',
    ],
    [
      'of a program that exits with 127 is its own failure (C11)',
      says({ exitCode: 127 }),
      {},
      'fail EXIT_CODE_MISMATCH',
    ],
    [
      'of a program that was killed is a crash',
      says({ count: null, exitCode: null, signal: 'SIGSEGV' }),
      {},
      'fail CRASHED',
    ],
    [
      'of a program that the kernel killed for memory is memory',
      says({ count: null, exitCode: null, signal: 'SIGKILL' }),
      { oomKilled: true },
      'fail MEMORY_LIMIT',
    ],
    [
      'of a program whose forks were refused is the pids limit',
      says({ exitCode: 1 }),
      { pidsLimitHit: true },
      'fail PIDS_LIMIT',
    ],
    [
      'of a program with no end at all fails',
      says({ count: null, exitCode: null }),
      {},
      'fail EXIT_CODE_MISMATCH',
    ],
    ['with no line of the harness fails', { kind: 'none' }, {}, 'fail METRIC_MISSING'],
    [
      'prints a report of its own: two lines fail (M05)',
      { kind: 'several', count: 2 },
      {},
      'fail METRIC_DUPLICATED',
    ],
    [
      'with more on stdout than the line fails',
      { kind: 'malformed', line: 'hello' },
      {},
      'fail METRIC_MALFORMED',
    ],
    [
      'kills the harness once it has reported: its end decides',
      says({}),
      { exitCode: 137 },
      'fail CRASHED',
    ],
    ['reported before hanging does not count', says({}), { timedOut: true }, 'fail TIME_LIMIT'],
  ])('%s', (_title, count, facts, expected) => {
    expect(reasonOf(counted, { count, outcome: ended(facts) })).toBe(expected);
  });

  it('is the metric, also when it fails, and a metric line says nothing', () => {
    expect(judge(counted, { count: says({ count: 250 }), metric: one(1) }).metric).toBe(250);
  });

  it('without a pinned answer is INCONCLUSIVE, whatever came', () => {
    const unpinned = { ...marker, source: 'instructions' };
    expect(reasonOf(unpinned, { count: says({}) })).toBe('inconclusive STAGE_UNAVAILABLE');
  });
});

describe('a file assertion', () => {
  const text = 'total,7\n';
  const file: FileReading = {
    kind: 'file',
    bytesTotal: text.length,
    sha256: 'ab'.repeat(32),
    lineCount: 1,
    head: Buffer.from(text),
  };
  const link: FileReading = { kind: 'not_regular', found: 'a symbolic link' };
  const absent: FileReading = { kind: 'absent' };
  it.each<[string, object, FileReading, string]>([
    ['exists: a file', { op: 'exists' }, file, 'pass'],
    ['exists: nothing', { op: 'exists' }, absent, 'fail ASSERTION_FAILED'],
    ['exists: a link to a secret (BUG-39)', { op: 'exists' }, link, 'fail ASSERTION_FAILED'],
    ['absent: nothing', { op: 'absent' }, absent, 'pass'],
    ['absent: a file', { op: 'absent' }, file, 'fail ASSERTION_FAILED'],
    ['absent: a link', { op: 'absent' }, link, 'fail ASSERTION_FAILED'],
    ['sha256: equal', { op: 'sha256', value: 'ab'.repeat(32) }, file, 'pass'],
    ['sha256: other', { op: 'sha256', value: 'cd'.repeat(32) }, file, 'fail ASSERTION_FAILED'],
    ['equals: to the byte', { op: 'equals', value: text }, file, 'pass'],
    ['equals: one newline less', { op: 'equals', value: 'total,7' }, file, 'fail ASSERTION_FAILED'],
    ['contains: a part', { op: 'contains', value: 'al,7' }, file, 'pass'],
    ['contains: not there', { op: 'contains', value: '8' }, file, 'fail ASSERTION_FAILED'],
    ['matches: a line', { op: 'matches', value: '^total,[0-9]+\\n$' }, file, 'pass'],
    ['matches: not', { op: 'matches', value: '^[0-9]+$' }, file, 'fail ASSERTION_FAILED'],
    [
      'equals: more than is read',
      { op: 'equals', value: text },
      { kind: 'too_large', bytesMax: 5 },
      'fail ASSERTION_FAILED',
    ],
  ])('%s', (_title, assertion, reading, expected) => {
    const asserting = { type: 'file_assertion', command: 'true', path: 'out.csv', assertion };
    expect(reasonOf(asserting, { file: reading })).toBe(expected);
  });

  it('does not hold when its command failed', () => {
    const asserting = { type: 'file_assertion', path: 'out.csv', assertion: { op: 'exists' } };
    expect(reasonOf(asserting, { file, outcome: ended({ exitCode: 1 }) })).toBe(
      'fail EXIT_CODE_MISMATCH',
    );
  });
});
