import { z } from 'zod';
import { AcceptanceSchema } from './acceptance.ts';
import {
  LIST_LENGTHS,
  jsonObjectOf,
  keyOf,
  mediaTypesOf,
  textOf,
  uniqueListOf,
} from './schema-parts.ts';

/** What identifies a published contract; everything else in it is its terms. */
export const IDENTITY_SHAPE = {
  id: z.string().regex(/^vct_[0-9a-z]{10,32}$/, 'expected an id such as vct_…'),
  verifier_id: z.string().regex(/^vfr_[0-9a-z]{10,32}$/, 'expected an id such as vfr_…'),
  version_number: z.int().min(1),
  created_by_user_id: z.string().regex(/^usr_[0-9a-z]{10,32}$/, 'expected an id such as usr_…'),
  created_at: z.iso.datetime({ offset: true }),
  yanked_at: z.iso.datetime({ offset: true }).nullable(),
};

export const RESULT_KINDS = ['pass_fail', 'score'] as const;
export const ResultKindSchema = z.enum(RESULT_KINDS);
export type ResultKind = z.infer<typeof ResultKindSchema>;

export const ReferenceSlotSchema = z.strictObject({
  key: keyOf(40),
  required: z.boolean(),
  /** Only stages that select the slot see its bytes before they are released. */
  sealed: z.boolean().default(false),
  media_types: mediaTypesOf(),
  max_bytes: z.int().min(1),
  description: textOf(500),
});
export type ReferenceSlot = z.infer<typeof ReferenceSlotSchema>;

/** Of every kind of stage. */
export const STAGE_SHAPE = {
  key: keyOf(40),
  title: textOf(200),
  description_md: textOf(10_000),
};

export const SandboxStageSchema = z.strictObject({
  ...STAGE_SHAPE,
  kind: z.literal('sandbox'),
  /** What /output/evidence/summary.json must satisfy. */
  evidence_schema: jsonObjectOf().nullable().default(null),
  review_protocol_id: z.null().default(null),
  rule_owner: z.null().default(null),
  acceptance: z.null().default(null),
  external_system: z.null().default(null),
  /** Left out: all slots; `slotsOfStage` tells. */
  reference_input_slots: uniqueListOf(keyOf(40), LIST_LENGTHS.reference_input_slots).optional(),
  /** Left out: the contract's; `resultKindOfStage` tells. */
  result_kind: ResultKindSchema.optional(),
});
export type SandboxStage = z.infer<typeof SandboxStageSchema>;

export const ReviewStageSchema = z.strictObject({
  ...STAGE_SHAPE,
  kind: z.literal('review'),
  evidence_schema: z.null().default(null),
  review_protocol_id: z.string().regex(/^rpt_[0-9a-z]{10,32}$/, 'expected an id such as rpt_…'),
  rule_owner: z.null().default(null),
  acceptance: z.null().default(null),
  external_system: z.null().default(null),
});
export type ReviewStage = z.infer<typeof ReviewStageSchema>;

export const EXTERNAL_SHAPE = {
  ...STAGE_SHAPE,
  kind: z.literal('external'),
  review_protocol_id: z.null().default(null),
  external_system: textOf(200, { min: 0 }),
};

export const ExternalStageSchema = z.discriminatedUnion('rule_owner', [
  z.strictObject({
    ...EXTERNAL_SHAPE,
    rule_owner: z.literal('contract'),
    evidence_schema: jsonObjectOf(),
    acceptance: AcceptanceSchema,
  }),
  z.strictObject({
    ...EXTERNAL_SHAPE,
    rule_owner: z.literal('partner'),
    evidence_schema: jsonObjectOf().nullable().default(null),
    acceptance: z.null().default(null),
  }),
]);
export type ExternalStage = z.infer<typeof ExternalStageSchema>;

export const StageSchema = z.discriminatedUnion('kind', [
  SandboxStageSchema,
  ReviewStageSchema,
  ExternalStageSchema,
]);
export type Stage = z.infer<typeof StageSchema>;

export const RequirementsSchema = z.strictObject({
  accepts_text_only: z.boolean(),
  answer_format_md: textOf(4_000, { min: 0 }).nullable().default(null),
  required_artifacts: z
    .array(
      z.strictObject({
        role: keyOf(40),
        description: textOf(500),
        media_types: mediaTypesOf(),
        max_bytes: z.int().min(1),
      }),
    )
    .max(LIST_LENGTHS.required_artifacts),
});
export type Requirements = z.infer<typeof RequirementsSchema>;

export const ScoreSchema = z.strictObject({
  unit: textOf(60),
  direction: z.enum(['higher_is_better', 'lower_is_better']),
  description: textOf(2_000),
});
export type Score = z.infer<typeof ScoreSchema>;

export const FIXTURE_FILE_SHAPE = {
  filename: textOf(255),
  content_hash: z.string().regex(/^sha256:[0-9a-f]{64}$/, 'expected sha256: and 64 hex digits'),
  size_bytes: z.int().min(0),
};
const FixtureFileSchema = z.strictObject(FIXTURE_FILE_SHAPE);
/** A file of a conformance fixture, by its bytes. */
export type FixtureFile = z.infer<typeof FixtureFileSchema>;

export const FIXTURE_RESULTS = ['verified', 'refuted', 'inconclusive'] as const;
export const FIXTURE_SHAPE = {
  key: keyOf(60),
  stage_key: keyOf(40),
  description: textOf(1_000),
  expected_result: z.enum(FIXTURE_RESULTS),
};
/** A role that the contract has; the rules see to it. */
export const RoleNameSchema = textOf(40, { min: 0 });

export const FixtureSchema = z.strictObject({
  ...FIXTURE_SHAPE,
  inputs: z.strictObject({
    /** By slot key. */
    reference: z.record(z.string(), FixtureFileSchema),
    artifacts: z
      .array(z.strictObject({ role: RoleNameSchema, ...FIXTURE_FILE_SHAPE }))
      .max(LIST_LENGTHS.artifacts),
    summary_text: textOf(10_000, { min: 0 }).nullable(),
  }),
  expected_score: z.number().nullable(),
});
export type Fixture = z.infer<typeof FixtureSchema>;

export const TERMS_SHAPE = {
  title: textOf(200),
  statement_md: textOf(20_000),
  reference_inputs: z.array(ReferenceSlotSchema).max(LIST_LENGTHS.reference_inputs),
  stages: z.array(StageSchema).min(1).max(LIST_LENGTHS.stages),
  submission_requirements: RequirementsSchema,
  result_kind: ResultKindSchema,
  score: ScoreSchema.nullable(),
  conformance_fixtures: z.array(FixtureSchema).max(LIST_LENGTHS.conformance_fixtures),
};

/** The form of the terms; the rules between fields are `rules.ts`. */
export const ContractTermsShapeSchema = z.strictObject(TERMS_SHAPE);
/** The normative content of VerifierContract 0.5.0: what decides, and nothing that identifies. */
export type ContractTerms = z.infer<typeof ContractTermsShapeSchema>;

/** The form of the published document, without the rules between fields. */
export const VerifierContractShapeSchema = z.strictObject({ ...IDENTITY_SHAPE, ...TERMS_SHAPE });
/** A published VerifierContract 0.5.0; what may be left out of it is filled in. */
export type VerifierContract = z.infer<typeof VerifierContractShapeSchema>;
