import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JUDGMENTS, type Judgment } from './check-case.ts';
import { reduceReview } from './reduce-review.ts';
import { type ReviewNode, type ReviewProtocol, seatsOf } from './review-protocol.ts';
import { at, toProtocol } from './testing/stage-bench.ts';

interface Given {
  readonly node: string;
  readonly judgment: Judgment;
}

const kOfN = (k: number, n: number) => ({ key: 'readers', reducer: { kind: 'k_of_n', k, n } });
const threshold = (accept: number, reject: number, seats: number, minimum: number) => ({
  key: 'readers',
  reducer: { kind: 'threshold', seats, accept_percent: accept, reject_percent: reject, minimum },
});

function outcomeOf(
  protocol: Pick<ReviewProtocol, 'nodes'>,
  given: readonly Given[],
  isClosed = false,
) {
  const seats = given.map(({ node, judgment }) => ({
    node,
    judged: { judgment, statement: 'so', at: at(0) },
  }));
  return reduceReview(protocol, seats, { isClosed });
}

/** Of a protocol with one node: a for accept, r for reject, u for unresolved. */
function reduce(node: object, letters: string, isClosed = false) {
  const given = [...letters].map((letter) => ({
    node: 'readers',
    judgment: JUDGMENTS.find((each) => each.startsWith(letter)) ?? 'unresolved',
  }));
  return outcomeOf(toProtocol([node]), given, isClosed).outcome;
}

describe('k of n', () => {
  it.each([
    ['', null],
    ['a', null],
    ['ar', null],
    ['aa', 'accept'],
    ['rr', 'reject'],
    // One seat is left, and it decides nothing any more.
    ['uu', 'unresolved'],
    ['au', null],
    ['aua', 'accept'],
    ['aur', 'unresolved'],
  ])('with 2 of 3 and the judgments %j is %j', (letters, outcome) => {
    expect(reduce(kOfN(2, 3), letters)).toBe(outcome);
  });

  it('with 1 of 3 is rejected by all three only', () => {
    expect(reduce(kOfN(1, 3), 'rr')).toBeNull();
    expect(reduce(kOfN(1, 3), 'rrr')).toBe('reject');
    expect(reduce(kOfN(1, 3), 'rra')).toBe('accept');
  });

  it('that closes before it is reached is unresolved', () => {
    expect(reduce(kOfN(2, 3), 'a', true)).toBe('unresolved');
  });
});

describe('a threshold', () => {
  it.each([
    // 60 % of five are three.
    ['aa', null],
    ['aaa', 'accept'],
    ['aarr', null],
    // 50 % of five are three of them.
    ['rrr', 'reject'],
    ['aauuu', 'unresolved'],
    ['aarrr', 'reject'],
  ])('of 60 to accept and 50 to reject among 5, judged %j, is %j', (letters, outcome) => {
    expect(reduce(threshold(60, 50, 5, 2), letters)).toBe(outcome);
  });

  it('that closes is a share of what was given, and with too little of it unresolved', () => {
    expect(reduce(threshold(60, 50, 5, 3), 'aar', true)).toBe('accept');
    expect(reduce(threshold(60, 50, 5, 3), 'aa', true)).toBe('unresolved');
  });

  it('counts whole percents exactly: two of three are not 67', () => {
    expect(reduce(threshold(67, 34, 3, 1), 'aau')).toBe('unresolved');
    expect(reduce(threshold(66, 40, 3, 1), 'aau')).toBe('accept');
  });
});

describe('coalesce', () => {
  const protocol = toProtocol([
    { key: 'all', reducer: { kind: 'coalesce', nodes: ['readers', 'expert'] } },
    { key: 'readers', reducer: { kind: 'k_of_n', k: 2, n: 2 } },
    { key: 'expert', reducer: { kind: 'k_of_n', k: 1, n: 1 } },
  ]);
  const accept = (node: string): Given => ({ node, judgment: 'accept' });
  const unresolved = (node: string): Given => ({ node, judgment: 'unresolved' });

  it('asks the first, and the next only once the first is unresolved', () => {
    expect(outcomeOf(protocol, []).asked?.key).toBe('readers');
    expect(outcomeOf(protocol, [unresolved('readers'), unresolved('readers')])).toMatchObject({
      outcome: null,
      asked: { key: 'expert' },
    });
  });

  it('is the first that is decided', () => {
    const given = [accept('readers'), accept('readers')];
    expect(outcomeOf(protocol, given)).toMatchObject({ outcome: 'accept', asked: null });
  });

  it('waits for the first, whatever the others say', () => {
    expect(outcomeOf(protocol, [accept('expert')]).outcome).toBeNull();
  });

  it('is unresolved where all are', () => {
    const given = [unresolved('readers'), unresolved('readers'), unresolved('expert')];
    expect(outcomeOf(protocol, given).outcome).toBe('unresolved');
  });
});

const leafReducers = fc.oneof(
  fc
    .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 }))
    .map(([a, b]) => ({ kind: 'k_of_n', k: Math.min(a, b), n: Math.max(a, b) })),
  fc
    .tuple(
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 0, max: 99 }),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 5 }),
    )
    .map(([accept, more, a, b]) => ({
      kind: 'threshold',
      accept_percent: accept,
      reject_percent: Math.min(100, 101 - accept + more),
      minimum: Math.min(a, b),
      seats: Math.max(a, b),
    })),
);

/** A tree of two leaves and what is given to each of its seats. */
const reviews = fc.tuple(leafReducers, leafReducers).chain(([first, second]) => {
  const protocol = toProtocol([
    { key: 'first', reducer: first },
    { key: 'all', reducer: { kind: 'coalesce', nodes: ['first', 'second'] } },
    { key: 'second', reducer: second },
  ]);
  const givenTo = (node: ReviewNode) =>
    fc.array(
      fc.constantFrom(...JUDGMENTS).map((judgment) => ({ node: node.key, judgment })),
      { minLength: seatsOf(node), maxLength: seatsOf(node) },
    );
  return fc.record({
    protocol: fc.constant(protocol),
    given: fc
      .tuple(...protocol.nodes.map(givenTo))
      .chain((all) => fc.shuffledSubarray(all.flat(), { minLength: all.flat().length })),
  });
});

// Keeps R-REVIEW-ORDER.
describe('any review', () => {
  it('comes to the same, whatever the order of the judgments', () => {
    fc.assert(
      fc.property(reviews, fc.boolean(), fc.nat(12), ({ protocol, given }, isClosed, count) => {
        const some = given.slice(0, count);
        expect(outcomeOf(protocol, some.toReversed(), isClosed)).toEqual(
          outcomeOf(protocol, some, isClosed),
        );
      }),
    );
  });

  it('that is decided early stays so, whatever else is judged or not', () => {
    fc.assert(
      fc.property(reviews, ({ protocol, given }) => {
        const outcomes = given.map(
          (_, count) => outcomeOf(protocol, given.slice(0, count)).outcome,
        );
        const early = outcomes.find((outcome) => outcome !== null);
        fc.pre(early !== undefined);
        const from = outcomes.indexOf(early);
        for (let count = from; count <= given.length; count += 1)
          for (const isClosed of [false, true])
            expect(outcomeOf(protocol, given.slice(0, count), isClosed).outcome).toBe(early);
      }),
    );
  });

  it('is decided once every seat is judged, or once it closes', () => {
    fc.assert(
      fc.property(reviews, fc.nat(12), ({ protocol, given }, count) => {
        expect(outcomeOf(protocol, given).outcome).not.toBeNull();
        expect(outcomeOf(protocol, given.slice(0, count), true).outcome).not.toBeNull();
      }),
    );
  });
});
