import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** RFC 8785 canonical JSON text. Refuses what JSON can't hold (undefined at the root, NaN, infinities). */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('expected a JSON value, got undefined');
  return text;
}

/** 64 lower-case hex digits. */
export function sha256Hex(bytes: string | Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

/** `sha256:` and the digest of the value's canonical JSON. */
export function canonicalDigest(value: unknown): `sha256:${string}` {
  return `sha256:${sha256Hex(canonicalJson(value))}`;
}
