import { parseContract } from '@kervyxa/contract';
import { helloContract } from '@kervyxa/contract/testing';
import { canonicalDigest, canonicalJson, sha256Hex, Sha256HexSchema } from '@kervyxa/core';
import { beforeAll, expect, it } from 'vitest';
import { signStatement } from '../attestation/envelope.ts';
import type { SigningKey } from '../attestation/keys.ts';
import { BLOBS, createKey, sampleInput, VERIFIED_AT, VERIFIER_ID } from '../testing/sample-run.ts';
import { evaluationOf, statementOf, type Judged } from './derive.ts';
import { packBundle } from './pack.ts';
import { readBundle } from './read.ts';
import { toRunEvidence } from './run-evidence.ts';

let key: SigningKey;
beforeAll(() => {
  key = createKey();
});

/** A bundle for outsiders whose signer has put something else in the place of contract or result; all else follows. */
function forge(
  change: (contract: object) => object,
  more: Partial<Judged['result']> = {},
): AsyncIterable<Uint8Array> {
  const honest = toRunEvidence(
    sampleInput('public', {
      contract: parseContract(helloContract('a'.repeat(40))),
    }),
  );
  const contract = change(JSON.parse(honest.texts['contract.json']) as object);
  const run = JSON.parse(honest.texts['run.json']) as Judged['run'];
  const result = { ...honest.result, ...more };
  const policyDigest = canonicalDigest(contract);
  const judged = {
    contract: contract as Judged['contract'],
    policyDigest,
    result,
    run,
  };
  const texts = {
    'contract.json': canonicalJson(contract),
    'result.json': canonicalJson(result),
    'evaluation.json': canonicalJson(evaluationOf(judged)),
    'run.json': honest.texts['run.json'],
  };
  const blobs = BLOBS.filter(({ path }) => path.endsWith('.bundle'));
  const toRef = ([path, text]: [string, string]) => ({
    path: path as keyof typeof texts,
    sha256: Sha256HexSchema.parse(sha256Hex(text)),
    size: Buffer.byteLength(text),
  });
  const files = [...Object.entries(texts).map(toRef), ...blobs];
  const manifest = { schema: 'kervyxa.evidence.v1', view: 'public', files, absent: [] };
  const statement = statementOf(judged, {
    view: 'public',
    manifest,
    manifestSha256: sha256Hex(canonicalJson(manifest)),
    verifierId: VERIFIER_ID,
    timeVerified: VERIFIED_AT,
    audit: null,
  });
  return packBundle({
    texts: { ...texts, 'bundle.json': canonicalJson(manifest) },
    attestation: signStatement(statement, key),
    key,
    blobs,
    openBlob: async function* ({ path }) {
      yield Buffer.from(path === 'base.bundle' ? 'the base '.repeat(80) : 'the commit '.repeat(60));
    },
  });
}

// Keeps R-EVIDENCE-BUNDLE.
it('is read where its signer has changed nothing', async () => {
  const found = await readBundle(
    forge((contract) => contract),
    { keys: null },
  );
  expect(found.view).toBe('public');
});

it.each<[string, object]>([
  [
    'an image that no contract may name',
    { environment: { image: '--privileged', dependencies: null } },
  ],
  [
    'a checker without its digest',
    { criteria: [{ id: 'says-hello', type: 'checker', visibility: 'public' }] },
  ],
])(
  'E10 a contract for outsiders says that it is whole, with %s: refused',
  async (_what, change) => {
    const forged = forge((contract) => ({ ...contract, verifierPackage: null, ...change }));
    await expect(readBundle(forged, { keys: null })).rejects.toMatchObject({
      code: 'EVIDENCE_BUNDLE_REFUSED',
    });
  },
);

it('E10 lists more changed files than any run records, for a replay to print: refused', async () => {
  const changedFiles = Array.from({ length: 1_001 }, (_, index) => ({
    path: `${index}`,
    status: 'added' as const,
  }));
  const forged = forge((contract) => contract, { changedFiles, changedFileCount: 1_001 });
  await expect(readBundle(forged, { keys: null })).rejects.toMatchObject({
    code: 'EVIDENCE_BUNDLE_REFUSED',
  });
});
