import { generateKeyPairSync } from 'node:crypto';
import { parseContract } from '@kervyxa/contract';
import { sha256Hex, Sha256HexSchema } from '@kervyxa/core';
import type { Database } from '@kervyxa/db';
import { parseSigningKey, toBothViews } from '@kervyxa/evidence';

type Work = Database['work'];
type Task = NonNullable<Awaited<ReturnType<Work['runTask']>>>;
type Sealed = Parameters<Work['sealRun']>[2];

export const VERIFIER = 'https://verifier.example.org';

const { privateKey } = generateKeyPairSync('ed25519');
const KEY = parseSigningKey(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());

/** For tests: what a worker seals of a run with that result, signed. */
export async function signRun(
  work: Work,
  { run, submission, contract, claimToken }: Task,
  result: Parameters<typeof toBothViews>[0]['result'],
): Promise<Omit<Sealed, 'logs'>> {
  const { full, keep } = toBothViews({
    contract: parseContract(JSON.parse(contract.document)),
    result,
    run: {
      runRef: `urn:kervyxa:run:${run.id}`,
      purpose: 'verification',
      repositoryUrl: submission.repositoryUrl,
      commit: submission.commit,
      claimToken,
    },
    verifierId: VERIFIER,
    blobs: [
      { path: 'base.bundle', ...(await toBlob(work, contract.baseBlob)) },
      { path: 'source.bundle', ...(await toBlob(work, submission.sourceBlob)) },
    ],
  });
  const text = full.texts['result.json'];
  const { verdict, reasons } = result;
  if (verdict === 'ERROR') throw new Error('expected a verdict that can be sealed');
  return {
    verdict: {
      verdict,
      reason: reasons[0]?.code ?? null,
      resultDigest: `sha256:${sha256Hex(text)}`,
    },
    result: text,
    evidence: keep(KEY),
  };
}

async function toBlob(work: Work, sha256: string | null) {
  const name = Sha256HexSchema.parse(sha256);
  return { sha256: name, size: (await work.blobSizes([name])).get(name) ?? 0 };
}
