import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contractDigest, parseContract, type Contract } from '@kervyxa/contract';
import { sha256Hex, Sha256HexSchema } from '@kervyxa/core';
import {
  packBundle,
  signStatement,
  toPublicKeysDocument,
  toRunEvidence,
  type RunEvidenceInput,
} from '@kervyxa/evidence';
import type { VerificationResult } from '@kervyxa/verifier';
import type { SigningKeys } from '../io/signing-key.ts';
import { contractInput } from './sample-contract.ts';

export const COMMIT = 'c'.repeat(40);
export const TREE = 'd'.repeat(40);

/** A contract with a public criterion and a hidden one, `secret`. */
export function twoCriteria(): Contract {
  const input = contractInput();
  const [open] = input.criteria;
  if (open?.type !== 'regression') throw new Error('expected a regression');
  const secret = { ...open, id: 'secret', visibility: 'hidden' as const };
  const submission = { ...input.submission, privacy: 'PUBLIC_WITH_HIDDEN_VERIFIER' as const };
  return parseContract({ ...input, criteria: [open, secret], submission });
}

/** All of the given criteria have passed, unless `more` says otherwise. */
export function passOf(
  { criteria, ...contract }: Contract,
  more: Partial<VerificationResult> = {},
): VerificationResult {
  return {
    verdict: 'PASS',
    contractDigest: contractDigest({ ...contract, criteria }),
    commit: COMMIT,
    tree: TREE,
    imageDigest: `sha256:${'f'.repeat(64)}`,
    changedFiles: [],
    inputs: null,
    criteria: criteria.map(({ id, type, visibility }) => ({
      id,
      type,
      visibility,
      status: 'pass',
      reason: null,
      message: null,
      exitCode: 0,
      metric: null,
      peakMemoryBytes: null,
      durationMs: 1,
      outputSha256: null,
    })),
    reasons: [],
    ...more,
  };
}

/** Writes evidence.tar, attestation.json and keys.json of a run into the folder. */
export async function writeEvidence(
  folder: string,
  { current, publicKeys }: SigningKeys,
  {
    view,
    contract = twoCriteria(),
    ...more
  }: Pick<RunEvidenceInput, 'view'> & Partial<RunEvidenceInput>,
): Promise<{ readonly bundle: string; readonly attestation: string; readonly keys: string }> {
  const capture = 'capture';
  const file = { sha256: Sha256HexSchema.parse(sha256Hex(capture)), size: capture.length };
  const evidence = toRunEvidence({
    view,
    contract,
    result: passOf(contract),
    run: {
      runRef: 'urn:kervyxa:run:run_1',
      purpose: 'verification',
      repositoryUrl: 'https://x.example/r.git',
      commit: COMMIT,
      claimToken: null,
    },
    verifierId: 'urn:kervyxa:verifier:test',
    timeVerified: current.createdAt ?? new Date(0),
    audit: { seq: 7, head: 'a'.repeat(64) },
    blobs: (['base.bundle', 'source.bundle'] as const).map((path) => ({ path, ...file })),
    ...more,
  });
  const attestation = signStatement(evidence.statement, current);
  const openBlob = async function* () {
    yield Buffer.from(capture);
  };
  const stream = packBundle({ ...evidence, attestation, key: current, openBlob });
  const texts = {
    bundle: Buffer.concat(await Array.fromAsync(stream)),
    attestation,
    keys: JSON.stringify(toPublicKeysDocument(publicKeys)),
  };
  const paths = {
    bundle: join(folder, 'evidence.tar'),
    attestation: join(folder, 'attestation.json'),
    keys: join(folder, 'keys.json'),
  };
  for (const name of ['bundle', 'attestation', 'keys'] as const) {
    writeFileSync(paths[name], texts[name]);
  }
  return paths;
}
