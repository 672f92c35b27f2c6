import { createHash, generateKeyPairSync } from 'node:crypto';
import type { SealedVerdict } from '@kervyxa/core';
import type { WorkerStore } from '../ports.ts';

type Sealed = Parameters<WorkerStore['sealRun']>[2];

/** One key for all that a test seals. */
export const TEST_KEY = createPublicKey();

/** A public half, whose private one nobody keeps. */
export function createPublicKey(): Sealed['evidence']['key'] {
  const { publicKey } = generateKeyPairSync('ed25519');
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return {
    keyid: createHash('sha256').update(spki).digest('hex'),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

/** What a worker seals, with evidence that is kept and that no store looks into. */
export function sealedAs(
  verdict: Pick<SealedVerdict, 'verdict' | 'reason'>,
  result: string,
): Sealed {
  const sha256 = createHash('sha256').update(result).digest('hex');
  return {
    verdict: { ...verdict, resultDigest: `sha256:${sha256}` },
    result,
    logs: [],
    evidence: {
      key: TEST_KEY,
      evaluation: `{"of":"${sha256}"}`,
      publicEvaluation: '{}',
      manifest: '{}',
      publicManifest: '{}',
      request: '{}',
      publicResult: '{}',
      publicContract: '{}',
      attest: ({ sealedAt, audit }) => {
        const text = JSON.stringify({ sealedAt, audit: audit.hash });
        return { attestation: text, publicAttestation: text };
      },
    },
  };
}
