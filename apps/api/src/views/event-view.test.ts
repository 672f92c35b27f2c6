import type { EventRow } from '@kervyxa/db';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Sight } from '../auth/access.ts';
import { toEventText } from './event-view.ts';

const NOBODY: Sight = {
  viewerId: 'prn_x',
  isOperator: false,
  isRequester: false,
  isArbiter: false,
  isInvited: false,
};
const SIGHTS = {
  operator: { ...NOBODY, isOperator: true },
  requester: { ...NOBODY, isRequester: true },
  arbiter: { ...NOBODY, isArbiter: true },
  solver: { ...NOBODY, viewerId: 'prn_solver' },
} satisfies Record<string, Sight>;
const UNDECIDED = { solverId: 'prn_solver', windowOpensAt: null };
const PASSED = { solverId: 'prn_solver', windowOpensAt: new Date(0) };

const DataSchema = z.object({ data: z.record(z.string(), z.unknown()) });

/** Who is told the word, of those who see the event. */
function toldBy(
  data: EventRow['data'],
  submission = UNDECIDED as typeof PASSED | typeof UNDECIDED,
) {
  const row: EventRow = {
    cursor: '1-1',
    at: new Date(0),
    name: 'run_step_finished',
    actorId: null,
    contractId: null,
    submissionId: null,
    runId: 'run_1',
    challengeId: null,
    audience: 'PARTIES',
    data,
  };
  return Object.entries(SIGHTS)
    .filter(([, sight]) => {
      const told = DataSchema.parse(JSON.parse(toEventText(row, sight, submission))).data;
      expect(Object.keys(told)).toEqual(Object.keys(data));
      return JSON.stringify(told).includes('WORD');
    })
    .map(([name]) => name);
}

// Keeps R-API-SIGHT.
describe('what is said of a step', () => {
  it('S19 names the commit that is fetched: the requester is not told before it passed', () => {
    const started = { stepId: 'fetch', kind: 'fetch', title: 'Fetch WORD' };
    expect(toldBy(started)).toEqual(['operator', 'arbiter', 'solver']);
    expect(toldBy(started, PASSED)).toEqual(['operator', 'requester', 'arbiter', 'solver']);
    const finished = { kind: 'fetch', reason: 'NOT_A_DESCENDANT', message: 'got WORD' };
    expect(toldBy(finished)).toEqual(['operator', 'arbiter', 'solver']);
  });

  it('is about the package or the machine: the solver is told the reason, without the sentence', () => {
    const finished = { kind: 'image', reason: 'IMAGE_UNAVAILABLE', message: 'at WORD' };
    expect(toldBy(finished)).toEqual(['operator', 'arbiter']);
    const broken = { kind: 'criterion', reason: 'VERIFIER_BROKEN', message: 'WORD.js' };
    expect(toldBy(broken)).toEqual(['operator', 'requester', 'arbiter']);
  });

  it('took as long as the hidden package is large, or a hidden criterion before it: only who sees those is told', () => {
    const finished = { kind: 'workspace', status: 'pass', reason: null, durationMs: 'WORD' };
    expect(toldBy(finished)).toEqual(['operator', 'requester', 'arbiter']);
  });

  it('is about a public criterion: all who see the run are told', () => {
    const finished = { kind: 'criterion', reason: 'EXIT_CODE_MISMATCH', message: 'got WORD' };
    expect(toldBy(finished)).toEqual(['operator', 'requester', 'arbiter', 'solver']);
  });
});
