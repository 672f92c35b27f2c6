import type { Contract, PublicContract } from '@kervyxa/contract';
import { canonicalDigest } from '@kervyxa/core';
import {
  toGitSubjects,
  toStatement,
  type AuditHead,
  type Statement,
  type View,
} from '../attestation/statement.ts';
import { toEvaluation } from '../evaluation/of-result.ts';
import type { EvaluationRecord } from '../evaluation/record.ts';
import type { RecordedResult } from '../result/recorded.ts';
import { MANIFEST, type Manifest } from './manifest.ts';
import type { RunFacts } from './run-facts.ts';

// What follows from the rest of a bundle. Whoever writes one makes it, whoever reads one makes it again and compares.

/** Contract and result as the view has them. */
export interface Judged {
  readonly contract: Contract | PublicContract;
  /** `sha256:` and the digest of the canonical text of `contract`. */
  readonly policyDigest: string;
  readonly result: RecordedResult;
  readonly run: RunFacts;
}

export function evaluationOf({ contract, policyDigest, result, run }: Judged): EvaluationRecord {
  const resultDigest = canonicalDigest(result);
  return toEvaluation(contract, result, {
    runRef: run.runRef,
    verifier: { ref: urnOf('contract', policyDigest), digest: policyDigest },
    result: { ref: urnOf('result', resultDigest), digest: resultDigest },
  });
}

export interface Signed {
  readonly view: View;
  readonly manifest: Pick<Manifest, 'files'>;
  /** Hex digits of the digest of `bundle.json`. */
  readonly manifestSha256: string;
  readonly verifierId: string;
  readonly timeVerified: Date;
  readonly audit: AuditHead | null;
}

export function statementOf({ policyDigest, result, run }: Judged, signed: Signed): Statement {
  const { verdict, commit, tree, imageDigest, reasons } = result;
  const files = signed.manifest.files.map(({ path, sha256 }) => toDescriptor(path, sha256));
  const image = imageDigest === null ? [] : [toDescriptor('image', imageDigest)];
  return toStatement({
    subjects: toGitSubjects(commit, tree),
    verifierId: signed.verifierId,
    timeVerified: signed.timeVerified,
    resourceUri: run.repositoryUrl,
    policy: { uri: urnOf('contract', policyDigest), digest: policyDigest },
    inputs: [toDescriptor(MANIFEST, signed.manifestSha256), ...files, ...image],
    outcome: {
      verdict,
      reason: reasons[0]?.code ?? null,
      runRef: run.runRef,
      audit: signed.audit,
      view: signed.view,
    },
  });
}

/** A name of our own for what has no address. */
function urnOf(kind: 'contract' | 'result', digest: string): string {
  return `urn:kervyxa:${kind}:${digest}`;
}

function toDescriptor(name: string, digest: string) {
  return { name, digest: { sha256: digest.replace(/^sha256:/, '') } };
}
