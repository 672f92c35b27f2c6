import { describe, expect, it } from 'vitest';
import { CHALLENGE_STATES, CONTRACT_STATES, RUN_STATES, SUBMISSION_STATES } from './case.ts';
import {
  CHALLENGE_TRANSITIONS,
  CONTRACT_TRANSITIONS,
  RUN_TRANSITIONS,
  SUBMISSION_TRANSITIONS,
  type Transitions,
} from './transitions.ts';

interface Machine {
  readonly states: readonly string[];
  readonly table: Transitions<string>;
  readonly begins: readonly string[];
  readonly ends: readonly string[];
}

const MACHINES: Readonly<Record<string, Machine>> = {
  contract: {
    states: CONTRACT_STATES,
    table: CONTRACT_TRANSITIONS,
    begins: ['DRAFT'],
    ends: ['SETTLED', 'EXPIRED', 'CANCELLED'],
  },
  submission: {
    states: SUBMISSION_STATES,
    table: SUBMISSION_TRANSITIONS,
    begins: ['RECEIVED'],
    ends: ['FAILED', 'OVERTURNED', 'PAID', 'SUPERSEDED'],
  },
  run: {
    states: RUN_STATES,
    table: RUN_TRANSITIONS,
    begins: ['QUEUED'],
    ends: ['SEALED', 'ABANDONED', 'HELD'],
  },
  challenge: {
    states: CHALLENGE_STATES,
    table: CHALLENGE_TRANSITIONS,
    begins: ['RERUNNING', 'AWAITING_ARBITER', 'NOTED'],
    ends: ['NOTED', 'UPHELD', 'OVERTURNED', 'LAPSED', 'VOIDED'],
  },
};

/** All states that can follow, however late, with those that begin. */
function reach(table: Transitions<string>, begins: readonly string[]): Set<string> {
  const seen = new Set(begins);
  for (const state of seen) for (const next of table[state] ?? []) seen.add(next);
  return seen;
}

describe.each(Object.entries(MACHINES))('the %s table', (_, { states, table, begins, ends }) => {
  it('has no way out of an end, and a way out of everything else', () => {
    expect(states.filter((state) => table[state]?.length === 0).toSorted()).toEqual(
      ends.toSorted(),
    );
  });

  it('reaches every state', () => {
    expect([...reach(table, begins)].toSorted()).toEqual(states.toSorted());
  });

  it('BUG-69 has a way from every state to an end', () => {
    const stuck = states.filter((state) => {
      const reachable = reach(table, [state]);
      return !ends.some((end) => reachable.has(end));
    });
    expect(stuck).toEqual([]);
  });
});
