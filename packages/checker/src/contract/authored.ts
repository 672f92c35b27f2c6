import { z } from 'zod';
import {
  type ContractTerms,
  ExternalStageSchema,
  FIXTURE_FILE_SHAPE,
  FIXTURE_SHAPE,
  IDENTITY_SHAPE,
  ReviewStageSchema,
  RoleNameSchema,
  SandboxStageSchema,
  ScoreSchema,
  TERMS_SHAPE,
} from './schema.ts';
import { LIST_LENGTHS, textOf } from './schema-parts.ts';

/** Resources that a stage may ask for; units are in the names. */
export const STAGE_LIMIT_RANGES = {
  memory_mb: { min: 64, max: 12_288, default: 1_024 },
  vcpu: { min: 0.05, max: 4, default: 0.25 },
  disk_mb: { min: 1, max: 20_480, default: 2_048 },
  timeout_seconds: { min: 1, max: 600, default: 120 },
} as const;

const LimitsSchema = z.strictObject({
  memory_mb: limitOf('memory_mb', z.int()),
  vcpu: limitOf('vcpu', z.number()),
  disk_mb: limitOf('disk_mb', z.int()),
  timeout_seconds: limitOf('timeout_seconds', z.int()),
});

function limitOf(name: keyof typeof STAGE_LIMIT_RANGES, number: z.ZodNumber) {
  const range = STAGE_LIMIT_RANGES[name];
  return number.min(range.min).max(range.max).default(range.default);
}

const AuthoredSandboxStageSchema = SandboxStageSchema.extend({
  /** `./checker.py`, `kervyxa-builtin/name:1` or `name@sha256:…`. */
  implementation: textOf(512),
  limits: LimitsSchema.prefault({}),
});
export type AuthoredSandboxStage = z.infer<typeof AuthoredSandboxStageSchema>;

const AuthoredReviewStageSchema = ReviewStageSchema.extend({
  review_protocol_id: z
    .string()
    .regex(
      /^(rpt_[0-9a-z]{10,32}|\.\/review-protocol\.json)$/,
      'expected ./review-protocol.json, or an id such as rpt_…',
    ),
});

const AuthoredFileSchema = z.strictObject({
  ...FIXTURE_FILE_SHAPE,
  /** Left out until `lint --fix` has written them. */
  content_hash: FIXTURE_FILE_SHAPE.content_hash.optional(),
  size_bytes: FIXTURE_FILE_SHAPE.size_bytes.optional(),
});
export type AuthoredFile = z.infer<typeof AuthoredFileSchema>;

const AuthoredFixtureSchema = z.strictObject({
  ...FIXTURE_SHAPE,
  inputs: z.strictObject({
    reference: z.record(z.string(), AuthoredFileSchema),
    artifacts: z
      .array(AuthoredFileSchema.extend({ role: RoleNameSchema }))
      .max(LIST_LENGTHS.artifacts),
    summary_text: textOf(10_000, { min: 0 }).nullable().default(null),
  }),
  expected_score: z.number().nullable().default(null),
});

const identity = z.strictObject(IDENTITY_SHAPE).partial();

/** `verifier-contract.json` as people write it; the rules between fields are `rules.ts`. */
export const AuthoredContractSchema = z.strictObject({
  ...identity.shape,
  ...TERMS_SHAPE,
  stages: z
    .array(
      z.discriminatedUnion('kind', [
        AuthoredSandboxStageSchema,
        AuthoredReviewStageSchema,
        ExternalStageSchema,
      ]),
    )
    .min(1)
    .max(LIST_LENGTHS.stages),
  score: ScoreSchema.nullable().default(null),
  conformance_fixtures: z.array(AuthoredFixtureSchema).max(LIST_LENGTHS.conformance_fixtures),
});
export type AuthoredContract = z.infer<typeof AuthoredContractSchema>;

/** What is published of an authored contract whose files are all as it says. */
export function toTerms(authored: AuthoredContract): ContractTerms {
  const { title, statement_md, reference_inputs, submission_requirements, result_kind, score } =
    authored;
  return {
    title,
    statement_md,
    reference_inputs,
    stages: authored.stages.map((stage) => {
      if (stage.kind !== 'sandbox') return stage;
      const { implementation: _program, limits: _limits, ...rest } = stage;
      return rest;
    }),
    submission_requirements,
    result_kind,
    score,
    conformance_fixtures: authored.conformance_fixtures.map((fixture) => {
      const { reference, artifacts, summary_text } = fixture.inputs;
      return {
        ...fixture,
        inputs: {
          reference: Object.fromEntries(
            Object.entries(reference).map(([key, file]) => [key, published(file)]),
          ),
          artifacts: artifacts.map((file) => ({ ...file, ...published(file) })),
          summary_text,
        },
      };
    }),
  };
}

function published({ filename, content_hash = '', size_bytes = 0 }: AuthoredFile) {
  return { filename, content_hash, size_bytes };
}
