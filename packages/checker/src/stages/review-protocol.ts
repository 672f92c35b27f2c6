import { idSchemaOf } from '@kervyxa/core';
import { z } from 'zod';
import { keyOf, textOf } from '../contract/schema-parts.ts';

/** Who a protocol may call to judge: the roles that principals have. */
export const JUDGE_ROLES = ['requester', 'solver', 'challenger', 'arbiter', 'operator'] as const;
export const SEATS_MAX = 25;
const NODES_MAX = 20;
const DAY_SECONDS = 86_400;

const JudgesSchema = z
  .strictObject({
    roles: z.array(z.enum(JUDGE_ROLES)).max(JUDGE_ROLES.length),
    people: z.array(idSchemaOf('principal')).max(200),
  })
  .refine(
    ({ roles, people }) => roles.length + people.length > 0,
    'expected a role or a person who may judge',
  );
export type Judges = z.infer<typeof JudgesSchema>;

const PercentSchema = z.int().min(1).max(100);

/** How the judgments of a node's seats become its outcome. Closed: no code, no timers, no loops. */
const ReducerSchema = z.discriminatedUnion('kind', [
  /** Accepted by k of n seats; rejected once so many reject that k can't accept any more. */
  z
    .strictObject({
      kind: z.literal('k_of_n'),
      k: z.int().min(1).max(SEATS_MAX),
      n: z.int().min(1).max(SEATS_MAX),
    })
    .refine(({ k, n }) => k <= n, { path: ['k'], message: 'expected k to be at most n' }),
  /** Shares of the judgments that were given, whole percents. */
  z
    .strictObject({
      kind: z.literal('threshold'),
      seats: z.int().min(1).max(SEATS_MAX),
      accept_percent: PercentSchema,
      reject_percent: PercentSchema,
      /** With fewer judgments nothing is decided. */
      minimum: z.int().min(1).max(SEATS_MAX),
    })
    .refine(({ accept_percent: accept, reject_percent: reject }) => accept + reject > 100, {
      path: ['reject_percent'],
      message: 'expected more than 100 percent together, so that one share excludes the other',
    })
    .refine(({ minimum, seats }) => minimum <= seats, {
      path: ['minimum'],
      message: 'expected the minimum to be at most the seats',
    }),
  /** The first decided of other nodes, in order; the next is asked where the one before is unresolved. */
  z.strictObject({ kind: z.literal('coalesce'), nodes: z.array(keyOf(40)).min(1).max(NODES_MAX) }),
]);
export type Reducer = z.infer<typeof ReducerSchema>;

const ReviewNodeSchema = z.strictObject({
  key: keyOf(40),
  title: textOf(200).nullable().default(null),
  /** Besides the protocol's; of this node alone. */
  instructions_md: textOf(10_000).nullable().default(null),
  /** Instead of the protocol's. */
  judges: JudgesSchema.nullable().default(null),
  /** What a judge should know; no more than a pointer. */
  skills: z
    .array(z.strictObject({ skill_version_id: textOf(200) }))
    .max(20)
    .default([]),
  reducer: ReducerSchema,
});
export type ReviewNode = z.infer<typeof ReviewNodeSchema>;

const TERMS_SHAPE = {
  title: textOf(200),
  /** The question. */
  instructions_md: textOf(10_000),
  judges: JudgesSchema,
  /** After so long a claimed seat goes back. */
  seat_expiry_seconds: z
    .int()
    .min(60)
    .max(30 * DAY_SECONDS)
    .default(3 * DAY_SECONDS),
  /** After so long the review ends with what there is. */
  deadline_seconds: z
    .int()
    .min(60)
    .max(365 * DAY_SECONDS)
    .default(30 * DAY_SECONDS),
  nodes: z.array(ReviewNodeSchema).min(1).max(NODES_MAX),
};

/** What an author writes: `review-protocol.json`. */
export const ReviewProtocolTermsSchema = z.strictObject(TERMS_SHAPE).superRefine(refuseNonTree);
export type ReviewProtocolTerms = z.infer<typeof ReviewProtocolTermsSchema>;

/** The published form. */
export const ReviewProtocolSchema = z
  .strictObject({
    id: z.string().regex(/^rpt_[0-9a-z]{10,32}$/, 'expected an id such as rpt_…'),
    ...TERMS_SHAPE,
  })
  .superRefine(refuseNonTree);
export type ReviewProtocol = z.infer<typeof ReviewProtocolSchema>;

/** Nodes form one tree: every key once, each node named by one other at most, all reached from the one that none names. */
function refuseNonTree(
  { nodes }: { readonly nodes: readonly ReviewNode[] },
  context: z.core.$RefinementCtx,
): void {
  const issue = (path: readonly (string | number)[], message: string): void => {
    context.issues.push({ code: 'custom', input: nodes, path: ['nodes', ...path], message });
  };
  const keys = nodes.map(({ key }) => key);
  const named = nodes.flatMap(childrenOf);
  keys.forEach((key, at) => {
    if (keys.indexOf(key) < at) issue([at, 'key'], 'expected a key that no other node has');
  });
  nodes.forEach((node, at) => {
    childrenOf(node).forEach((key, child) => {
      const path = [at, 'reducer', 'nodes', child];
      if (!keys.includes(key)) issue(path, 'expected the key of a node');
      else if (named.filter((each) => each === key).length > 1)
        issue(path, 'expected every node to be named once at most');
    });
  });
  const roots = nodes.filter(({ key }) => !named.includes(key));
  const [root] = roots;
  if (root === undefined || roots.length > 1)
    issue([], `expected one node that no other names, got ${roots.length} of them`);
  // What is named once at most and not reached from the root leads back to itself.
  else if (countReached(nodes, root) < nodes.length)
    issue([], 'expected every node to be reached from the one that none names');
}

/** No more than there are nodes: keys that are named twice are refused already. */
function countReached(nodes: readonly ReviewNode[], root: ReviewNode): number {
  const reached = new Set([root.key]);
  for (const key of reached)
    for (const node of nodes.filter((each) => each.key === key))
      for (const child of childrenOf(node)) reached.add(child);
  return reached.size;
}

function childrenOf({ reducer }: ReviewNode): readonly string[] {
  return reducer.kind === 'coalesce' ? reducer.nodes : [];
}

/** The node whose outcome is the review's. */
export function rootOf({ nodes }: Pick<ReviewProtocol, 'nodes'>): ReviewNode | undefined {
  const named = new Set(nodes.flatMap(childrenOf));
  return nodes.find(({ key }) => !named.has(key));
}

/** How many judge; none for nodes that only combine others. */
export function seatsOf({ reducer }: ReviewNode): number {
  if (reducer.kind === 'k_of_n') return reducer.n;
  return reducer.kind === 'threshold' ? reducer.seats : 0;
}
