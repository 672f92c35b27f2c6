import { toPublicContract, type Contract } from '@kervyxa/contract';
import { canonicalJson, Sha256HexSchema, sha256Hex } from '@kervyxa/core';
import type { VerificationResult } from '@kervyxa/verifier';
import type { AuditHead, Statement, View } from '../attestation/statement.ts';
import type { EvaluationRecord } from '../evaluation/record.ts';
import { toPublicResult } from '../result/public-result.ts';
import { toRecordedResult, type RecordedResult } from '../result/recorded.ts';
import { evaluationOf, statementOf } from './derive.ts';
import { expectedBlobs } from './expected.ts';
import { ManifestSchema, MANIFEST, TEXTS, type FileRef, type TextName } from './manifest.ts';
import { RunFactsSchema, type RunFacts } from './run-facts.ts';

export interface RunEvidenceInput {
  readonly view: View;
  /** The frozen contract and the verifier's whole answer; for the public view both are cut down here. */
  readonly contract: Contract;
  /**
   * The canonical text that was frozen, for a contract that was parsed again since: fields that came later stand in
   * `contract` with their defaults, and are no part of what was agreed. Left out: that of `contract`.
   */
  readonly contractText?: string;
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

/**
 * What one run leaves, as one view of it may see it. Contract, result and the digests over them are those of the view,
 * so that nobody learns of what is hidden by a digest, a size or a name. Throws for a PASS that the evaluation refuses:
 * that is a defect, and nothing is signed about it.
 */
export function toRunEvidence(input: RunEvidenceInput): RunEvidence {
  const { view } = input;
  const isPublic = view === 'public';
  const contract = isPublic
    ? toPublicContract(input.contract, { withHidden: false })
    : input.contract;
  const recorded = toRecordedResult(input.result);
  const result = isPublic ? toPublicResult(recorded) : recorded;
  const run = RunFactsSchema.parse({ schema: 'kervyxa.evidence-run.v1', ...input.run });
  const ownText = isPublic ? undefined : input.contractText;
  const contractText = ownText ?? canonicalJson(contract);
  const policyDigest = `sha256:${sha256Hex(contractText)}`;
  const judged = { contract, policyDigest, result, run };
  const evaluation = evaluationOf(judged);
  if (result.verdict === 'PASS' && !evaluation.passed) {
    const code = evaluation['refusal/code'] ?? 'a check that did not pass';
    throw new Error(`expected a PASS that its checks bear out, got ${code}`);
  }
  const texts = {
    'contract.json': contractText,
    'result.json': canonicalJson(result),
    'evaluation.json': canonicalJson(evaluation),
    'run.json': canonicalJson(run),
  };

  const wanted = expectedBlobs(contract);
  const blobs = wanted.flatMap((path) => input.blobs.find((each) => each.path === path) ?? []);
  const manifest = ManifestSchema.parse({
    schema: 'kervyxa.evidence.v1',
    view,
    files: [...TEXTS.map((path) => toFileRef(path, texts[path])), ...blobs],
    absent: wanted.filter((path) => !blobs.some((each) => each.path === path)),
  });
  const manifestText = canonicalJson(manifest);
  const statement = statementOf(judged, {
    ...input,
    manifest,
    manifestSha256: sha256Hex(manifestText),
  });
  return {
    view,
    evaluation,
    result,
    blobs,
    statement,
    texts: { ...texts, [MANIFEST]: manifestText },
  };
}

function toFileRef(path: TextName, text: string): FileRef {
  return {
    path,
    sha256: Sha256HexSchema.parse(sha256Hex(text)),
    size: Buffer.byteLength(text),
  };
}
