import { ReasonCodeSchema, VerdictSchema } from '@kervyxa/core';
import { z } from 'zod';

const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
const PREDICATE_TYPE = 'https://slsa.dev/verification_summary/v1';
export const EXTENSION = 'urn:kervyxa:attestation:v1';

/** Who may read what an attestation is about: `full` has hidden criteria in it, `public` has none. */
export const ViewSchema = z.enum(['full', 'public']);
export type View = z.infer<typeof ViewSchema>;

const HexSchema = z.string().regex(/^[0-9a-f]{64}$/);
const GitIdSchema = z.string().regex(/^[0-9a-f]{40}$/);
const UriSchema = z.string().min(1).max(2_048);

const SubjectSchema = z.strictObject({
  name: z.string().min(1).max(2_048),
  digest: z.union([
    z.strictObject({ gitCommit: GitIdSchema }),
    z.strictObject({ gitTree: GitIdSchema }),
    z.strictObject({ sha256: HexSchema }),
  ]),
});
export type Subject = z.infer<typeof SubjectSchema>;

const DescriptorSchema = z.strictObject({
  name: z.string().min(1).max(2_048),
  digest: z.strictObject({ sha256: HexSchema }),
});
export type Descriptor = z.infer<typeof DescriptorSchema>;

/** The audit log at the time: how many entries it has, and the hash of the last. */
const AuditHeadSchema = z.strictObject({ seq: z.int().min(0), head: HexSchema });
export type AuditHead = z.infer<typeof AuditHeadSchema>;

const ExtensionSchema = z.strictObject({
  verdict: VerdictSchema,
  /** The primary one; null exactly for PASS. */
  reason: ReasonCodeSchema.nullable(),
  runRef: UriSchema,
  /** Null where there is no audit log. */
  audit: AuditHeadSchema.nullable(),
  view: ViewSchema,
});

/**
 * An in-toto Statement v1 (https://github.com/in-toto/attestation, spec/v1/statement.md) with a SLSA verification
 * summary v1 (https://slsa.dev/spec/v1.2/verification_summary). Closed, though readers of both are to let unknown fields
 * be: what we verify is only what we wrote.
 */
export const StatementSchema = z.strictObject({
  _type: z.literal(STATEMENT_TYPE),
  subject: z.array(SubjectSchema).min(1).max(256),
  predicateType: z.literal(PREDICATE_TYPE),
  predicate: z
    .strictObject({
      verifier: z.strictObject({ id: UriSchema }),
      timeVerified: z.iso.datetime({ precision: 3 }),
      resourceUri: UriSchema,
      policy: z.strictObject({ uri: UriSchema, digest: z.strictObject({ sha256: HexSchema }) }),
      inputAttestations: z.array(DescriptorSchema).max(1_024),
      verificationResult: z.enum(['PASSED', 'FAILED']),
      /** No level of SLSA is claimed; the specification wants FAILED said here once more. */
      verifiedLevels: z.array(z.literal('FAILED')).max(1),
      [EXTENSION]: ExtensionSchema,
    })
    .refine(
      (each) => (each.verificationResult === 'PASSED') === (each[EXTENSION].verdict === 'PASS'),
      {
        error: 'expected PASSED for the verdict PASS and FAILED for every other',
      },
    )
    .refine(
      (each) => (each.verificationResult === 'FAILED') === (each.verifiedLevels.length === 1),
      {
        error: 'expected verifiedLevels ["FAILED"] beside FAILED and [] beside PASSED',
      },
    )
    .refine((each) => (each[EXTENSION].verdict === 'PASS') === (each[EXTENSION].reason === null), {
      error: 'expected no reason for PASS and one for every other verdict',
    }),
});
export type Statement = z.infer<typeof StatementSchema>;

export interface StatementInput {
  readonly subjects: readonly Subject[];
  readonly verifierId: string;
  readonly timeVerified: Date;
  /** Where what was verified is fetched from: the URL of the repository. */
  readonly resourceUri: string;
  /** What it was verified against. `digest`: `sha256:` and 64 hex digits. */
  readonly policy: { readonly uri: string; readonly digest: string };
  /** All that went into the verification, by name and SHA-256. */
  readonly inputs: readonly Descriptor[];
  readonly outcome: z.infer<typeof ExtensionSchema>;
}

/** Says PASSED for the verdict PASS and FAILED for every other. Throws a ZodError for what no statement may hold. */
export function toStatement(input: StatementInput): Statement {
  const isPass = input.outcome.verdict === 'PASS';
  return StatementSchema.parse({
    _type: STATEMENT_TYPE,
    subject: input.subjects,
    predicateType: PREDICATE_TYPE,
    predicate: {
      verifier: { id: input.verifierId },
      timeVerified: input.timeVerified.toISOString(),
      resourceUri: input.resourceUri,
      policy: {
        uri: input.policy.uri,
        digest: { sha256: input.policy.digest.replace(/^sha256:/, '') },
      },
      inputAttestations: input.inputs,
      verificationResult: isPass ? 'PASSED' : 'FAILED',
      verifiedLevels: isPass ? [] : ['FAILED'],
      [EXTENSION]: input.outcome,
    },
  });
}

/** The commit and, where it could be fetched, its tree. */
export function toGitSubjects(commit: string, tree: string | null): Subject[] {
  const subject: Subject[] = [{ name: 'commit', digest: { gitCommit: commit } }];
  return tree === null ? subject : [...subject, { name: 'tree', digest: { gitTree: tree } }];
}

/** The statement as of another moment. All else of it can be made beforehand, outside of what waits for the seal. */
export function atSeal(
  { predicate, ...statement }: Statement,
  { timeVerified, audit }: { readonly timeVerified: Date; readonly audit: AuditHead | null },
): Statement {
  const at = timeVerified.toISOString();
  const outcome = { ...predicate[EXTENSION], audit };
  return { ...statement, predicate: { ...predicate, timeVerified: at, [EXTENSION]: outcome } };
}
