import type { IdSource, SealedVerdict } from '@kervyxa/core';
import * as fc from 'fast-check';
import { CHALLENGE_KINDS, type ContractCase } from '../case.ts';
import type { Command } from '../command.ts';
import { BROKEN, DAY_MS, FAIL, HOUR_MS, PASS, UNREACHABLE } from './story.ts';

/** `arrive` is to submit and be captured, `work` to start a run and seal it: what mostly happens. */
export type MoveName = Exclude<Command['kind'], 'prove'> | 'arrive' | 'work';

/** Something that somebody might do. Numbers choose among what is there when it is done. */
export type Move =
  | {
      readonly kind: 'deed';
      readonly name: MoveName;
      readonly pick: number;
      readonly who: number;
      readonly how: number;
    }
  | { readonly kind: 'elapse'; readonly ms: number };

/** Moves that are made at the same time. */
export type History = readonly (readonly Move[])[];

const VERDICTS: readonly SealedVerdict[] = [PASS, PASS, FAIL, PASS, FAIL, BROKEN];

/** Times that lie around the ends of the windows. Most are short, or all would be over at once. */
const STEPS_MS = [1, 1_000, HOUR_MS / 8, HOUR_MS / 8, HOUR_MS, HOUR_MS, DAY_MS, 2 * DAY_MS];

/** How often each is tried. */
export const MOVE_WEIGHTS: Readonly<Record<MoveName, number>> = {
  arrive: 6,
  work: 14,
  submit: 2,
  try_capture: 3,
  capture: 4,
  refuse_capture: 1,
  start: 4,
  seal: 4,
  fail: 3,
  release: 1,
  retry: 3,
  challenge: 12,
  resolve: 8,
  cancel: 1,
  revise: 1,
  fund: 1,
  advance: 6,
};

export function histories(weights = MOVE_WEIGHTS): fc.Arbitrary<History> {
  const deeds = Object.keys(weights)
    .filter(isMoveName)
    .map((name) => ({ weight: weights[name], arbitrary: fc.constant(name) }));
  const deed = fc.record({
    kind: fc.constant('deed' as const),
    name: fc.oneof(...deeds),
    pick: fc.nat(20),
    who: fc.nat(20),
    how: fc.nat(20),
  });
  const elapse = fc.record({
    kind: fc.constant('elapse' as const),
    ms: fc.constantFrom(...STEPS_MS),
  });
  const move = fc.oneof({ weight: 6, arbitrary: deed }, { weight: 1, arbitrary: elapse });
  const step = fc.array(move, { minLength: 1, maxLength: 3 });
  return fc.array(step, { minLength: 20, maxLength: 80, size: 'max' });
}

function isMoveName(name: string): name is MoveName {
  return Object.hasOwn(MOVE_WEIGHTS, name);
}

export interface People {
  readonly requesterId: string;
  /** Solvers, challengers and arbiters at once, so that they meet themselves. */
  readonly principalIds: readonly string[];
}

/** The command that a deed means now; null where there is nothing that it could be about. */
export function toCommand(
  name: Exclude<MoveName, 'arrive' | 'work'>,
  { pick, who, how }: Extract<Move, { kind: 'deed' }>,
  held: ContractCase,
  { people, newId }: { readonly people: People; readonly newId: IdSource },
): Command | null {
  const somebody = choose([...people.principalIds, people.requesterId], who) ?? '';
  const received = choose(
    held.submissions.filter(({ state }) => state === 'RECEIVED'),
    pick,
  )?.id;
  const run = choose(
    held.runs.filter(({ state }) => state === 'QUEUED' || state === 'RUNNING'),
    pick,
  );
  // Now and then the result of an attempt before this one comes late.
  const attempt = (run?.attempt ?? 0) - (how % 7 === 6 ? 1 : 0);
  switch (name) {
    case 'fund':
    case 'cancel':
    case 'revise':
    case 'advance':
      return { kind: name };
    case 'submit':
      return { kind: name, submissionId: newId('submission'), solverId: somebody };
    case 'try_capture':
    case 'capture':
      return received === undefined ? null : { kind: name, submissionId: received };
    case 'refuse_capture':
      return received === undefined
        ? null
        : {
            kind: name,
            submissionId: received,
            verdict: choose([FAIL, UNREACHABLE, BROKEN], how) ?? FAIL,
          };
    case 'start':
      return run === undefined ? null : { kind: name, runId: run.id };
    case 'seal':
      return run === undefined
        ? null
        : { kind: name, runId: run.id, attempt, verdict: choose(VERDICTS, how) ?? FAIL };
    case 'fail':
      return run === undefined
        ? null
        : { kind: name, runId: run.id, attempt, reason: 'ENGINE_UNAVAILABLE' };
    case 'release':
      return run === undefined ? null : { kind: name, runId: run.id, attempt };
    case 'retry': {
      const undecided = held.submissions.filter(
        ({ state }) => state === 'HELD' || state === 'INCONCLUSIVE',
      );
      const submissionId = choose(undecided, pick)?.id;
      return submissionId === undefined ? null : { kind: name, submissionId };
    }
    case 'challenge': {
      const holder = held.submissions.find(({ state }) => state === 'PASSED')?.id;
      if (holder === undefined) return null;
      const challenge = choose(CHALLENGE_KINDS, how) ?? 'OVERTURN_PASS';
      const challengeId = newId('challenge');
      return { kind: name, challengeId, submissionId: holder, challengerId: somebody, challenge };
    }
    case 'resolve': {
      const challenge = choose(
        held.challenges.filter(({ state }) => state === 'AWAITING_ARBITER'),
        pick,
      );
      const decision = choose(CHALLENGE_KINDS, how) ?? 'UPHOLD_PASS';
      return challenge === undefined
        ? null
        : { kind: name, challengeId: challenge.id, arbiterId: somebody, decision };
    }
  }
}

function choose<T>(all: readonly T[], index: number): T | undefined {
  return all[index % Math.max(all.length, 1)];
}
