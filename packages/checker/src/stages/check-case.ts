import { idSchemaOf, INFRA_REASONS, ReasonCodeSchema } from '@kervyxa/core';
import { z } from 'zod';
import { AcceptanceSchema } from '../contract/acceptance.ts';
import { keyOf, textOf } from '../contract/schema-parts.ts';
import { BROKEN_CODES } from '../run/stage-end.ts';
import { TimeSchema } from './problem-case.ts';
import { ReviewProtocolSchema } from './review-protocol.ts';

/**
 * WAITING_SANDBOX: a worker runs the stage, or will. HELD: our own trouble used up the tries; the operator has it tried
 * again, or its time runs out. The last three are ends.
 */
export const CHECK_STATES = [
  'WAITING_SANDBOX',
  'WAITING_REVIEW',
  'WAITING_EXTERNAL',
  'HELD',
  'VERIFIED',
  'REFUTED',
  'INCONCLUSIVE',
] as const;
export type CheckState = (typeof CHECK_STATES)[number];

/** What decides about a stage, taken from the contract when the check begins. */
export const CheckStageSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('sandbox'),
    key: keyOf(40),
    resultKind: z.enum(['pass_fail', 'score']),
    /** The reference slots that it sees. */
    slots: z.array(keyOf(40)),
  }),
  z.strictObject({
    kind: z.literal('review'),
    key: keyOf(40),
    protocolId: z.string(),
    /** Null where it is not published here: the stage is unavailable. */
    protocol: ReviewProtocolSchema.nullable(),
  }),
  z.strictObject({
    kind: z.literal('external'),
    key: keyOf(40),
    system: z.string(),
    ruleOwner: z.enum(['contract', 'partner']),
    acceptance: AcceptanceSchema.nullable(),
  }),
]);
export type CheckStage = z.infer<typeof CheckStageSchema>;

export const STAGE_OUTCOMES = ['verified', 'refuted', 'inconclusive'] as const;
export type StageOutcome = (typeof STAGE_OUTCOMES)[number];

export const JUDGMENTS = ['accept', 'reject', 'unresolved'] as const;
export type Judgment = (typeof JUDGMENTS)[number];

/** What ran for a sandbox stage. */
export const ProgramRefSchema = z.strictObject({
  implementationId: idSchemaOf('implementation'),
  /** `sha256:…` over program and runtime. */
  digest: z.string(),
  /** The image's own id; null for builtins. */
  image: z.string().nullable(),
});
export type ProgramRef = z.infer<typeof ProgramRefSchema>;

const DeciderSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('program'), ...ProgramRefSchema.shape }),
  z.strictObject({ kind: z.literal('judges'), protocolId: z.string() }),
  /** The contract's rule, on what a system outside reported. */
  z.strictObject({
    kind: z.literal('contract'),
    system: z.string(),
    reporter: textOf(200),
  }),
  /** The system itself; `key` is the fingerprint of what it signed with. */
  z.strictObject({ kind: z.literal('partner'), system: z.string(), key: z.string() }),
  /** Time ran out, or what should have decided is not there. */
  z.strictObject({ kind: z.literal('nobody') }),
]);
export type Decider = z.infer<typeof DeciderSchema>;

/** A claimed seat; judged once, and then for good. */
export const SeatSchema = z.strictObject({
  id: idSchemaOf('seat'),
  node: keyOf(40),
  judgeId: idSchemaOf('principal'),
  claimedAt: TimeSchema,
  /** Goes back at this time, where nothing is judged. */
  expiresAt: TimeSchema,
  judged: z
    .strictObject({ judgment: z.enum(JUDGMENTS), statement: textOf(10_000), at: TimeSchema })
    .nullable(),
});
export type Seat = z.infer<typeof SeatSchema>;

/** What a stage came to. */
export const StageResultSchema = z.strictObject({
  stage: keyOf(40),
  kind: z.enum(['sandbox', 'review', 'external']),
  outcome: z.enum(STAGE_OUTCOMES),
  /** Null exactly where it is verified. */
  reason: ReasonCodeSchema.nullable(),
  /** What its program broke on, where that is why. Results of before this was kept have none. */
  broken: z.enum(BROKEN_CODES).nullable().default(null),
  /** In words, for people. */
  message: z.string().nullable(),
  /** What was not there to decide, where that is why. */
  mechanism: z.string().nullable(),
  score: z.number().nullable(),
  /** A JSON value. */
  evidence: z.unknown(),
  /** What a system outside thinks of it; decides nothing. */
  finding: z.string().nullable(),
  decidedBy: DeciderSchema,
  /** The seats of a review that were judged, in the order of their judgment. */
  seats: z.array(SeatSchema),
  startedAt: TimeSchema,
  decidedAt: TimeSchema,
});
export type StageResult = z.infer<typeof StageResultSchema>;

/** The review of the current stage. */
const ReviewRoundSchema = z.strictObject({
  /** Judgments are taken. */
  isOpen: z.boolean(),
  /** No seat is to be had before. */
  opensAt: TimeSchema,
  /** Ends then with what there is. */
  closesAt: TimeSchema,
  /** Claimed and judged. */
  seats: z.array(SeatSchema),
  /** How often each person has had a seat of a node. */
  claims: z.array(
    z.strictObject({ node: keyOf(40), judgeId: idSchemaOf('principal'), count: z.int().min(1) }),
  ),
});
export type ReviewRound = z.infer<typeof ReviewRoundSchema>;

/** All that decides about a check; a plain JSON value. */
export const CheckCaseSchema = z.strictObject({
  id: idSchemaOf('check'),
  problemId: idSchemaOf('problem'),
  entryId: idSchemaOf('entry'),
  solverId: idSchemaOf('principal'),
  state: z.enum(CHECK_STATES),
  stages: z.array(CheckStageSchema).min(1),
  /** Those that are decided, in order; the next of `stages` is the current one. */
  results: z.array(StageResultSchema),
  /** Of the last score stage; only where it is VERIFIED. */
  score: z.number().nullable(),
  /** When the current stage began to wait. */
  stageSince: TimeSchema,
  /** Fencing token: grows with every start. A result of an older attempt changes nothing. */
  attempt: z.int().min(0),
  /** Whether that attempt is under way. */
  isRunning: z.boolean(),
  /** Attempts at this stage that ended in trouble of ours. */
  tries: z.int().min(0),
  lastFailure: z.enum(INFRA_REASONS).nullable(),
  /** When a HELD check ends INCONCLUSIVE. */
  heldUntil: TimeSchema.nullable(),
  review: ReviewRoundSchema.nullable(),
  /** When an external stage is not waited for any longer. */
  reportBy: TimeSchema.nullable(),
  openedAt: TimeSchema,
  endedAt: TimeSchema.nullable(),
});
export type CheckCase = z.infer<typeof CheckCaseSchema>;
