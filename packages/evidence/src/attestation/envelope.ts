import { sign, verify } from 'node:crypto';
import { canonicalJson, toPrintable } from '@kervyxa/core';
import { dsse } from '@sigstore/core';
import { z } from 'zod';
import { parseCanonical } from '../canonical-text.ts';
import { evidenceError } from '../errors.ts';
import type { PublicKey, PublicKeys, SigningKey } from './keys.ts';
import { StatementSchema, type Statement } from './statement.ts';

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json';
/** A statement about a commit has some kilobytes. */
const ENVELOPE_BYTES_MAX = 1_048_576;
const SIGNATURE_BYTES = 64;

/**
 * DSSE v1 (https://github.com/secure-systems-lab/dsse, envelope.md), narrowed to one form: one signature, a key that is
 * named, standard base64 with padding, and as a whole RFC 8785 text. So one statement and key have one envelope.
 */
const EnvelopeSchema = z.strictObject({
  payload: z.base64(),
  payloadType: z.literal(PAYLOAD_TYPE),
  signatures: z
    .array(z.strictObject({ keyid: z.string().regex(/^[0-9a-f]{64}$/), sig: z.base64() }))
    .length(1),
});

/** What somebody wants an attestation to be about; what is left out may be anything. */
export interface Expectations {
  /** 40 hex digits of the commit or of its tree; or the 64 of any other subject. */
  readonly subject?: string;
  /** `sha256:` and the digest of the contract. */
  readonly policyDigest?: string;
  readonly verifierId?: string;
  readonly resourceUri?: string;
}

export interface VerifiedEnvelope {
  readonly statement: Statement;
  readonly key: PublicKey;
}

/** The one envelope of a statement and a key, as text; Ed25519 draws no lots. */
export function signStatement(statement: Statement, { keyid, privateKey }: SigningKey): string {
  const payload = Buffer.from(canonicalJson(statement));
  const sig = sign(null, dsse.preAuthEncoding(PAYLOAD_TYPE, payload), privateKey);
  return canonicalJson({
    payload: payload.toString('base64'),
    payloadType: PAYLOAD_TYPE,
    signatures: [{ keyid, sig: sig.toString('base64') }],
  });
}

/**
 * 1. The envelope is the one form of its content, to the byte.
 * 2. Its signature is one of a key that was given.
 * 3. What was signed is a statement of ours, in the one form of its content.
 * 4. It tells of a time at which that key was in use.
 * 5. It is about what was expected.
 *
 * Only what was signed is looked at, and only after its signature was. Throws EVIDENCE_ENVELOPE_MALFORMED,
 * EVIDENCE_KEY_UNKNOWN, EVIDENCE_SIGNATURE_REFUSED, EVIDENCE_STATEMENT_MALFORMED, EVIDENCE_TIME_REFUSED,
 * EVIDENCE_SUBJECT_MISMATCH, EVIDENCE_POLICY_MISMATCH, EVIDENCE_VERIFIER_MISMATCH, EVIDENCE_RESOURCE_MISMATCH.
 */
export function verifyEnvelope(
  bytes: Uint8Array,
  keys: PublicKeys,
  expected: Expectations = {},
): VerifiedEnvelope {
  const { payload, keyid, signature } = parseEnvelope(bytes);
  const key = verifySignature(payload, { keyid, signature }, keys);
  const statement = parseStatement(payload);
  assertKeyInUse(statement, key);
  assertExpected(statement, expected);
  return { statement, key };
}

function parseEnvelope(bytes: Uint8Array): {
  readonly payload: Buffer;
  readonly keyid: string;
  readonly signature: Buffer;
} {
  if (bytes.length > ENVELOPE_BYTES_MAX) {
    throw malformedEnvelope(`more than ${ENVELOPE_BYTES_MAX} bytes`);
  }
  const parsed = EnvelopeSchema.safeParse(parseCanonical(bytes));
  const [named] = parsed.data?.signatures ?? [];
  if (!parsed.success || named === undefined) {
    throw malformedEnvelope('something else, or more than one signature');
  }
  const payload = Buffer.from(parsed.data.payload, 'base64');
  const signature = Buffer.from(named.sig, 'base64');
  // The last digit before the padding may carry bits that decoding drops.
  if (payload.toString('base64') !== parsed.data.payload) throw malformedEnvelope('loose base64');
  if (signature.toString('base64') !== named.sig) throw malformedEnvelope('loose base64');
  if (signature.length !== SIGNATURE_BYTES) {
    throw malformedEnvelope(`a signature of ${signature.length} bytes`);
  }
  return { payload, keyid: named.keyid, signature };
}

