import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '@kervyxa/core';
import { createKey } from '../testing/sample-run.ts';
import { parsePublicKeys, parseSigningKey, toPublicKeysDocument, toPublicPem } from './keys.ts';

const key = createKey();
const UNREADABLE = expect.objectContaining({ code: 'EVIDENCE_KEY_UNREADABLE' });
const [CREATED, RETIRED] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-02-01T00:00:00Z')];

function toDocument() {
  const { keyid, publicKey } = key;
  return toPublicKeysDocument([{ keyid, publicKey, createdAt: CREATED, retiredAt: RETIRED }]);
}

// Keeps R-EVIDENCE-KEYS.
describe('a key', () => {
  it('is named by the digest of its public part', () => {
    expect(key.keyid).toBe(sha256Hex(key.publicKey.export({ type: 'spki', format: 'der' })));
  });

  it('is read from PEM, of which nothing says when it was in use', () => {
    const [read, ...rest] = parsePublicKeys(toPublicPem(key));
    expect(rest).toEqual([]);
    expect(read).toMatchObject({ keyid: key.keyid, createdAt: null, retiredAt: null });
  });

  it('is read from the public document, with the times of its use', () => {
    const document = toDocument();
    expect(document.keys[0]).toMatchObject({ kty: 'OKP', crv: 'Ed25519', kid: key.keyid });
    expect(parsePublicKeys(JSON.stringify(document))).toMatchObject([
      { keyid: key.keyid, createdAt: CREATED, retiredAt: RETIRED },
    ]);
  });

  it('is one of 8,192 in the public document, and no more', () => {
    const { keyid, publicKey } = key;
    const used = { keyid, publicKey, createdAt: CREATED, retiredAt: RETIRED };
    const many = Array.from({ length: 8_192 }, () => used);
    const text = JSON.stringify(toPublicKeysDocument(many));
    expect(parsePublicKeys(text)).toHaveLength(8_192);
    expect(() => toPublicKeysDocument([...many, used])).toThrow('8192');
  });

  it('stands in the public document under the name of another: refused', () => {
    const { keys } = toDocument();
    const document = { keys: [{ ...keys[0], kid: createKey().keyid }] };
    expect(() => parsePublicKeys(JSON.stringify(document))).toThrow(UNREADABLE);
  });

  it('a private key is given as a public one: refused, before it is handed on', () => {
    const pem = key.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    expect(() => parsePublicKeys(pem)).toThrow(UNREADABLE);
    const [jwk] = toDocument().keys;
    const document = { keys: [{ ...jwk, d: 'A'.repeat(43) }] };
    expect(() => parsePublicKeys(JSON.stringify(document))).toThrow(UNREADABLE);
  });

  it.each([
    ['RSA', generateKeyPairSync('rsa', { modulusLength: 1_024 })],
    ['P-256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['Ed448', generateKeyPairSync('ed448')],
    ['X25519', generateKeyPairSync('x25519')],
  ])('is of the type %s: refused', (_, { privateKey, publicKey }) => {
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    expect(() => parsePublicKeys(pem)).toThrow(UNREADABLE);
    const secret = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    expect(() => parseSigningKey(secret)).toThrow(UNREADABLE);
  });

  it.each(['', 'key', '{', '{}', '{"keys":[]}', '-----BEGIN PUBLIC KEY-----\n'])(
    'is not there: %j is refused',
    (text) => {
      expect(() => parsePublicKeys(text)).toThrow(UNREADABLE);
      expect(() => parseSigningKey(text)).toThrow(UNREADABLE);
    },
  );
});
