import { idSchemaOf } from '@kervyxa/core';
import { z } from 'zod';
import { keyOf, mediaTypesOf, textOf } from '../contract/schema-parts.ts';

export const TimeSchema = z.iso.datetime();

/**
 * When what is sealed is opened, and how entries are taken. Everything in it is fixed once the problem is open; times
 * are UTC.
 */
export const SealingSchema = z
  .strictObject({
    /** From then on everybody who sees the problem reads the sealed bytes. */
    sealed_until: TimeSchema,
    /** Scores are withheld until then; null tells them at once. */
    score_release: TimeSchema.nullable().default(null),
    /** Entries of one participant. */
    submission_limit: z.int().min(1).max(1_000),
    /** independent: hidden from other participants until the cutoff, and one of each is nominated. */
    entries: z.enum(['shared', 'independent']).default('shared'),
    /** The last moment to submit and to nominate. */
    cutoff: TimeSchema.nullable().default(null),
  })
  .superRefine(({ entries, cutoff, sealed_until: sealedUntil }, context) => {
    const issue = (message: string): void => {
      context.issues.push({ code: 'custom', input: cutoff, path: ['cutoff'], message });
    };
    if (entries === 'independent' && cutoff === null)
      issue('expected a cutoff, which independent entries need');
    if (cutoff !== null && Date.parse(cutoff) > Date.parse(sealedUntil))
      issue('expected a cutoff that is not after sealed_until');
  });
export type Sealing = z.infer<typeof SealingSchema>;

/** What a slot is bound to. A link is only stated: sandbox stages do not see it. */
export const BindingSchema = z.strictObject({
  filename: textOf(255),
  /** As somebody declared it. */
  mediaType: textOf(120).nullable(),
  sizeBytes: z.int().min(0),
  /** `sha256:…` of the bytes. */
  contentHash: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  /** Null where we hold the bytes. */
  url: z.url({ protocol: /^https$/ }).nullable(),
});
export type Binding = z.infer<typeof BindingSchema>;

export const PROBLEM_STATES = ['DRAFT', 'OPEN', 'CLOSED'] as const;

const EntrantSchema = z.strictObject({
  entries: z.int().min(1),
  /** The entry that stands for the participant, where entries are independent. */
  nominated: idSchemaOf('entry').nullable(),
});

/** All that decides about a problem; a plain JSON value. */
export const ProblemCaseSchema = z.strictObject({
  id: idSchemaOf('problem'),
  ownerId: idSchemaOf('principal'),
  contractId: idSchemaOf('verifierContract'),
  /** DRAFT: slots are bound. OPEN: takes entries, and nothing of its terms changes. */
  state: z.enum(PROBLEM_STATES),
  /** The contract's. */
  slots: z
    .array(
      z.strictObject({
        key: keyOf(40),
        required: z.boolean(),
        sealed: z.boolean(),
        mediaTypes: mediaTypesOf(),
        maxBytes: z.int().min(1),
      }),
    )
    .max(10),
  /** By slot key. */
  bindings: z.record(keyOf(40), BindingSchema),
  sealing: SealingSchema.nullable(),
  /** When the sealed bytes were released early; written once. */
  releasedAt: TimeSchema.nullable(),
  /** The owner and these may submit; null: everybody. */
  invited: z.array(idSchemaOf('principal')).max(200).nullable(),
  /** Operators who acted for the owner, so that they are no judges and no rivals. */
  actedIds: z.array(idSchemaOf('principal')),
  /** By principal. */
  entrants: z.record(idSchemaOf('principal'), EntrantSchema),
});
export type ProblemCase = z.infer<typeof ProblemCaseSchema>;
export type ProblemSlot = ProblemCase['slots'][number];
