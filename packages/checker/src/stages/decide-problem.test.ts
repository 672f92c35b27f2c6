import { describe, expect, it } from 'vitest';
import { decideProblem, draftProblem } from './decide-problem.ts';
import { DEFAULT_STAGE_POLICY } from './policy.ts';
import { type ProblemCase, SealingSchema } from './problem-case.ts';
import type { ProblemCommand } from './problem-command.ts';
import { prepareRelease } from './sealed.ts';
import {
  at,
  BYTES,
  DAY_MS,
  newId,
  OWNER,
  SOLVER,
  STARTS_AT,
  toProblem,
  toSealing,
} from './testing/stage-bench.ts';

const OPERATOR = newId('principal');

function decide(problem: ProblemCase, command: ProblemCommand, ms = 0) {
  const now = new Date(STARTS_AT.getTime() + ms);
  return decideProblem(problem, command, { now, policy: DEFAULT_STAGE_POLICY });
}

/** The next case; throws a refusal. */
function after(problem: ProblemCase, command: ProblemCommand, ms = 0): ProblemCase {
  const decision = decide(problem, command, ms);
  if (decision.kind === 'refused') throw decision.error;
  return decision.next;
}

function refusalOf(problem: ProblemCase, command: ProblemCommand, ms = 0): string | null {
  const decision = decide(problem, command, ms);
  return decision.kind === 'refused' ? decision.error.code : null;
}

const bind = (slot: string, change: object = {}) =>
  ({ kind: 'bind', actorId: OWNER, slot, binding: { ...BYTES, ...change } }) as const;
const open = { kind: 'open', actorId: OWNER } as const;
const submit = (participantId = SOLVER) =>
  ({ kind: 'submit', entryId: newId('entry'), participantId }) as const;
const nominate = (entryId: string, participantId = SOLVER, solverId = participantId) =>
  ({ kind: 'nominate', participantId, entryId, solverId, readsSealed: false }) as const;

const draft = (fields: Partial<ProblemCase> = {}) => toProblem({ state: 'DRAFT', ...fields });

describe('a sealing policy', () => {
  const issuesOf = (fields: object) =>
    SealingSchema.safeParse({ sealed_until: at(DAY_MS), submission_limit: 1, ...fields }).error
      ?.issues[0]?.message ?? null;

  it('leaves entries shared and tells scores at once, unless told otherwise', () => {
    const sealing = { sealed_until: at(DAY_MS), submission_limit: 1 };
    expect(SealingSchema.parse(sealing)).toMatchObject({ entries: 'shared', score_release: null });
  });

  it('needs a cutoff for independent entries', () => {
    expect(issuesOf({ entries: 'independent' })).toMatch(/^expected a cutoff/);
    expect(issuesOf({ entries: 'independent', cutoff: at(DAY_MS) })).toBeNull();
  });

  it('takes no entries after the bytes are open to all', () => {
    expect(issuesOf({ cutoff: at(DAY_MS + 1) })).toMatch(/^expected a cutoff that is not after/);
  });
});

