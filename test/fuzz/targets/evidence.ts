import { deepEqual, ok } from 'node:assert/strict';
import { createPrivateKey, sign } from 'node:crypto';
import { canonicalJson } from '@kervyxa/core';
import {
  EvaluationRecordSchema,
  parsePublicKeys,
  parseSigningKey,
  readBundle,
  signStatement,
  toPublicKeysDocument,
  toPublicPem,
  toRunEvidence,
  verifyEnvelope,
} from '@kervyxa/evidence';
import * as fc from 'fast-check';
import { sampleBundle, sampleInput } from '../../../packages/evidence/src/testing/sample-run.ts';
import { edited, mutated } from '../arbitraries.ts';
import { writeCanonically } from '../naive-json.ts';
import { answerOf, defineTarget } from '../target.ts';

// Always the same one (RFC 8032, 7.1, test 1), so that an input that broke a reader breaks it again.
const KEY = parseSigningKey(
  createPrivateKey({
    key: {
      kty: 'OKP',
      crv: 'Ed25519',
      d: Buffer.from(
        '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
        'hex',
      ).toString('base64url'),
      x: Buffer.from(
        'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
        'hex',
      ).toString('base64url'),
    },
    format: 'jwk',
  })
    .export({ type: 'pkcs8', format: 'pem' })
    .toString(),
);
const KEYS = parsePublicKeys(toPublicPem(KEY));
const INPUT = sampleInput('full');
const { statement: STATEMENT, evaluation: EVALUATION } = toRunEvidence(INPUT);
const ENVELOPE = Buffer.from(signStatement(STATEMENT, KEY));
const BUNDLE = await sampleBundle(INPUT, KEY);

export const envelopeTarget = defineTarget('attestation', {
  input: edited(fc.constant(ENVELOPE)),
  async holds(bytes) {
    const answer = await answerOf(() => verifyEnvelope(bytes, KEYS));
    // The signer has signed one thing: these bytes are it, or they are refused.
    deepEqual('value' in answer, ENVELOPE.equals(bytes));
  },
});

export const statementTarget = defineTarget('statement under a good signature', {
  input: mutated(STATEMENT).map((value) => JSON.stringify(value) ?? ''),
  async holds(text) {
    const type = 'application/vnd.in-toto+json';
    const signed = Buffer.from(`DSSEv1 28 ${type} ${Buffer.byteLength(text)} ${text}`);
    const envelope = canonicalJson({
      payload: Buffer.from(text).toString('base64'),
      payloadType: type,
      signatures: [
        { keyid: KEY.keyid, sig: sign(null, signed, KEY.privateKey).toString('base64') },
      ],
    });
    const answer = await answerOf(() => verifyEnvelope(Buffer.from(envelope), KEYS));
    if ('refused' in answer) return;
    const { predicate } = answer.value.statement;
    deepEqual(writeCanonically(answer.value.statement), text);
    const isPass = predicate['urn:kervyxa:attestation:v1'].verdict === 'PASS';
    deepEqual(predicate.verificationResult, isPass ? 'PASSED' : 'FAILED');
  },
});

export const evidenceTarget = defineTarget('evidence bundle', {
  input: fc.tuple(edited(fc.constant(BUNDLE)), fc.integer({ min: 1, max: 2_000 })),
  async holds([bytes, size]) {
    const pieces = async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    };
    const answer = await answerOf(() => readBundle(pieces(), { keys: KEYS }));
    deepEqual('value' in answer, BUNDLE.equals(bytes));
  },
});

export const evaluationTarget = defineTarget('evaluation record', {
  input: mutated(EVALUATION),
  holds(document) {
    const parsed = EvaluationRecordSchema.safeParse(document);
    if (!parsed.success) return;
    deepEqual(writeCanonically(parsed.data), writeCanonically(document));
    const { passed, checks } = parsed.data;
    if (!passed) return;
    ok(checks.length > 0 && checks.every(({ status }) => status === 'passed'));
    ok(parsed.data['refusal/code'] === undefined);
  },
});

const DOCUMENT = toPublicKeysDocument([
  { ...KEY, createdAt: new Date(0), retiredAt: null },
  { ...KEY, createdAt: new Date(0), retiredAt: new Date(1) },
]);

export const publicKeysTarget = defineTarget('list of public keys', {
  input: fc.oneof(
    mutated(DOCUMENT).map((value) => JSON.stringify(value) ?? ''),
    edited(fc.constant(Buffer.from(toPublicPem(KEY)))).map((bytes) =>
      Buffer.from(bytes).toString(),
    ),
    fc.json(),
  ),
  async holds(text) {
    const answer = await answerOf(() => parsePublicKeys(text));
    if ('refused' in answer) return;
    ok(answer.value.every(({ publicKey }) => publicKey.asymmetricKeyType === 'ed25519'));
    ok(answer.value.every(({ publicKey }) => publicKey.type === 'public'));
  },
});
