import { describe, expect, it } from 'vitest';
import { ReviewProtocolTermsSchema } from './review-protocol.ts';
import { newId } from './testing/stage-bench.ts';

const LEAF = { key: 'readers', reducer: { kind: 'k_of_n', k: 2, n: 3 } };
const EXPERTS = { key: 'experts', reducer: { kind: 'k_of_n', k: 1, n: 1 } };
const FIRST_OF = (key: string, nodes: readonly string[]) => ({
  key,
  reducer: { kind: 'coalesce', nodes },
});
const TERMS = {
  title: 'Is the translation faithful?',
  instructions_md: 'Compare it with the source.',
  judges: { roles: ['arbiter'], people: [] },
  nodes: [LEAF],
};

/** `path: message` of everything that is wrong with a protocol. */
function issuesOf(change: object): readonly string[] {
  const { error } = ReviewProtocolTermsSchema.safeParse({ ...TERMS, ...change });
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('/')}: ${message}`);
}

describe('a review protocol', () => {
  it('has defaults for what most authors leave out', () => {
    expect(ReviewProtocolTermsSchema.parse(TERMS)).toMatchObject({
      seat_expiry_seconds: 259_200,
      deadline_seconds: 2_592_000,
      nodes: [{ judges: null, skills: [] }],
    });
  });

  it('combines nodes as one tree', () => {
    expect(issuesOf({ nodes: [LEAF, EXPERTS, FIRST_OF('all', ['readers', 'experts'])] })).toEqual(
      [],
    );
  });

  it('is refused where two nodes have one key', () => {
    expect(issuesOf({ nodes: [LEAF, EXPERTS, LEAF] })).toContain(
      'nodes/2/key: expected a key that no other node has',
    );
  });

  it('is refused where a node names one that is not there', () => {
    expect(issuesOf({ nodes: [LEAF, FIRST_OF('all', ['readers', 'ghost'])] })).toEqual([
      'nodes/1/reducer/nodes/1: expected the key of a node',
    ]);
  });

  it('is refused where a node is named twice', () => {
    const nodes = [LEAF, FIRST_OF('a', ['readers']), FIRST_OF('b', ['a', 'readers'])];
    expect(issuesOf({ nodes })).toContain(
      'nodes/2/reducer/nodes/1: expected every node to be named once at most',
    );
  });

  it.each([
    ['itself', [LEAF, FIRST_OF('all', ['all'])]],
    ['one that names it', [LEAF, FIRST_OF('a', ['b']), FIRST_OF('b', ['a'])]],
  ])('is refused where a node leads back to %s: nothing would end it', (_, nodes) => {
    expect(issuesOf({ nodes })).not.toEqual([]);
  });

  it('is refused where two nodes stand side by side: neither is the outcome', () => {
    expect(issuesOf({ nodes: [LEAF, EXPERTS] })).toEqual([
      'nodes: expected one node that no other names, got 2 of them',
    ]);
  });

  it('is refused where nobody may judge', () => {
    expect(issuesOf({ judges: { roles: [], people: [] } })).toEqual([
      'judges: expected a role or a person who may judge',
    ]);
    expect(issuesOf({ judges: { roles: [], people: [newId('principal')] } })).toEqual([]);
  });

  it('is refused where more must accept than there are seats', () => {
    const nodes = [{ key: 'readers', reducer: { kind: 'k_of_n', k: 4, n: 3 } }];
    expect(issuesOf({ nodes })).toEqual(['nodes/0/reducer/k: expected k to be at most n']);
  });

  it('is refused where accepting and rejecting could both have their share', () => {
    const threshold = { kind: 'threshold', seats: 4, minimum: 2 };
    const half = { ...threshold, accept_percent: 50, reject_percent: 50 };
    expect(issuesOf({ nodes: [{ key: 'crowd', reducer: half }] })).toEqual([
      'nodes/0/reducer/reject_percent: expected more than 100 percent together, so that one share excludes the other',
    ]);
    const more = { ...threshold, accept_percent: 50, reject_percent: 51 };
    expect(issuesOf({ nodes: [{ key: 'crowd', reducer: more }] })).toEqual([]);
  });

  it.each([
    ['code', { reducer: { kind: 'script', code: 'return accept' } }],
    ['a timer', { reducer: { kind: 'k_of_n', k: 1, n: 1 }, after_seconds: 5 }],
  ])('has no place for %s', (_, node) => {
    expect(issuesOf({ nodes: [{ key: 'readers', ...node }] })).not.toEqual([]);
  });
});
