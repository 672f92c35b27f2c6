import { generateKeyPairSync } from 'node:crypto';
import { parseSigningKey } from '@kervyxa/evidence';
import type { Signing } from '../jobs/attest.ts';

export const TEST_VERIFIER = 'https://verifier.example.org';

/** Signs with a key of its own that nobody keeps. */
export function createTestSigning(): Signing {
  const { privateKey } = generateKeyPairSync('ed25519');
  const key = parseSigningKey(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  return { verifierId: TEST_VERIFIER, openKey: () => key };
}
