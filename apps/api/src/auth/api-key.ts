import { sha256Hex } from '@kervyxa/core';

const KEY_BYTES = 32;
const AUTHORIZATION = /^Bearer (kvx_[A-Za-z0-9_-]{43})$/i;

/** A new key: `kvx_` and 256 random bits. Shown once; only `hashOfKey` of it is ever stored. */
export function createApiKey(randomBytes: (count: number) => Uint8Array): string {
  return `kvx_${Buffer.from(randomBytes(KEY_BYTES)).toString('base64url')}`;
}

/** SHA-256, hex. No salt and no slow hash: 256 random bits can't be guessed, with or without it. */
export function hashOfKey(key: string): string {
  return sha256Hex(key);
}

/** The key of an Authorization header; null where there is none of the right form. */
export function readBearer(header: string | undefined): string | null {
  return header === undefined ? null : (AUTHORIZATION.exec(header)?.[1] ?? null);
}
