import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { canonicalJson } from '@kervyxa/core';
import { dsse } from '@sigstore/core';
import { beforeAll, describe, expect, it } from 'vitest';
import { toRunEvidence } from '../bundle/run-evidence.ts';
import {
  COMMIT,
  createKey,
  REPOSITORY_URL,
  sampleContract,
  sampleInput,
  sampleResult,
  TREE,
  VERIFIED_AT,
  VERIFIER_ID,
} from '../testing/sample-run.ts';
import { PAYLOAD_TYPE, signStatement, verifyEnvelope } from './envelope.ts';
import type { PublicKey, SigningKey } from './keys.ts';
import type { Statement } from './statement.ts';

let key: SigningKey;
let statement: Statement;
let envelope: string;
beforeAll(() => {
  key = createKey();
  ({ statement } = toRunEvidence(sampleInput('full')));
  envelope = signStatement(statement, key);
});

const keyOf = (more: Partial<PublicKey> = {}): PublicKey => ({
  keyid: key.keyid,
  publicKey: key.publicKey,
  createdAt: null,
  retiredAt: null,
  ...more,
});
const verified = (text: string | Uint8Array, keys = [keyOf()]) =>
  verifyEnvelope(Buffer.from(text), keys);
const refusal = (code: string) => expect.objectContaining({ code });

/** An envelope as somebody with the key might make it, whatever is in it. */
function signAnything(payload: string | Uint8Array, payloadType = PAYLOAD_TYPE): string {
  const bytes = Buffer.from(payload);
  const sig = sign(null, dsse.preAuthEncoding(payloadType, bytes), key.privateKey);
  return canonicalJson({
    payload: bytes.toString('base64'),
    payloadType,
    signatures: [{ keyid: key.keyid, sig: sig.toString('base64') }],
  });
}