describe('a problem', () => {
  it('begins as a draft with the slots of its contract', () => {
    const slot = { key: 'labels', required: false, sealed: true, description: 'The answers.' };
    const decision = draftProblem({
      id: newId('problem'),
      ownerId: OWNER,
      contractId: newId('verifierContract'),
      sealing: null,
      invited: null,
      terms: { reference_inputs: [{ ...slot, media_types: ['text/csv'], max_bytes: 9 }] },
      yankedAt: null,
    });
    expect(decision).toMatchObject({
      kind: 'accepted',
      next: {
        state: 'DRAFT',
        slots: [{ key: 'labels', sealed: true, mediaTypes: ['text/csv'], maxBytes: 9 }],
      },
    });
  });

  it('does not begin with a contract that is withdrawn', () => {
    const facts = { id: newId('problem'), ownerId: OWNER, contractId: newId('verifierContract') };
    const decision = draftProblem({
      ...facts,
      sealing: null,
      invited: null,
      terms: { reference_inputs: [] },
      yankedAt: STARTS_AT,
    });
    expect(decision).toMatchObject({ error: { code: 'CHECKER_CONTRACT_YANKED' } });
  });

  it('is bound and bound anew while it is a draft, and never afterwards', () => {
    const bound = after(draft(), bind('labels', { sizeBytes: 7 }));
    expect(bound.bindings['labels']).toMatchObject({ sizeBytes: 7 });
    const opened = after(bound, open);
    expect(refusalOf(opened, bind('labels'))).toBe('CHECKER_PROBLEM_STATE_REFUSED');
  });

  it.each([
    ['a slot that the contract does not have', 'ghosts', {}, 'CHECKER_SLOT_UNKNOWN'],
    ['more bytes than it takes', 'labels', { sizeBytes: 101 }, 'CHECKER_BINDING_REFUSED'],
    ['another media type', 'labels', { mediaType: 'text/html' }, 'CHECKER_BINDING_REFUSED'],
    ['no media type where one is wanted', 'labels', { mediaType: null }, 'CHECKER_BINDING_REFUSED'],
    [
      'a link, which seals nothing',
      'labels',
      { url: 'https://example.com/labels' },
      'CHECKER_BINDING_REFUSED',
    ],
  ])('does not bind %s', (_, slot, change, code) => {
    expect(refusalOf(draft(), bind(slot, change))).toBe(code);
  });

  it('binds a public slot to a link', () => {
    expect(refusalOf(draft(), bind('instance', { url: 'https://example.com/i' }))).toBeNull();
  });

  it('does not take what every object has for the binding of a slot of that name', () => {
    const slot = { key: 'constructor', required: true, sealed: false, mediaTypes: [], maxBytes: 1 };
    const held = draft({ slots: [slot], bindings: {}, sealing: null });
    expect(refusalOf(held, open)).toBe('CHECKER_SLOT_UNBOUND');
    const sealed = draft({ slots: [{ ...slot, sealed: true }], bindings: {} });
    expect(prepareRelease(sealed, []).slots).toEqual([]);
  });

  it('does not open before every required slot is bound', () => {
    expect(refusalOf(draft({ bindings: { labels: BYTES } }), open)).toBe('CHECKER_SLOT_UNBOUND');
  });

  it.each([
    ['sealed bytes without a policy', { sealing: null }, 0],
    ['a policy without sealed bytes', { bindings: { instance: BYTES } }, 0],
    ['a release that is over', {}, 10 * DAY_MS],
    ['a cutoff that is over', { sealing: toSealing({ cutoff: at(DAY_MS) }) }, DAY_MS],
  ])('does not open with %s', (_, fields, ms) => {
    expect(refusalOf(draft(fields), open, ms)).toBe('CHECKER_SEALING_REFUSED');
  });

  it('takes entries while it is open, and a check of each begins', () => {
    const command = submit();
    expect(decide(toProblem(), command)).toMatchObject({
      kind: 'accepted',
      next: { entrants: { [SOLVER]: { entries: 1, nominated: null } } },
      effects: [{ kind: 'open_check', entryId: command.entryId, solverId: SOLVER }, {}],
    });
    for (const state of ['DRAFT', 'CLOSED'] as const)
      expect(refusalOf(toProblem({ state }), submit())).toBe('CHECKER_PROBLEM_STATE_REFUSED');
  });

  it('takes entries of those who are invited and of its owner alone, where anybody is', () => {
    const problem = toProblem({ invited: [SOLVER] });
    expect(refusalOf(problem, submit())).toBeNull();
    expect(refusalOf(problem, submit(OWNER))).toBeNull();
    expect(refusalOf(problem, submit(newId('principal')))).toBe('CHECKER_NOT_INVITED');
  });

  it('takes as many entries of one participant as its policy says', () => {
    const twice = after(after(toProblem(), submit()), submit());
    expect(refusalOf(twice, submit())).toBe('CHECKER_ENTRIES_USED');
    expect(refusalOf(twice, submit(OWNER))).toBeNull();
  });

  it('has a bound of entries and of participants without a policy, too', () => {
    const { entriesMax: entries, entrantsMax } = DEFAULT_STAGE_POLICY;
    const full = { [SOLVER]: { entries, nominated: null } };
    expect(refusalOf(toProblem({ sealing: null, entrants: full }), submit())).toBe(
      'CHECKER_ENTRIES_USED',
    );
    const crowd = Array.from({ length: entrantsMax }, () => newId('principal'));
    const entrants = Object.fromEntries(crowd.map((id) => [id, { entries: 1, nominated: null }]));
    expect(refusalOf(toProblem({ entrants }), submit())).toBe('CHECKER_PROBLEM_FULL');
    expect(refusalOf(toProblem({ entrants }), submit(crowd[0]))).toBeNull();
  });

  it.each([
    ['the cutoff', { sealing: toSealing({ cutoff: at(DAY_MS) }) }, DAY_MS],
    ['the release of its sealed bytes', {}, 10 * DAY_MS],
    ['their early release', { releasedAt: at(DAY_MS) }, DAY_MS],
  ])('takes no entry from %s on, which could be answers that were read', (_, fields, end) => {
    expect(refusalOf(toProblem(fields), submit(), end - 1)).toBeNull();
    expect(refusalOf(toProblem(fields), submit(), end)).toBe('CHECKER_ENTRIES_CLOSED');
  });

  it('is closed by its owner, once', () => {
    const closed = after(toProblem(), { kind: 'close', actorId: OWNER });
    expect(closed).toMatchObject({ state: 'CLOSED', actedIds: [] });
    expect(refusalOf(closed, { kind: 'close', actorId: OWNER })).toBe(
      'CHECKER_PROBLEM_STATE_REFUSED',
    );
  });

  it('remembers the operators who acted for its owner', () => {
    const once = after(draft(), { ...bind('labels'), actorId: OPERATOR });
    expect(after(once, { ...open, actorId: OPERATOR }).actedIds).toEqual([OPERATOR]);
  });
});

