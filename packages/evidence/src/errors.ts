import { defineErrors } from '@kervyxa/core';

/** What is not as it must be: nothing of it is believed. */
const REFUSED = { fault: 'caller', retryable: false, httpStatus: 422, exitCode: 1 } as const;

const { table, create } = defineErrors({
  EVIDENCE_KEY_UNREADABLE: {
    fault: 'caller',
    retryable: false,
    httpStatus: 422,
    exitCode: 2,
    meaning: 'What was given as a key is no Ed25519 key in PEM, and no document of public keys.',
  },
  EVIDENCE_ENVELOPE_MALFORMED: {
    ...REFUSED,
    meaning: 'An attestation is no DSSE envelope as kervyxa writes it, to the byte.',
  },
  EVIDENCE_KEY_UNKNOWN: {
    ...REFUSED,
    meaning: 'An attestation names none of the keys that were given.',
  },
  EVIDENCE_SIGNATURE_REFUSED: {
    ...REFUSED,
    meaning: 'The signature of an attestation is not one over its bytes with the named key.',
  },
  EVIDENCE_STATEMENT_MALFORMED: {
    ...REFUSED,
    meaning: 'What was signed is no verification summary as kervyxa writes it.',
  },
  EVIDENCE_TIME_REFUSED: {
    ...REFUSED,
    meaning: 'An attestation tells of a time at which its key was not in use.',
  },
  EVIDENCE_SUBJECT_MISMATCH: {
    ...REFUSED,
    meaning: 'An attestation is about another commit or tree than the expected one.',
  },
  EVIDENCE_POLICY_MISMATCH: {
    ...REFUSED,
    meaning: 'An attestation tells of another contract than the expected one.',
  },
  EVIDENCE_VERIFIER_MISMATCH: {
    ...REFUSED,
    meaning: 'An attestation is by another verifier than the expected one.',
  },
  EVIDENCE_RESOURCE_MISMATCH: {
    ...REFUSED,
    meaning: 'An attestation is about another repository than the expected one.',
  },
  EVIDENCE_BUNDLE_REFUSED: {
    ...REFUSED,
    meaning: 'A bundle is not the one that its attestation was made for, to the byte.',
  },
});

export type EvidenceErrorCode = keyof typeof table;
export const EVIDENCE_ERRORS = table;
export const evidenceError = create;
