import { toPrintable } from '@kervyxa/core';
import type { FileReading, RunOutcome } from '@kervyxa/sandbox';
import { fail, type Grade, gradeEnd, inconclusive, PASS } from './grade-end.ts';

/** What became of what a probe left: something of it could not be handed on, or the judge saw it and ended. */
export type ProbeJudging =
  | { readonly kind: 'refused'; readonly path: string; readonly found: FileReading }
  | { readonly kind: 'judged'; readonly outcome: RunOutcome };

const REFUTED_STATUS = 1;
const BROKE_A_LIMIT =
  'expected a judge within environment.memoryMB and pidsLimit, got one that met a limit: its status says nothing';

/**
 * Grades what a judge made of a probe's output; pure. A judge has two answers: 0 holds, 1 refutes. It is the contract's
 * program in a container without the solver's code, so any other end is the contract's fault: VERIFIER_BROKEN.
 */
export function gradeJudging(judging: ProbeJudging, timeoutSeconds: number): Grade {
  if (judging.kind === 'refused') {
    const { path, found } = judging;
    const name = toPrintable(path);
    return found.kind === 'too_large'
      ? fail('OUTPUT_LIMIT', `expected at most ${found.bytesMax} bytes of ${name}, got more`)
      : fail('ASSERTION_FAILED', `expected a regular file ${name}, got ${sayFound(found)}`);
  }
  const { outcome } = judging;
  const ended = gradeEnd(outcome, { exitCode: 0, timeoutSeconds });
  // A script makes a status of what became of its children: with one of them killed, neither answer is one.
  if (outcome.oomKilled || outcome.pidsLimitHit === true) {
    return inconclusive('VERIFIER_BROKEN', BROKE_A_LIMIT);
  }
  if (ended.status === 'pass') return PASS;
  // EXIT_CODE_MISMATCH is what is left when no limit and no signal explains the status.
  if (outcome.exitCode === REFUTED_STATUS && ended.reason === 'EXIT_CODE_MISMATCH') {
    return fail('REFUTED', 'expected what the probe gave to hold, got a judge that refutes it');
  }
  return inconclusive(
    'VERIFIER_BROKEN',
    `expected exit status 0 or 1 of the judge, got no answer: ${ended.message ?? ''}`,
  );
}

export function sayFound(file: FileReading): string {
  switch (file.kind) {
    case 'file':
      return `a file of ${file.bytesTotal} bytes`;
    case 'absent':
      return 'nothing there';
    case 'not_regular':
      return toPrintable(file.found);
    case 'too_large':
      return `more than ${file.bytesMax} bytes`;
  }
}
