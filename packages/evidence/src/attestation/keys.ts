import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { sha256Hex } from '@kervyxa/core';
import { z } from 'zod';
import { evidenceError } from '../errors.ts';

/** A key that signs. */
export interface SigningKey {
  /** 64 hex digits: the SHA-256 of the public key as SPKI in DER. */
  readonly keyid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** A key that was used from `createdAt` until, not including, `retiredAt`; null where nothing is said. */
export interface PublicKey {
  readonly keyid: string;
  readonly publicKey: KeyObject;
  readonly createdAt: Date | null;
  readonly retiredAt: Date | null;
}
export type PublicKeys = readonly PublicKey[];

/** An Ed25519 private key in PEM (PKCS #8). Throws EVIDENCE_KEY_UNREADABLE. */
export function parseSigningKey(pem: string): SigningKey {
  const privateKey = reading(() => createPrivateKey(pem));
  const publicKey = createPublicKey(privateKey);
  return { keyid: keyidOf(publicKey), privateKey, publicKey };
}

/** One Ed25519 public key in PEM, or a document of `toPublicKeysText`. Throws EVIDENCE_KEY_UNREADABLE. */
export function parsePublicKeys(text: string): PublicKeys {
  if (text.trimStart().startsWith('{')) return parseDocument(text);
  // From a private key a public one can be had too, which nobody would want to hand to others by mistake.
  if (text.includes('PRIVATE KEY')) throw unreadable('a private key');
  const publicKey = reading(() => createPublicKey(text));
  return [{ keyid: keyidOf(publicKey), publicKey, createdAt: null, retiredAt: null }];
}

const JwkSchema = z.strictObject({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  alg: z.literal('EdDSA'),
  use: z.literal('sig'),
  kid: z.string().regex(/^[0-9a-f]{64}$/),
  created: z.iso.datetime({ precision: 3 }),
  /** Null for the key in use. */
  retired: z.iso.datetime({ precision: 3 }).nullable(),
});
/** More than any signer comes to: one that makes a key at every start has restarted twenty times a day for a year. */
const KEYS_MAX = 8_192;
/** A JWK Set (RFC 7517, RFC 8037), the oldest key first. */
export const PublicKeysSchema = z.strictObject({ keys: z.array(JwkSchema).min(1).max(KEYS_MAX) });
export type PublicKeysDocument = z.infer<typeof PublicKeysSchema>;

/** What stands at /.well-known/kervyxa-keys.json. The keys must have a `createdAt`. */
export function toPublicKeysDocument(keys: PublicKeys): PublicKeysDocument {
  return PublicKeysSchema.parse({
    keys: keys.map(({ keyid, publicKey, createdAt, retiredAt }) => ({
      kty: 'OKP',
      crv: 'Ed25519',
      x: publicKey.export({ format: 'jwk' }).x,
      alg: 'EdDSA',
      use: 'sig',
      kid: keyid,
      created: createdAt?.toISOString(),
      retired: retiredAt?.toISOString() ?? null,
    })),
  });
}

function parseDocument(text: string): PublicKeys {
  const parsed = PublicKeysSchema.safeParse(parseJson(text));
  if (!parsed.success) throw unreadable('a document that is no set of Ed25519 keys');
  return parsed.data.keys.map(({ kty, crv, x, kid, created, retired }) => {
    const publicKey = reading(() => createPublicKey({ key: { kty, crv, x }, format: 'jwk' }));
    const keyid = keyidOf(publicKey);
    if (keyid !== kid) throw unreadable('a key under the name of another');
    return {
      keyid,
      publicKey,
      createdAt: new Date(created),
      retiredAt: retired === null ? null : new Date(retired),
    };
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unreadable('something else than JSON', cause);
  }
}

/** The public key in PEM (SPKI), as `openssl pkey -pubin` reads it. */
export function toPublicPem({ publicKey }: Pick<PublicKey, 'publicKey'>): string {
  return publicKey.export({ type: 'spki', format: 'pem' }).toString();
}

function keyidOf(publicKey: KeyObject): string {
  if (publicKey.asymmetricKeyType !== 'ed25519') {
    throw unreadable(`a key of type ${publicKey.asymmetricKeyType ?? 'unknown'}`);
  }
  return sha256Hex(publicKey.export({ type: 'spki', format: 'der' }));
}

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw unreadable('something that is no key', cause);
  }
}

function unreadable(got: string, cause?: unknown): Error {
  return evidenceError('EVIDENCE_KEY_UNREADABLE', {
    message: `expected an Ed25519 key, got ${got}`,
    fix: 'give a public key in PEM, what "kervyxa keys show --json" prints, or what a daemon serves at /.well-known/kervyxa-keys.json',
    cause,
  });
}