// Keeps R-EVIDENCE-SIGNED.
describe('an attestation', () => {
  it('is verified with the key that signed it, and is the same each time that it is signed', () => {
    expect(verified(envelope)).toEqual({ statement, key: keyOf() });
    expect(signStatement(statement, key)).toBe(envelope);
    expect(signAnything(canonicalJson(statement))).toBe(envelope);
  });

  it('is about the commit and its tree, in the repository, under the contract', () => {
    const contract = sampleContract();
    const policyDigest = sampleResult(contract).contractDigest;
    const all = { policyDigest, verifierId: VERIFIER_ID, resourceUri: REPOSITORY_URL };
    for (const subject of [COMMIT, TREE]) {
      const expected = { ...all, subject };
      expect(verifyEnvelope(Buffer.from(envelope), [keyOf()], expected).statement).toEqual(
        statement,
      );
    }
  });

  it.each([
    ['commit or tree', { subject: '1'.repeat(40) }, 'EVIDENCE_SUBJECT_MISMATCH'],
    ['contract', { policyDigest: `sha256:${'1'.repeat(64)}` }, 'EVIDENCE_POLICY_MISMATCH'],
    ['verifier', { verifierId: `${VERIFIER_ID}2` }, 'EVIDENCE_VERIFIER_MISMATCH'],
    ['repository', { resourceUri: 'https://evil.example/r.git' }, 'EVIDENCE_RESOURCE_MISMATCH'],
  ])('E05 the signature is good, but over another %s: refused', (_, expected, code) => {
    expect(() => verifyEnvelope(Buffer.from(envelope), [keyOf()], expected)).toThrow(refusal(code));
  });

  it('half a name of a subject names nothing', () => {
    for (const subject of [COMMIT.slice(1), COMMIT.toUpperCase(), '', 'commit']) {
      expect(() => verifyEnvelope(Buffer.from(envelope), [keyOf()], { subject })).toThrow(
        refusal('EVIDENCE_SUBJECT_MISMATCH'),
      );
    }
  });

  it('E06 tells of a time before its key was made, or after it was retired: refused', () => {
    const at = (ms: number) => new Date(VERIFIED_AT.getTime() + ms);
    expect(verified(envelope, [keyOf({ createdAt: at(0), retiredAt: at(1) })])).toBeTruthy();
    for (const life of [
      { createdAt: at(1), retiredAt: null },
      { createdAt: at(-9), retiredAt: at(0) },
    ]) {
      expect(() => verified(envelope, [keyOf(life)])).toThrow(refusal('EVIDENCE_TIME_REFUSED'));
    }
  });

  it('E04 is signed with a key that nobody trusts: refused, whatever it calls itself', () => {
    const other = createKey();
    expect(() => verified(envelope, [{ ...keyOf(), keyid: other.keyid }])).toThrow(
      refusal('EVIDENCE_KEY_UNKNOWN'),
    );
    const forged = signStatement(statement, { ...other, keyid: key.keyid });
    expect(() => verified(forged)).toThrow(refusal('EVIDENCE_SIGNATURE_REFUSED'));
  });

  it('says another thing than what was signed: refused', () => {
    const { payload, ...rest } = JSON.parse(envelope);
    const told = Buffer.from(payload, 'base64').toString().replace('"PASS"', '"FAIL"');
    const changed = canonicalJson({ ...rest, payload: Buffer.from(told).toString('base64') });
    expect(() => verified(changed)).toThrow(refusal('EVIDENCE_SIGNATURE_REFUSED'));
  });

  it('E09 is signed as something else: the type is signed with it', () => {
    const other = 'application/vnd.in-toto.provenance+json';
    const relabelled = signAnything(canonicalJson(statement), other).replace(other, PAYLOAD_TYPE);
    expect(() => verified(relabelled)).toThrow(refusal('EVIDENCE_SIGNATURE_REFUSED'));
    expect(() => verified(signAnything(canonicalJson(statement), other))).toThrow(
      refusal('EVIDENCE_ENVELOPE_MALFORMED'),
    );
  });

  it.each<[string, (text: string) => string]>([
    ['two signatures', (text) => text.replace(/"signatures":\[(.*)\]/, '"signatures":[$1,$1]')],
    ['no signature', (text) => text.replace(/"signatures":\[.*\]/, '"signatures":[]')],
    ['a name twice', (text) => text.replace('{', '{"payload":"e30=",')],
    ['a name twice, spelled in two ways', (text) => text.replace('{', '{"p\\u0061yload":"e30=",')],
    ['a space', (text) => text.replace(':', ': ')],
    ['a newline at the end', (text) => `${text}\n`],
    ['a mark in front', (text) => `\ufeff${text}`],
    ['names in another order', (text) => canonicalReversed(text)],
    ['one more field', (text) => text.replace('{', '{"note":1,')],
    ['base64 of another alphabet', (text) => text.replace(/"sig":"/, '"sig":"-')],
    ['base64 without padding', (text) => text.replace('=="}]', '"}]')],
    ['base64 with idle bits', (text) => text.replace(/[AQgw]==("}\])/, 'B==$1')],
    ['a signature that is too short', (text) => text.replace(/"sig":"[^"]+"/, '"sig":"AAAA"')],
    ['nothing', () => ''],
    ['JSON that is no envelope', () => '[]'],
    ['a nest without an end', () => '['.repeat(100_000)],
  ])('E09 has %s: refused as no envelope', (_, change) => {
    const changed = change(envelope);
    expect(changed).not.toBe(envelope);
    expect(() => verified(changed)).toThrow(refusal('EVIDENCE_ENVELOPE_MALFORMED'));
  });

  it('bytes that are no text, or too many: refused', () => {
    for (const bytes of [Buffer.from([0xff, 0xfe]), Buffer.alloc(2_000_000, ' ')]) {
      expect(() => verified(bytes)).toThrow(refusal('EVIDENCE_ENVELOPE_MALFORMED'));
    }
  });

  it.each<[string, (given: Statement) => unknown]>([
    [
      'another predicate',
      (given) => ({ ...given, predicateType: 'https://slsa.dev/provenance/v1' }),
    ],
    ['another type', (given) => ({ ...given, _type: 'https://in-toto.io/Statement/v0.1' })],
    ['no subject', (given) => ({ ...given, subject: [] })],
    ['a field that nobody knows', (given) => ({ ...given, more: 1 })],
    ['PASSED for a FAIL', (given) => withOutcome(given, { verdict: 'FAIL', reason: 'CRASHED' })],
    ['a PASS with a reason', (given) => withOutcome(given, { reason: 'CRASHED' })],
    ['another level', (given) => withPredicate(given, { verifiedLevels: ['SLSA_BUILD_LEVEL_3'] })],
    ['a time that is none', (given) => withPredicate(given, { timeVerified: 'now' })],
    ['nothing', () => ({})],
  ])('the key signs a statement with %s: refused', (_, change) => {
    const text = canonicalJson(change(statement));
    expect(() => verified(signAnything(text))).toThrow(refusal('EVIDENCE_STATEMENT_MALFORMED'));
  });

  it('the key signs a statement that is not in its one form: refused', () => {
    const text = canonicalJson(statement);
    const half = JSON.stringify('\ud800');
    for (const payload of [
      `${text} `,
      text.replace('{', '{"_type":"x",'),
      half,
      Buffer.from([0xff]),
    ]) {
      expect(() => verified(signAnything(payload))).toThrow(
        refusal('EVIDENCE_STATEMENT_MALFORMED'),
      );
    }
  });

  it('says FAILED for every verdict but PASS, as the summary specification wants it', () => {
    const contract = sampleContract();
    for (const verdict of ['FAIL', 'INCONCLUSIVE', 'ERROR'] as const) {
      const reasons = [{ code: 'INTERNAL' as const, message: 'm', subject: null }];
      const result = sampleResult(contract, { verdict, reasons });
      const { predicate } = toRunEvidence(sampleInput('full', { contract, result })).statement;
      expect(predicate).toMatchObject({
        verificationResult: 'FAILED',
        verifiedLevels: ['FAILED'],
        'urn:kervyxa:attestation:v1': { verdict, reason: 'INTERNAL' },
      });
    }
    expect(statement.predicate).toMatchObject({ verificationResult: 'PASSED', verifiedLevels: [] });
  });

  it('has no tree for a commit that could not be had', () => {
    const contract = sampleContract();
    const reasons = [{ code: 'COMMIT_NOT_FOUND' as const, message: 'm', subject: null }];
    const result = sampleResult(contract, { verdict: 'INCONCLUSIVE', tree: null, reasons });
    const { subject } = toRunEvidence(sampleInput('full', { contract, result })).statement;
    expect(subject).toEqual([{ name: 'commit', digest: { gitCommit: COMMIT } }]);
  });
});

/** https://github.com/secure-systems-lab/dsse, protocol.md, "Test Vectors". */
describe('the pre-authentication encoding', () => {
  const type = 'http://example.com/HelloWorld';
  const encoded = dsse.preAuthEncoding(type, Buffer.from('hello world'));

  it('is that of the published example', () => {
    expect(encoded.toString()).toBe('DSSEv1 29 http://example.com/HelloWorld 11 hello world');
  });

  it('is what the published signature is over', () => {
    const coordinate = (decimal: string) =>
      Buffer.from(BigInt(decimal).toString(16).padStart(64, '0'), 'hex').toString('base64url');
    const x = '46950820868899156662930047687818585632848591499744589407958293238635476079160';
    const y = '5640078356564379163099075877009565129882514886557779369047442380624545832820';
    const publicKey = createPublicKey({
      key: { kty: 'EC', crv: 'P-256', x: coordinate(x), y: coordinate(y) },
      format: 'jwk',
    });
    const sig = Buffer.from(
      'A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJPcIAriEGAHTVeCUjW2JIZA==',
      'base64',
    );
    const options = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
    expect(verify('sha256', encoded, options, sig)).toBe(true);
    expect(verify('sha256', Buffer.from('hello world'), options, sig)).toBe(false);
  });
});

// What we leave to node:crypto, seen to be so.
describe('Ed25519 of node', () => {
  /** RFC 8032, 7.1, test 2. */
  it('verifies a published signature', () => {
    const x = '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c';
    const sig =
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da' +
      '085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00';
    const publicKey = toEd25519(x);
    expect(verify(null, Buffer.from('72', 'hex'), publicKey, Buffer.from(sig, 'hex'))).toBe(true);
  });

  it('E09 a signature is written in a second way, with S + L: refused', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const message = Buffer.from('message');
    const sig = sign(null, message, privateKey);
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const scalar = BigInt(`0x${Buffer.from(sig.subarray(32).toReversed()).toString('hex')}`);
    const again = Buffer.from((scalar + order).toString(16).padStart(64, '0'), 'hex').toReversed();
    const second = Buffer.concat([sig.subarray(0, 32), again]);
    expect(verify(null, message, publicKey, sig)).toBe(true);
    expect(verify(null, message, publicKey, second)).toBe(false);
  });

  it('a key of small order would sign every message alike: nothing is verified with it', () => {
    const identity = `01${'00'.repeat(31)}`;
    const minusOne = `ec${'ff'.repeat(30)}7f`;
    for (const x of [identity, minusOne]) {
      const forged = Buffer.concat([Buffer.from(identity, 'hex'), Buffer.alloc(32)]);
      const taken = Array.from({ length: 16 }, (_, index) =>
        verify(null, Buffer.from(`message ${index}`), toEd25519(x), forged),
      );
      expect(taken).not.toContain(true);
    }
  });
});

function toEd25519(hex: string) {
  const x = Buffer.from(hex, 'hex').toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}

function canonicalReversed(text: string): string {
  return JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text)).toReversed()));
}

function withPredicate(given: Statement, more: object) {
  return { ...given, predicate: { ...given.predicate, ...more } };
}

function withOutcome(given: Statement, more: object) {
  const name = 'urn:kervyxa:attestation:v1';
  return withPredicate(given, { [name]: { ...given.predicate[name], ...more } });
}
