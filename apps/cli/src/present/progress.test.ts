import type { Step } from '@kervyxa/verifier';
import { describe, expect, it } from 'vitest';
import { fakeHost } from '../testing/fake-host.ts';
import { createProgress } from './progress.ts';

const FETCH: Step = { id: 'fetch', kind: 'fetch', title: 'Fetch 1234567890ab' };
const TESTS: Step = { id: 'criterion:tests', kind: 'criterion', title: 'The suite passes' };
const HEAP: Step = { id: 'criterion:heap', kind: 'criterion', title: 'Peak heap stays small' };

describe('the progress of a verification', () => {
  it('rewrites one line a running step with its elapsed time on a terminal', () => {
    const host = fakeHost({ terminal: true });
    const progress = createProgress(host);
    progress.onEvent({ kind: 'step_started', step: TESTS });
    host.advance(1_200);
    progress.onEvent({ kind: 'step_started', step: HEAP });
    host.advance(300);
    expect(host.stderr.lines()).toEqual([
      '....   1.5 s  tests: The suite passes',
      '....   0.3 s  heap: Peak heap stays small',
    ]);
  });

  it('keeps the outcome above the steps that still run', () => {
    const host = fakeHost({ terminal: true });
    const progress = createProgress(host);
    progress.onEvent({ kind: 'step_started', step: HEAP });
    progress.onEvent({ kind: 'step_started', step: TESTS });
    host.advance(2_000);
    progress.onEvent({
      kind: 'step_finished',
      step: TESTS,
      status: 'fail',
      reason: 'EXIT_CODE_MISMATCH',
      message: 'expected exit status 0, got 1',
      durationMs: 1_960,
    });
    expect(host.stderr.lines()).toEqual([
      'FAIL   2.0 s  tests: The suite passes (EXIT_CODE_MISMATCH)',
      '....   2.0 s  heap: Peak heap stays small',
    ]);
    progress.stop();
    expect(host.stderr.lines()).toEqual([
      'FAIL   2.0 s  tests: The suite passes (EXIT_CODE_MISMATCH)',
      '',
    ]);
  });

  it('writes one plain line a finished step where there is no terminal', () => {
    const host = fakeHost();
    const progress = createProgress(host);
    progress.onEvent({ kind: 'step_started', step: FETCH });
    host.advance(5_000);
    progress.onEvent({
      kind: 'step_finished',
      step: FETCH,
      status: 'inconclusive',
      reason: 'REPOSITORY_UNREACHABLE',
      message: 'no answer',
      durationMs: 5_000,
    });
    progress.stop();
    expect(host.stderr.text()).toBe('????   5.0 s  Fetch 1234567890ab (REPOSITORY_UNREACHABLE)\n');
  });

  it.each([
    ['a title of many words', 'word '.repeat(60)],
    ['a title of wide characters', '幅'.repeat(120)],
  ])('cuts %s to the width of the terminal, so that it can be rewritten', (_what, title) => {
    const host = fakeHost({ terminal: true, columns: 40 });
    const progress = createProgress(host);
    progress.onEvent({ kind: 'step_started', step: { ...FETCH, title } });
    progress.stop();
    expect(host.stderr.text()).toContain('...');
  });

  it('cuts a long title before it cuts a reason', () => {
    const host = fakeHost({ terminal: true, columns: 60 });
    createProgress(host).onEvent({
      kind: 'step_finished',
      step: { ...TESTS, title: 'word '.repeat(60) },
      status: 'fail',
      reason: 'EXIT_CODE_MISMATCH',
      message: 'expected exit status 0, got 1',
      durationMs: 0,
    });
    const [line = ''] = host.stderr.lines();
    expect(line).toHaveLength(60);
    expect(line.endsWith('... (EXIT_CODE_MISMATCH)')).toBe(true);
  });

  it('M22 shows the escape sequences of a hostile title as text', () => {
    const host = fakeHost();
    createProgress(host).onEvent({
      kind: 'step_finished',
      step: { ...TESTS, title: 'x\u001b[2J\u202ey' },
      status: 'pass',
      reason: null,
      message: null,
      durationMs: 0,
    });
    expect(host.stderr.text()).toBe('pass   0.0 s  tests: x\\u{1b}[2J\\u{202e}y\n');
  });

  it('prints a note above the running steps', () => {
    const host = fakeHost({ terminal: true });
    const progress = createProgress(host);
    progress.onEvent({ kind: 'step_started', step: FETCH });
    progress.note('stopping');
    expect(host.stderr.lines()).toEqual(['stopping', '....   0.0 s  Fetch 1234567890ab']);
  });
});
