import type { Judgment, Seat } from './check-case.ts';
import {
  type Reducer,
  type ReviewNode,
  type ReviewProtocol,
  rootOf,
  seatsOf,
} from './review-protocol.ts';

/** A node's outcome; null while judgments that are still to come can change it. */
export type NodeOutcome = Judgment | null;

export type Counts = Readonly<Record<Judgment, number>>;

export interface NodeStanding {
  readonly key: string;
  readonly outcome: NodeOutcome;
  readonly counts: Counts;
}

export interface ReviewStanding {
  readonly outcome: NodeOutcome;
  readonly nodes: readonly NodeStanding[];
  /** The node whose judgments are wanted now; null where the review is decided. */
  readonly asked: ReviewNode | null;
}

/**
 * What the judgments come to. The order in which they were given is no part of it: a node is decided early only where
 * no judgment of the seats that are left could change it, and `isClosed` says that none will be given.
 */
export function reduceReview(
  protocol: Pick<ReviewProtocol, 'nodes'>,
  seats: readonly Pick<Seat, 'node' | 'judged'>[],
  { isClosed }: { readonly isClosed: boolean },
): ReviewStanding {
  const standingOf = (node: ReviewNode): NodeStanding & { readonly asked: ReviewNode | null } => {
    const { key, reducer } = node;
    const counts = countJudgments(seats.filter((each) => each.node === key));
    if (reducer.kind !== 'coalesce') {
      const outcome = isClosed ? evaluate(reducer, counts) : foresee(node, reducer, counts);
      return { key, outcome, counts, asked: outcome === null ? node : null };
    }
    for (const child of childrenOf(protocol, reducer.nodes)) {
      const { outcome, asked } = standingOf(child);
      if (outcome !== 'unresolved') return { key, outcome, counts, asked };
    }
    return { key, outcome: 'unresolved', counts, asked: null };
  };
  const root = rootOf(protocol);
  const standing = root === undefined ? null : standingOf(root);
  return {
    outcome: standing === null ? 'unresolved' : standing.outcome,
    nodes: protocol.nodes.map((node) => {
      const { key, outcome, counts } = standingOf(node);
      return { key, outcome, counts };
    }),
    asked: standing?.asked ?? null,
  };
}

type LeafReducer = Exclude<Reducer, { kind: 'coalesce' }>;

/** The outcome if no other judgment is given. */
function evaluate(reducer: LeafReducer, { accept, reject, unresolved }: Counts): Judgment {
  if (reducer.kind === 'k_of_n') {
    if (accept >= reducer.k) return 'accept';
    return reject > reducer.n - reducer.k ? 'reject' : 'unresolved';
  }
  const given = accept + reject + unresolved;
  if (given < reducer.minimum) return 'unresolved';
  if (accept * 100 >= reducer.accept_percent * given) return 'accept';
  return reject * 100 >= reducer.reject_percent * given ? 'reject' : 'unresolved';
}

/** The outcome that all ways to fill the seats that are left lead to, or null. */
function foresee(node: ReviewNode, reducer: LeafReducer, counts: Counts): NodeOutcome {
  const left = seatsOf(node) - counts.accept - counts.reject - counts.unresolved;
  const outcome = evaluate(reducer, counts);
  for (let accept = 0; accept <= left; accept += 1)
    for (let reject = 0; accept + reject <= left; reject += 1)
      for (let unresolved = 0; accept + reject + unresolved <= left; unresolved += 1) {
        const filled = {
          accept: counts.accept + accept,
          reject: counts.reject + reject,
          unresolved: counts.unresolved + unresolved,
        };
        if (evaluate(reducer, filled) !== outcome) return null;
      }
  return outcome;
}

function countJudgments(seats: readonly Pick<Seat, 'judged'>[]): Counts {
  const countOf = (judgment: Judgment): number =>
    seats.filter(({ judged }) => judged?.judgment === judgment).length;
  return {
    accept: countOf('accept'),
    reject: countOf('reject'),
    unresolved: countOf('unresolved'),
  };
}

function childrenOf(
  { nodes }: Pick<ReviewProtocol, 'nodes'>,
  keys: readonly string[],
): readonly ReviewNode[] {
  return keys.flatMap((key) => nodes.filter((node) => node.key === key));
}
