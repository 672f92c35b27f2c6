import { type SealedVerdict, sha256Hex } from '@kervyxa/core';
import type pg from 'pg';
import type { Reads, SealedEvidence } from '../ports.ts';
import { appendAudit, lockAudit } from './append-audit.ts';
import { saveBlob } from './blobs.ts';
import type { Connections } from './in-transaction.ts';
import { queryRows, runChange, type Sql, told } from './sql.ts';

export function createEvidenceReads({
  client,
}: Pick<Connections, 'client'>): Pick<Reads, 'evidence'> {
  return {
    evidence: async (runId) => {
      const row = await told(
        client.runEvidence.findUnique({ where: { runId }, include: { key: true } }),
      );
      if (row === null) return null;
      const { key, keyid: _keyid, auditSeq: _seq, ...rest } = row;
      return { ...rest, publicKey: key.publicKey };
    },
  };
}

/** Before the transaction: nothing names it until that commits. Answers its SHA-256. */
export async function savePublicContract(
  pool: pg.Pool,
  { publicContract }: SealedEvidence,
): Promise<string> {
  const bytes = Buffer.from(publicContract);
  return (await saveBlob(pool, [bytes], { bytesMax: bytes.length })).sha256;
}

export interface Sealing {
  readonly runId: string;
  readonly verdict: SealedVerdict;
  readonly evidence: SealedEvidence;
  readonly publicContractBlob: string;
}

/**
 * Has the sealed run attested, and keeps that with its entry in the audit log, whose head until then is in the
 * attestations. The key is held already, and no other lock is taken any more.
 */
export async function saveEvidence(
  sql: Sql,
  { runId, verdict, evidence, publicContractBlob }: Sealing,
): Promise<void> {
  const [run] = await queryRows<{ contractId: string; submissionId: string; finishedAt: Date }>(
    sql,
    `SELECT contract_id AS "contractId", submission_id AS "submissionId", finished_at AS "finishedAt"
     FROM runs WHERE id = $1`,
    [runId],
  );
  if (run === undefined) throw new Error(`expected run ${runId}, got no row`);
  const audit = await lockAudit(sql);
  const { attestation, publicAttestation } = evidence.attest({ sealedAt: run.finishedAt, audit });
  const { key, evaluation, publicEvaluation } = evidence;
  const { seq } = await appendAudit(sql, {
    kind: 'verdict_sealed',
    subject: runId,
    digest: verdict.resultDigest,
    facts: {
      contract: run.contractId,
      submission: run.submissionId,
      verdict: verdict.verdict,
      reason: verdict.reason,
      evaluation: digestOf(evaluation),
      publicEvaluation: digestOf(publicEvaluation),
      attestation: digestOf(attestation),
      publicAttestation: digestOf(publicAttestation),
      keyid: key.keyid,
    },
  });
  await runChange(
    sql,
    `INSERT INTO run_evidence (run_id, audit_seq, keyid, evaluation, public_evaluation, attestation,
       public_attestation, manifest, public_manifest, request, public_result, public_contract_blob)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      runId,
      seq,
      key.keyid,
      evaluation,
      publicEvaluation,
      attestation,
      publicAttestation,
      evidence.manifest,
      evidence.publicManifest,
      evidence.request,
      evidence.publicResult,
      publicContractBlob,
    ],
  );
}

function digestOf(text: string): string {
  return `sha256:${sha256Hex(text)}`;
}
