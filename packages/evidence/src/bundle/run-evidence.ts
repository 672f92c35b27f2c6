import { contractDigest, toPublicContract, type Contract } from '@kervyxa/contract';
import { canonicalDigest, canonicalJson, sha256Hex } from '@kervyxa/core';
import type { VerificationResult } from '@kervyxa/verifier';
import { z } from 'zod';
import {
  toGitSubjects,
  toStatement,
  type AuditHead,
  type Statement,
  type View,
} from '../attestation/statement.ts';
import { toEvaluation } from '../evaluation/of-result.ts';
import type { EvaluationRecord } from '../evaluation/record.ts';
import { toPublicResult } from '../result/public-result.ts';
import { toRecordedResult, type RecordedResult } from '../result/recorded.ts';
import { expectedBlobs } from './expected.ts';
import { ManifestSchema, MANIFEST, TEXTS, type FileRef, type TextName } from './manifest.ts';

/** Why a run was made. */
export const PURPOSES = ['verification', 'rerun'] as const;

/** `run.json`: what was asked beside the contract. */
export const RunFactsSchema = z.strictObject({
  schema: z.literal('kervyxa.evidence-run.v1'),
  runRef: z.string().min(1).max(2_048),
  purpose: z.enum(PURPOSES),
  repositoryUrl: z.string().min(1).max(2_048),
  commit: z.string().regex(/^[0-9a-f]{40}$/),
  claimToken: z.string().max(256).nullable(),
});
export type RunFacts = z.infer<typeof RunFactsSchema>;

export interface RunEvidenceInput {
  readonly view: View;
  /** The frozen contract and the verifier's whole answer; for the public view both are cut down here. */
  readonly contract: Contract;
  readonly result: VerificationResult;
  readonly run: Omit<RunFacts, 'schema'>;
  readonly verifierId: string;
  readonly timeVerified: Date;
  readonly audit: AuditHead | null;
  /** Archives that are at hand, for both views the same; those that the view may not have are left out here. */
  readonly blobs: readonly FileRef[];
}

/** All of one view of a run but its signature and its archives. */
export interface RunEvidence {
  readonly view: View;
  readonly evaluation: EvaluationRecord;
  readonly result: RecordedResult;
  /** Texts of the bundle by name, `bundle.json` included: keep them as they are, to the byte. */
  readonly texts: Readonly<Record<TextName | typeof MANIFEST, string>>;
  /** Archives of the bundle. */
  readonly blobs: readonly FileRef[];
  /** To be signed. It binds every text and archive by name and digest. */
  readonly statement: Statement;
}

/** Names of our own for what has no address. */
function urnOf(kind: 'contract' | 'result', digest: string): string {
  return `urn:kervyxa:${kind}:${digest}`;
}

/**
 * What one run leaves, as one view of it may see it. `contract`, `result` and the digests over them are those of the
 * view, so that nobody learns of what is hidden by a digest, a size or a name.
 */
export function toRunEvidence(input: RunEvidenceInput): RunEvidence {
  const { view, run } = input;
  const isPublic = view === 'public';
  const contract = isPublic
    ? toPublicContract(input.contract, { withHidden: false })
    : input.contract;
  const recorded = toRecordedResult(input.result);
  const result = isPublic ? toPublicResult(recorded) : recorded;
  const policyDigest = isPublic ? canonicalDigest(contract) : contractDigest(input.contract);
  const resultDigest = canonicalDigest(result);
  const evaluation = toEvaluation(contract, result, {
    runRef: run.runRef,
    verifier: { ref: urnOf('contract', policyDigest), digest: policyDigest },
    result: { ref: urnOf('result', resultDigest), digest: resultDigest },
  });
  const facts: RunFacts = { schema: 'kervyxa.evidence-run.v1', ...run };
  const texts: Record<TextName, string> = {
    'contract.json': canonicalJson(contract),
    'result.json': canonicalJson(result),
    'evaluation.json': canonicalJson(evaluation),
    'run.json': canonicalJson(RunFactsSchema.parse(facts)),
  };
  const expected = expectedBlobs(contract);
  const blobs = expected.flatMap((path) => input.blobs.find((each) => each.path === path) ?? []);
  const absent = expected.filter((path) => !blobs.some((each) => each.path === path));
  const files = [...TEXTS.map((path) => toFileRef(path, texts[path])), ...blobs];
  const manifest = canonicalJson(
    ManifestSchema.parse({ schema: 'kervyxa.evidence.v1', view, files, absent }),
  );
  const { verdict, imageDigest, reasons, commit, tree } = input.result;
  const image = imageDigest === null ? [] : [toDescriptor('image', imageDigest)];
  const statement = toStatement({
    subjects: toGitSubjects(commit, tree),
    verifierId: input.verifierId,
    timeVerified: input.timeVerified,
    resourceUri: run.repositoryUrl,
    policy: { uri: urnOf('contract', policyDigest), digest: policyDigest },
    inputs: [
      toDescriptor(MANIFEST, sha256Hex(manifest)),
      ...files.map(({ path, sha256 }) => toDescriptor(path, sha256)),
      ...image,
    ],
    outcome: {
      verdict,
      reason: reasons[0]?.code ?? null,
      runRef: run.runRef,
      audit: input.audit,
      view,
    },
  });
  return { view, evaluation, result, texts: { ...texts, [MANIFEST]: manifest }, blobs, statement };
}

function toFileRef(path: TextName, text: string): FileRef {
  return { path, sha256: sha256Hex(text) as FileRef['sha256'], size: Buffer.byteLength(text) };
}

function toDescriptor(name: string, digest: string) {
  return { name, digest: { sha256: digest.replace(/^sha256:/, '') } };
}
