import { generateKeyPairSync } from 'node:crypto';
import { contractDigest, parseContract, type Contract } from '@kervyxa/contract';
import { helloContract } from '@kervyxa/contract/testing';
import { sha256Hex, Sha256HexSchema } from '@kervyxa/core';
import type { VerificationResult } from '@kervyxa/verifier';
import { signStatement } from '../attestation/envelope.ts';
import { parseSigningKey, type SigningKey } from '../attestation/keys.ts';
import type { View } from '../attestation/statement.ts';
import type { FileRef } from '../bundle/manifest.ts';
import { packBundle } from '../bundle/pack.ts';
import { toRunEvidence, type RunEvidenceInput } from '../bundle/run-evidence.ts';

export const COMMIT = 'c'.repeat(40);
export const TREE = 'd'.repeat(40);
export const REPOSITORY_URL = 'https://git.example.org/fork.git';
export const VERIFIER_ID = 'urn:kervyxa:verifier:test';
export const VERIFIED_AT = new Date('2026-03-04T05:06:07.089Z');

export function createKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('ed25519');
  return parseSigningKey(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
}

/** A contract with one public and one hidden criterion, a package and dependencies. */
export function sampleContract(): Contract {
  const contract = helloContract('a'.repeat(40));
  const [open] = contract.criteria;
  if (open === undefined || open.type !== 'regression') throw new Error('expected one criterion');
  const hidden = { ...open, id: 'secret', visibility: 'hidden' as const, title: 'SECRET-title' };
  return parseContract({
    ...contract,
    criteria: [open, hidden],
    environment: { ...contract.environment, dependencies: { sha256: sha256Hex('dependencies') } },
    verifierPackage: { sha256: sha256Hex('SECRET-package') },
    submission: { ...contract.submission, privacy: 'PUBLIC_WITH_HIDDEN_VERIFIER' },
  });
}

type Criterion = VerificationResult['criteria'][number];

export function sampleCriterion(id: string, more: Partial<Criterion> = {}): Criterion {
  return {
    id,
    type: 'regression',
    visibility: id === 'secret' ? 'hidden' : 'public',
    status: 'pass',
    reason: null,
    message: null,
    exitCode: 0,
    metric: null,
    peakMemoryBytes: 1_000,
    durationMs: 20,
    outputSha256: 'e'.repeat(64),
    ...more,
  };
}

/** A pass, unless told otherwise. */
export function sampleResult(
  contract: Contract,
  more: Partial<VerificationResult> = {},
): VerificationResult {
  return {
    verdict: 'PASS',
    contractDigest: contractDigest(contract),
    commit: COMMIT,
    tree: TREE,
    imageDigest: `sha256:${'f'.repeat(64)}`,
    changedFiles: [{ path: 'hello.sh', status: 'modified' }],
    inputs: { checkout: '1'.repeat(64), package: '2'.repeat(64), dependencies: '3'.repeat(64) },
    criteria: contract.criteria.map(({ id }) => sampleCriterion(id)),
    reasons: [],
    ...more,
  };
}

const CONTENTS: Readonly<Record<string, string>> = {
  'base.bundle': 'the base '.repeat(80),
  'source.bundle': 'the commit '.repeat(60),
  'dependencies.tar': 'dependencies',
  'package.tar': 'SECRET-package',
};

export const BLOBS: readonly FileRef[] = Object.entries(CONTENTS).map(([path, text]) => ({
  path: path as FileRef['path'],
  sha256: Sha256HexSchema.parse(sha256Hex(text)),
  size: Buffer.byteLength(text),
}));

export function sampleInput(view: View, more: Partial<RunEvidenceInput> = {}): RunEvidenceInput {
  const contract = more.contract ?? sampleContract();
  return {
    view,
    contract,
    result: sampleResult(contract),
    run: {
      runRef: 'urn:kervyxa:run:run_1',
      purpose: 'verification',
      repositoryUrl: REPOSITORY_URL,
      commit: COMMIT,
      claimToken: null,
    },
    verifierId: VERIFIER_ID,
    timeVerified: VERIFIED_AT,
    audit: null,
    blobs: BLOBS,
    ...more,
  };
}

/** A whole bundle as bytes. */
export async function sampleBundle(input: RunEvidenceInput, key: SigningKey): Promise<Buffer> {
  const evidence = toRunEvidence(input);
  const stream = packBundle({
    ...evidence,
    key,
    attestation: signStatement(evidence.statement, key),
    openBlob: async function* ({ path }) {
      yield Buffer.from(CONTENTS[path] ?? '');
    },
  });
  return Buffer.concat(await Array.fromAsync(stream));
}
