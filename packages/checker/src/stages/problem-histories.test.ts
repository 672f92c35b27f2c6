import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideProblem } from './decide-problem.ts';
import { DEFAULT_STAGE_POLICY } from './policy.ts';
import { type ProblemCase, ProblemCaseSchema } from './problem-case.ts';
import type { ProblemCommand } from './problem-command.ts';
import { entriesEndAt, mayRead, prepareRelease } from './sealed.ts';
import {
  at,
  BYTES,
  DAY_MS,
  HOUR_MS,
  newId,
  OWNER,
  SOLVER,
  STARTS_AT,
  toProblem,
  toSealing,
} from './testing/stage-bench.ts';

const RIVAL = newId('principal');
const OPERATOR = newId('principal');
const PEOPLE = [OWNER, SOLVER, RIVAL, OPERATOR] as const;
const SEALED_UNTIL_MS = 10 * DAY_MS;
const CUTOFF_MS = 5 * DAY_MS;
const LIMIT = 2;

interface Move {
  readonly kind: ProblemCommand['kind'] | 'release_blindly';
  readonly who: string;
  readonly elapseMs: number;
}

const moves: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.record({
    kind: fc.constantFrom<Move['kind'][]>(
      ...(['bind', 'open', 'open', 'close', 'release', 'release_blindly'] as const),
      ...(['submit', 'submit', 'submit', 'nominate', 'nominate'] as const),
    ),
    who: fc.constantFrom(...PEOPLE),
    elapseMs: fc.constantFrom(0, 1, HOUR_MS, DAY_MS, CUTOFF_MS - 1),
  }),
  { maxLength: 25 },
);

/** A problem on its way, with what was decided in it. */
interface Played {
  readonly problem: ProblemCase;
  readonly now: Date;
  /** When each entry was taken, and each nomination. */
  readonly taken: readonly { readonly kind: 'submit' | 'nominate'; readonly at: Date }[];
}

function play(history: readonly Move[]): readonly Played[] {
  const sealing = toSealing({
    entries: 'independent',
    cutoff: at(CUTOFF_MS),
    sealed_until: at(SEALED_UNTIL_MS),
    submission_limit: LIMIT,
  });
  let step: Played = {
    problem: toProblem({ state: 'DRAFT', sealing, bindings: { instance: BYTES } }),
    now: STARTS_AT,
    taken: [],
  };
  const steps = [step];
  for (const move of history) {
    const now = new Date(step.now.getTime() + move.elapseMs);
    const command = toCommand(step.problem, move);
    const decision = decideProblem(step.problem, command, { now, policy: DEFAULT_STAGE_POLICY });
    const { kind } = command;
    const isTaken = decision.kind === 'accepted' && (kind === 'submit' || kind === 'nominate');
    step = {
      problem: decision.kind === 'accepted' ? decision.next : step.problem,
      now,
      taken: isTaken ? [...step.taken, { kind, at: now }] : step.taken,
    };
    steps.push(step);
  }
  return steps;
}

function toCommand(problem: ProblemCase, { kind, who }: Move): ProblemCommand {
  const entryId = newId('entry');
  switch (kind) {
    case 'bind':
      return { kind, actorId: who, slot: 'labels', binding: BYTES };
    case 'open':
    case 'close':
      return { kind, actorId: who };
    case 'release': {
      const { fingerprint } = prepareRelease(problem, []);
      return { kind, actorId: who, fingerprint, alsoBoundBy: [] };
    }
    case 'release_blindly':
      return {
        kind: 'release',
        actorId: who,
        fingerprint: `sha256:${'0'.repeat(64)}`,
        alsoBoundBy: [],
      };
    case 'submit':
      return { kind, entryId, participantId: who };
    case 'nominate':
      return { kind, entryId, participantId: who, solverId: who, readsSealed: false };
  }
}

// Keeps R-SEALED-BYTES, R-SEALED-ENTRIES.
describe('any history of a sealed problem', () => {
  it('lets no participant read before a release, and everybody afterwards', () => {
    fc.assert(
      fc.property(moves, (history) => {
        for (const { problem, now } of play(history)) {
          const isOver =
            problem.releasedAt !== null || now.getTime() - STARTS_AT.getTime() >= SEALED_UNTIL_MS;
          const isBound = problem.bindings['labels'] !== undefined;
          for (const id of [SOLVER, RIVAL, OPERATOR])
            expect(mayRead(problem, { kind: 'person', id }, 'labels', now)).toBe(
              isBound && isOver && problem.state !== 'DRAFT',
            );
        }
      }),
    );
  });

  it('releases once, with a fingerprint, and never takes it back', () => {
    fc.assert(
      fc.property(moves, (history) => {
        const times = new Set(play(history).flatMap(({ problem }) => problem.releasedAt ?? []));
        expect(times.size).toBeLessThanOrEqual(1);
        const isPrepared = history.some(({ kind }) => kind === 'release');
        expect(times.size === 0 || isPrepared).toBe(true);
      }),
    );
  });

  it('changes nothing of its terms once it is open', () => {
    fc.assert(
      fc.property(moves, (history) => {
        const termsOf = ({ problem: { bindings, sealing, slots, contractId } }: Played) => ({
          bindings,
          sealing,
          slots,
          contractId,
        });
        const opened = play(history).filter(({ problem }) => problem.state === 'OPEN');
        for (const step of opened) expect(termsOf(step)).toEqual(opened[0] && termsOf(opened[0]));
      }),
    );
  });

  it('takes as many entries as it may, and none after their end', () => {
    fc.assert(
      fc.property(moves, (history) => {
        const last = play(history).at(-1);
        const end = last === undefined ? null : entriesEndAt(last.problem);
        for (const { at: time } of last?.taken ?? []) expect(end === null || time < end).toBe(true);
        for (const { entries } of Object.values(last?.problem.entrants ?? {}))
          expect(entries).toBeLessThanOrEqual(LIMIT);
      }),
    );
  });

  it('has no nomination of the owner, and stays a plain JSON value of its schema', () => {
    fc.assert(
      fc.property(moves, (history) => {
        const { problem } = play(history).at(-1) ?? { problem: toProblem() };
        expect(problem.entrants[OWNER]?.nominated ?? null).toBeNull();
        expect(ProblemCaseSchema.parse(JSON.parse(JSON.stringify(problem)))).toEqual(problem);
      }),
    );
  });
});
