import { beforeEach, describe, expect, it } from 'vitest';
import { fakeHost, type FakeHost } from '../testing/fake-host.ts';
import { columnOf } from '../testing/sample-report.ts';
import { createProvingProgress } from './proving-progress.ts';

let host: FakeHost;
beforeEach(() => {
  host = fakeHost({ terminal: true, columns: 60 });
});

const start = (title: string) => ({ kind: 'column_started', title, done: 1, total: 9 }) as const;

describe('the progress of proving', () => {
  it('rewrites the running column with its time, and keeps its outcome', () => {
    const progress = createProvingProgress(host);
    progress.onEvent(start('Known-good aaaaaaaaaaaa'));
    host.advance(1_200);
    expect(host.stderr.lines()).toEqual(['....   1.2 s  2 of 9: Known-good aaaaaaaaaaaa']);
    const column = columnOf('good-1', 'Known-good aaaaaaaaaaaa', ['fail', 'fail'], {
      expected: 'PASS',
    });
    progress.onEvent({ kind: 'column_finished', column });
    progress.onEvent({ kind: 'replay_finished', done: 1, total: 3 });
    progress.stop();
    progress.stop();
    expect(host.stderr.lines()).toEqual([
      'BAD    1.2 s  2 of 9: Known-good aaaaaaaaaaaa: FAIL',
      'ok     0.0 s  replay 1 of 3 of the known-good commit',
      '',
    ]);
  });

  it('M22 cuts a title that would wrap, and obeys nothing in it', () => {
    const progress = createProvingProgress(host);
    progress.onEvent(start(`\u001b[2J${'x'.repeat(200)}`));
    host.advance(100);
    expect(host.stderr.lines()[0]).toHaveLength(59);
    expect(host.stderr.lines()[0]).toContain('\\u{1b}[2Jxxx');
    progress.stop();
  });
});
