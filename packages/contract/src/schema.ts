import {
  AmountMinorTextSchema,
  CommitShaSchema,
  CurrencySchema,
  patternProblem,
  Sha256HexSchema,
} from '@kervyxa/core';
import { z } from 'zod';

import { CriterionSchema, type Criterion } from './criterion-schema.ts';
import { commandOf, COMMANDS_LENGTH_MAX, issueWith, limitOf, textOf } from './schema-parts.ts';

export const CONTRACT_KINDS = [
  'bug_fix',
  'test_creation',
  'dependency_bump',
  'data_transform',
  'document_extraction',
  'benchmark',
  'model_evaluation',
  'maintenance',
  'custom',
] as const;
export const ContractKindSchema = z.enum(CONTRACT_KINDS);
export type ContractKind = z.infer<typeof ContractKindSchema>;

const PackageRefSchema = z.strictObject({ sha256: Sha256HexSchema });

const PathPatternSchema = textOf(1_024).superRefine((source, context) => {
  const problem = patternProblem(source);
  if (problem === null) return;
  const message = `expected a path pattern, got one that is refused as ${problem}`;
  issueWith(context, 'PATH_PATTERN_INVALID', message);
});
const PathPatternsSchema = z.array(PathPatternSchema).max(256);

const RepositorySchema = z.strictObject({
  /** Its form is a finding of lint (REPOSITORY_URL_REFUSED) and its address a matter of intake. */
  url: textOf(2_048),
  baseCommit: CommitShaSchema,
});

const EnvironmentSchema = z
  .strictObject({
    image: z
      .string()
      .max(512)
      .regex(
        /^[a-z0-9][a-z0-9._/:-]*(@sha256:[0-9a-f]{64})?$/,
        'expected a runtime name or name@sha256:…',
      ),
    memoryMB: limitOf('memoryMB'),
    cpuCount: limitOf('cpuCount', { fractions: true }),
    pidsLimit: limitOf('pidsLimit'),
    /** Shares the memory limit: what is written to /workspace counts against both (THREATS C04). */
    workspaceMB: limitOf('workspaceMB'),
    outputKB: limitOf('outputKB'),
    dependencies: PackageRefSchema.nullable().default(null),
    setup: z
      .array(z.strictObject({ command: commandOf(), timeoutSeconds: limitOf('timeoutSeconds') }))
      .max(16)
      .default([]),
  })
  .superRefine(({ workspaceMB, memoryMB }, context) => {
    if (workspaceMB < memoryMB) return;
    issueWith(context, 'LIMIT_OUT_OF_RANGE', 'expected less than memoryMB, which it shares', [
      'workspaceMB',
    ]);
  });

const ConstraintsSchema = z.strictObject({
  protectedPaths: PathPatternsSchema,
  maxChangedFiles: limitOf('maxChangedFiles'),
  /** Names of the Linguist table in any case. */
  allowedLanguages: z.array(textOf(64)).max(64),
  /** Empty: no restriction beyond the protected paths. */
  editablePaths: PathPatternsSchema.default([]),
  notes: textOf(20_000, { min: 0 }).default(''),
});

const SubmissionSchema = z
  .strictObject({
    policy: z.enum(['PUBLIC', 'INVITE_ONLY']),
    privacy: z.enum(['PUBLIC', 'PUBLIC_WITH_HIDDEN_VERIFIER']),
    invited: z.array(textOf(128)).max(1_000).default([]),
    claim: z.enum(['none', 'trailer']),
    /** UTC, with the letter Z. */
    closesAt: z.iso.datetime(),
  })
  .superRefine(({ policy, invited }, context) => {
    if ((policy === 'INVITE_ONLY') === invited.length > 0) return;
    const wanted = policy === 'INVITE_ONLY' ? 'at least one solver' : 'nobody, as policy is PUBLIC';
    issueWith(context, 'SCHEMA_INVALID', `expected ${wanted}, got ${invited.length}`, ['invited']);
  });

const SettlementSchema = z.strictObject({
  rule: z.literal('FIRST_VERIFIED_PASS'),
  reward: z.strictObject({
    amountMinor: AmountMinorTextSchema,
    currency: CurrencySchema,
  }),
  feeBps: limitOf('feeBps'),
  challengeWindowSeconds: limitOf('challengeWindowSeconds'),
  challengeBondMinor: AmountMinorTextSchema,
  responseWindowSeconds: limitOf('responseWindowSeconds'),
});

const ProofSchema = z.strictObject({
  commit: CommitShaSchema,
  /** Null: the contract's own repository. */
  repository: textOf(2_048).nullable().default(null),
  expected: z.enum(['PASS', 'FAIL']),
  /** The criterion that must be the one to fail; null where any may. */
  failing: textOf(64).nullable().default(null),
});

/**
 * `kervyxa.contract.v1`. What may be left out is filled in by parsing, so the parsed value is the canonical form:
 * parse it again and nothing changes. Array fields become `[]`, `notes` becomes `''`, the others become null.
 */
export const ContractSchema = z
  .strictObject({
    schemaVersion: z.literal('kervyxa.contract.v1'),
    title: textOf(200),
    kind: ContractKindSchema,
    objective: textOf(20_000),
    repository: RepositorySchema,
    inputs: z
      .array(z.strictObject({ path: PathPatternSchema, description: textOf(2_000) }))
      .max(256)
      .default([]),
    environment: EnvironmentSchema,
    constraints: ConstraintsSchema,
    criteria: z.array(CriterionSchema).min(1).max(64),
    verifierPackage: PackageRefSchema.nullable().default(null),
    submission: SubmissionSchema,
    settlement: SettlementSchema,
    acknowledgements: z
      .array(z.strictObject({ code: textOf(64), reason: textOf(2_000) }))
      .max(64)
      .default([]),
    proof: z.array(ProofSchema).max(64).default([]),
  })
  .superRefine(({ environment, criteria, proof }, context) => {
    const commands = [environment.setup, ...criteria.map(commandsOf)].flat();
    const length = commands.reduce((sum, { command }) => sum + command.length, 0);
    if (length > COMMANDS_LENGTH_MAX) {
      const message = `expected commands of at most ${COMMANDS_LENGTH_MAX} characters together, got ${length}`;
      issueWith(context, 'LIMIT_OUT_OF_RANGE', message, ['criteria']);
    }
    const seen = new Set<string>();
    for (const [index, { id }] of criteria.entries()) {
      if (seen.has(id)) {
        const message = `expected every id once, got ${id} again`;
        issueWith(context, 'DUPLICATE_CRITERION_ID', message, ['criteria', index, 'id']);
      }
      seen.add(id);
    }
    for (const [index, { failing, expected }] of proof.entries()) {
      if (failing === null || (seen.has(failing) && expected === 'FAIL')) continue;
      const message = 'expected the id of a criterion, beside expected FAIL';
      issueWith(context, 'SCHEMA_INVALID', message, ['proof', index, 'failing']);
    }
  });
export type Contract = z.infer<typeof ContractSchema>;
/** What a requester writes: optional fields may be missing. */
export type ContractInput = z.input<typeof ContractSchema>;

function commandsOf(criterion: Criterion): readonly { readonly command: string }[] {
  if ('judge' in criterion) return [criterion.probe, criterion.judge];
  return 'command' in criterion ? [criterion] : [];
}
