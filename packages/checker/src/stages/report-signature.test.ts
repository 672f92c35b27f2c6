import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isSignedBy, parsePartnerKey, reportBytes } from './report-signature.ts';
import { newId } from './testing/stage-bench.ts';

const pemOf = (key: ReturnType<typeof generateKeyPairSync>['publicKey']) =>
  key.export({ type: 'spki', format: 'pem' }).toString();
const PARTNER = generateKeyPairSync('ed25519');
const PEM = pemOf(PARTNER.publicKey);
const STATEMENT = {
  checkId: newId('check'),
  stage: 'deposit',
  system: 'Open Reaction Database',
  report: { result: 'verified', statement: null, evidence: { b: 1, a: [2] } },
} as const;
const SIGNATURE = sign(null, reportBytes(STATEMENT), PARTNER.privateKey).toString('base64');

// Keeps R-REPORT-SIGNED.
describe("a partner's signature", () => {
  it('is over the canonical JSON of all that is said, and of what it is about', () => {
    expect(new TextDecoder().decode(reportBytes(STATEMENT))).toBe(
      `{"check_id":"${STATEMENT.checkId}","evidence":{"a":[2],"b":1},"external_system":"Open Reaction Database","result":"verified","schema":"kervyxa.external-report.v1","stage_key":"deposit","statement":null}`,
    );
    expect(isSignedBy(STATEMENT, SIGNATURE, PEM)).toBe(true);
  });

  it.each([
    ['of another check', { checkId: newId('check') }],
    ['of another stage', { stage: 'yield' }],
    ['by another system', { system: 'Open Reaction Database ' }],
    ['with another judgment', { report: { ...STATEMENT.report, result: 'refuted' } }],
    ['with other evidence', { report: { ...STATEMENT.report, evidence: { a: [3], b: 1 } } }],
    ['with another word', { report: { ...STATEMENT.report, statement: '' } }],
  ] as const)('is not good for a report %s', (_, change) => {
    expect(isSignedBy({ ...STATEMENT, ...change }, SIGNATURE, PEM)).toBe(false);
  });

  it.each(['', 'AAAA', '!', SIGNATURE.slice(4), `${SIGNATURE}AAAA`])(
    'is not good in another form: %#',
    (signature) => {
      expect(isSignedBy(STATEMENT, signature, PEM)).toBe(false);
    },
  );

  it('is not good by another key', () => {
    const other = pemOf(generateKeyPairSync('ed25519').publicKey);
    expect(isSignedBy(STATEMENT, SIGNATURE, other)).toBe(false);
  });
});

describe("a partner's key", () => {
  it('has a fingerprint that does not depend on how its PEM is laid out', () => {
    const { fingerprint, pem } = parsePartnerKey(`\n${PEM.replaceAll('\n', '\r\n')}\n`);
    expect(pem).toBe(PEM);
    expect(fingerprint).toBe(parsePartnerKey(PEM).fingerprint);
    expect(fingerprint).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each([
    ['text that is no key', 'ssh-ed25519 AAAA'],
    ['a key of another kind', pemOf(generateKeyPairSync('x25519').publicKey)],
    [
      'a private key, which nobody should send',
      PARTNER.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    ],
  ])('is not %s', (_, pem) => {
    expect(() => parsePartnerKey(pem)).toThrow(
      expect.objectContaining({ code: 'CHECKER_KEY_REFUSED' }),
    );
  });
});
