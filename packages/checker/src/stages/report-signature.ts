import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { canonicalJson } from '@kervyxa/core';
import { checkerError } from '../errors.ts';
import type { ExternalReport } from './check-command.ts';

/** What an external system says, about which stage of which check. */
export interface ReportStatement {
  readonly checkId: string;
  readonly stage: string;
  readonly system: string;
  readonly report: ExternalReport;
}

/** The bytes that a system signs: RFC 8785 JSON, which names what it is, so that it is nothing else. */
export function reportBytes({ checkId, stage, system, report }: ReportStatement): Uint8Array {
  const statement = {
    schema: 'kervyxa.external-report.v1',
    check_id: checkId,
    stage_key: stage,
    external_system: system,
    ...report,
  };
  return new TextEncoder().encode(canonicalJson(statement));
}

/** Whether an Ed25519 key signed a report; `signature` is base64. */
export function isSignedBy(
  statement: ReportStatement,
  signature: string,
  publicKeyPem: string,
): boolean {
  const bytes = Buffer.from(signature, 'base64');
  // One form of each signature: what a lenient reader skips could be anything.
  if (bytes.toString('base64') !== signature) return false;
  return verify(null, reportBytes(statement), createPublicKey(publicKeyPem), bytes);
}

/** A registered key: PEM as we keep it, and its fingerprint, 64 hex digits. Throws CHECKER_KEY_REFUSED. */
export function parsePartnerKey(pem: string): {
  readonly pem: string;
  readonly fingerprint: string;
} {
  const key = readKey(pem);
  if (key?.asymmetricKeyType !== 'ed25519' || key.type !== 'public')
    throw checkerError('CHECKER_KEY_REFUSED', {
      message: `expected the PEM of an Ed25519 public key, got ${key?.asymmetricKeyType ?? 'something else'}`,
    });
  const der = key.export({ type: 'spki', format: 'der' });
  const fingerprint = createHash('sha256').update(der).digest('hex');
  return { pem: key.export({ type: 'spki', format: 'pem' }).toString(), fingerprint };
}

function readKey(pem: string): KeyObject | null {
  // A private key would be read too, as its public half; whoever sends one is told, not helped.
  if (pem.includes('PRIVATE KEY')) return null;
  try {
    return createPublicKey(pem);
  } catch (cause) {
    throw checkerError('CHECKER_KEY_REFUSED', {
      message: 'expected the PEM of an Ed25519 public key, got text that is none',
      cause,
    });
  }
}