function verifySignature(
  payload: Buffer,
  { keyid, signature }: { readonly keyid: string; readonly signature: Buffer },
  keys: PublicKeys,
): PublicKey {
  const key = keys.find((each) => each.keyid === keyid);
  if (key === undefined) {
    throw evidenceError('EVIDENCE_KEY_UNKNOWN', {
      message: `expected a signature of one of ${keys.length} keys, got one of ${keyid}`,
      fix: 'give the key of the verifier that you trust; a rotated one stands in its list of keys',
    });
  }
  const signed = dsse.preAuthEncoding(PAYLOAD_TYPE, payload);
  if (verify(null, signed, key.publicKey, signature)) return key;
  throw evidenceError('EVIDENCE_SIGNATURE_REFUSED', {
    message: `expected a signature of ${keyid} over what is there, got another`,
    fix: 'take the attestation from where it was made; this one was changed or made up',
  });
}

function parseStatement(payload: Buffer): Statement {
  const parsed = StatementSchema.safeParse(parseCanonical(payload));
  if (parsed.success) return parsed.data;
  throw evidenceError('EVIDENCE_STATEMENT_MALFORMED', {
    message: `expected a verification summary, got a problem at "${parsed.error.issues[0]?.path.join('.') ?? ''}"`,
    fix: 'give an attestation that kervyxa made',
  });
}

function assertKeyInUse(
  { predicate }: Statement,
  { createdAt, retiredAt, keyid }: PublicKey,
): void {
  const at = Date.parse(predicate.timeVerified);
  const isInUse =
    (createdAt === null || at >= createdAt.getTime()) &&
    (retiredAt === null || at < retiredAt.getTime());
  if (isInUse) return;
  const from = createdAt?.toISOString() ?? 'ever';
  const until = retiredAt?.toISOString() ?? 'now';
  throw evidenceError('EVIDENCE_TIME_REFUSED', {
    message: `expected a time between ${from} and ${until}, when ${keyid} was in use, got ${predicate.timeVerified}`,
    fix: 'ask the verifier: a key that is no longer in its hands signs what it likes',
  });
}

function assertExpected(
  { subject, predicate }: Statement,
  { subject: id, policyDigest, verifierId, resourceUri }: Expectations,
): void {
  const ids = subject.flatMap(({ digest }) => Object.values(digest));
  if (id !== undefined && !ids.includes(id)) {
    throw mismatch('EVIDENCE_SUBJECT_MISMATCH', 'the subject', id, ids.join(' and '));
  }
  const policy = `sha256:${predicate.policy.digest.sha256}`;
  if (policyDigest !== undefined && policy !== policyDigest) {
    throw mismatch('EVIDENCE_POLICY_MISMATCH', 'the contract', policyDigest, policy);
  }
  if (verifierId !== undefined && predicate.verifier.id !== verifierId) {
    throw mismatch('EVIDENCE_VERIFIER_MISMATCH', 'the verifier', verifierId, predicate.verifier.id);
  }
  if (resourceUri !== undefined && predicate.resourceUri !== resourceUri) {
    throw mismatch(
      'EVIDENCE_RESOURCE_MISMATCH',
      'the repository',
      resourceUri,
      predicate.resourceUri,
    );
  }
}

function mismatch(
  code: Extract<
    Parameters<typeof evidenceError>[0],
    | 'EVIDENCE_SUBJECT_MISMATCH'
    | 'EVIDENCE_POLICY_MISMATCH'
    | 'EVIDENCE_VERIFIER_MISMATCH'
    | 'EVIDENCE_RESOURCE_MISMATCH'
  >,
  what: string,
  wanted: string,
  got: string,
): Error {
  return evidenceError(code, {
    message: `expected ${what} ${toPrintable(wanted, 300)}, got ${toPrintable(got, 300)}`,
    fix: 'the signature is good, but over something else than you asked about: ask for that one',
  });
}

function malformedEnvelope(got: string): Error {
  return evidenceError('EVIDENCE_ENVELOPE_MALFORMED', {
    message: `expected a DSSE envelope with one signature, in the one form that kervyxa writes, got ${got}`,
    fix: 'give attestation.json as it was left, not printed anew by another program',
  });
}