// Keeps R-SEALED-BYTES.
describe('an early release', () => {
  const release = (fingerprint: string, alsoBoundBy: readonly string[] = []) =>
    ({ kind: 'release', actorId: OWNER, fingerprint, alsoBoundBy }) as const;

  it('is done with the fingerprint of exactly what was prepared, and is written once', () => {
    const problem = toProblem();
    const { fingerprint, slots } = prepareRelease(problem, []);
    expect(slots).toEqual([{ slot: 'labels', binding: BYTES }]);
    const released = after(problem, release(fingerprint), DAY_MS);
    expect(released.releasedAt).toBe(at(DAY_MS));
    expect(refusalOf(released, release(fingerprint), DAY_MS)).toBe('CHECKER_ALREADY_RELEASED');
  });

  it('is refused where anything has changed since it was prepared', () => {
    const problem = toProblem();
    const { fingerprint } = prepareRelease(problem, []);
    const other = newId('problem');
    const changed: readonly (readonly [ProblemCase, readonly string[]])[] = [
      [problem, [other]],
      [{ ...problem, id: other }, []],
      [{ ...problem, sealing: toSealing({ sealed_until: at(9 * DAY_MS) }) }, []],
      [{ ...problem, bindings: { labels: { ...BYTES, filename: 'other.csv' } } }, []],
    ];
    for (const [now, alsoBoundBy] of changed)
      expect(refusalOf(now, release(fingerprint, alsoBoundBy))).toBe('CHECKER_FINGERPRINT_STALE');
  });

  it('does not depend on the order in which other problems are named', () => {
    const ids = [newId('problem'), newId('problem')];
    const { fingerprint } = prepareRelease(toProblem(), ids);
    const problem = toProblem();
    expect(prepareRelease(problem, ids.toReversed()).fingerprint).not.toBe(fingerprint);
    expect(prepareRelease(problem, ids.toReversed())).toEqual(prepareRelease(problem, ids));
  });

  it.each([
    ['a draft', { state: 'DRAFT' }, 'CHECKER_PROBLEM_STATE_REFUSED', 0],
    ['a problem without anything sealed', { sealing: null }, 'CHECKER_ALREADY_RELEASED', 0],
    ['what time has released', {}, 'CHECKER_ALREADY_RELEASED', 10 * DAY_MS],
  ] as const)('is none of %s', (_, fields, code, ms) => {
    const problem = toProblem(fields);
    expect(refusalOf(problem, release(prepareRelease(problem, []).fingerprint), ms)).toBe(code);
  });
});

// Keeps R-SEALED-ENTRIES.
describe('a nomination', () => {
  const entryId = newId('entry');
  const sealing = toSealing({ entries: 'independent', cutoff: at(5 * DAY_MS) });
  const entrants = { [SOLVER]: { entries: 2, nominated: null } };
  const problem = toProblem({ sealing, entrants });

  it('names one entry, and another in its place until the end', () => {
    const first = after(problem, nominate(entryId));
    expect(first.entrants[SOLVER]?.nominated).toBe(entryId);
    const other = newId('entry');
    const second = after(first, nominate(other), 5 * DAY_MS - 1);
    expect(second.entrants[SOLVER]).toEqual({ entries: 2, nominated: other });
  });

  it('does not go away with another entry', () => {
    const one = { ...problem, entrants: { [SOLVER]: { entries: 1, nominated: entryId } } };
    expect(after(one, submit()).entrants[SOLVER]).toEqual({ entries: 2, nominated: entryId });
  });

  it('ends with the cutoff, or with a release before it', () => {
    expect(refusalOf(problem, nominate(entryId), 5 * DAY_MS)).toBe('CHECKER_ENTRIES_CLOSED');
    const released = { ...problem, releasedAt: at(DAY_MS) };
    expect(refusalOf(released, nominate(entryId), DAY_MS)).toBe('CHECKER_ENTRIES_CLOSED');
  });

  it("is not for another's entry, nor for one who has none", () => {
    expect(refusalOf(problem, nominate(entryId, SOLVER, OWNER))).toBe('CHECKER_ENTRY_UNKNOWN');
    expect(refusalOf(problem, nominate(entryId, newId('principal')))).toBe('CHECKER_ENTRY_UNKNOWN');
  });

  it.each([
    ['the owner', OWNER, {}],
    ['an operator who acted for the owner', OPERATOR, { actedIds: [OPERATOR] }],
  ])('is not for %s, who could read the sealed bytes', (_, id, fields) => {
    const own = { ...problem, ...fields, entrants: { [id]: { entries: 1, nominated: null } } };
    expect(refusalOf(own, nominate(entryId, id))).toBe('CHECKER_NOMINATION_PARTIAL');
  });

  it('is not for somebody whose role reads them', () => {
    const command = { ...nominate(entryId), readsSealed: true };
    expect(refusalOf(problem, command)).toBe('CHECKER_NOMINATION_PARTIAL');
  });

  it('is not wanted where every entry is judged', () => {
    const shared = toProblem({ entrants });
    expect(refusalOf(shared, nominate(entryId))).toBe('CHECKER_NOMINATION_UNWANTED');
  });
});
