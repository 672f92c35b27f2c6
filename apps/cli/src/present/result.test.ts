import type { Contract } from '@kervyxa/contract';
import type { VerificationResult } from '@kervyxa/verifier';
import { describe, expect, it } from 'vitest';
import { fakeScreen } from '../testing/fake-host.ts';
import { toResultText } from './result.ts';

const DIGEST = `sha256:${'c'.repeat(64)}`;
const RAN = {
  visibility: 'public',
  status: 'pass',
  reason: null,
  message: null,
  exitCode: 0,
  metric: null,
  peakMemoryBytes: null,
  durationMs: 1_234,
  outputSha256: 'f'.repeat(64),
} as const;
const CONTRACT: Pick<Contract, 'criteria'> = {
  criteria: [
    {
      id: 'heap',
      title: 'Peak heap stays small',
      type: 'benchmark',
      visibility: 'public',
      timeoutSeconds: 60,
      command: 'node bench.js',
      source: 'marker',
      path: null,
      stdoutSha256: null,
      completion: 'none',
      metric: { name: 'heap', unit: 'bytes', op: 'lt', threshold: 60_000_000, tolerance: 0 },
    },
  ],
};
const FAILED: VerificationResult = {
  verdict: 'FAIL',
  contractDigest: DIGEST,
  commit: 'a'.repeat(40),
  tree: 'b'.repeat(40),
  imageDigest: `sha256:${'d'.repeat(64)}`,
  changedFiles: [
    { path: 'parseNumbers.js', status: 'modified' },
    { path: 'evil\u001b[2J.js', status: 'type_changed' },
  ],
  inputs: null,
  criteria: [
    { ...RAN, id: 'tests-pass', type: 'exit_code' },
    {
      ...RAN,
      id: 'heap',
      type: 'benchmark',
      status: 'fail',
      reason: 'THRESHOLD_NOT_MET',
      message: 'expected heap lt 60000000 bytes, got 250123456',
      metric: 250_123_456,
    },
    {
      ...RAN,
      id: 'regression',
      type: 'regression',
      visibility: 'hidden',
      status: 'not_run',
      exitCode: null,
      durationMs: null,
      outputSha256: null,
    },
  ],
  reasons: [
    {
      code: 'THRESHOLD_NOT_MET',
      subject: 'heap',
      message: 'expected heap lt 60000000 bytes, got 250123456',
    },
  ],
};

describe('the result for a person', () => {
  it('shows verdict, reasons, every criterion, the changed files and all digests', () => {
    expect(toResultText(FAILED, CONTRACT, fakeScreen({ columns: 100 }))).toBe(
      `FAIL  1 of 3 criteria passed

THRESHOLD_NOT_MET  heap
  expected heap lt 60000000 bytes, got 250123456

criterion     result            time  detail
tests-pass    pass             1.2 s  exit 0
heap          FAIL             1.2 s  THRESHOLD_NOT_MET, 250,123,456 bytes (wanted < 60,000,000)
regression *  not run
* hidden from solvers

2 changed files
  modified      parseNumbers.js
  type changed  evil\\u{1b}[2J.js

commit   ${'a'.repeat(40)}
tree     ${'b'.repeat(40)}
contract ${DIGEST}
image    sha256:${'d'.repeat(64)}`,
    );
  });

  it('fits into 80 columns, however long the words from outside are', () => {
    const long = 'x'.repeat(300);
    const text = toResultText(
      {
        ...FAILED,
        changedFiles: [{ path: long, status: 'added' }],
        criteria: [{ ...RAN, id: 'y'.repeat(64), type: 'exit_code' }, ...FAILED.criteria],
        reasons: [{ code: 'PROTECTED_PATH_CHANGED', subject: long, message: long }],
      },
      CONTRACT,
      fakeScreen({ columns: 80 }),
    );
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBe(80);
  });

  it('leaves out what is not known, and says where the rest of a long list is', () => {
    const text = toResultText(
      {
        ...FAILED,
        tree: null,
        imageDigest: null,
        changedFiles: Array.from({ length: 14 }, (_, i) => ({ path: `f${i}`, status: 'added' })),
      },
      CONTRACT,
      fakeScreen(),
    );
    expect(text).toContain('14 changed files\n');
    expect(text).toContain('  and 4 more (--json lists all)');
    expect(text).not.toMatch(/^(tree|image)/m);
  });
});
