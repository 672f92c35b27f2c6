import { canonicalJson, sha256Hex } from '@kervyxa/core';

const VERSION = 'kervyxa.audit.v1';

/** What the audit log is about; its table knows the same kinds. */
export const AUDIT_KINDS = [
  'contract_proved',
  'verdict_sealed',
  'challenge_resolved',
  'escrow_resolved',
  'key_added',
  'key_retired',
  'checker_published',
  'checker_conformant',
  'check_recorded',
] as const;
export type AuditKind = (typeof AUDIT_KINDS)[number];

/** Something that happened, as it is to be remembered. */
export interface AuditFact {
  readonly kind: AuditKind;
  /** The id of what it is about. */
  readonly subject: string;
  /** `sha256:…` of what it is about. */
  readonly digest: string | null;
  /** Ids, words and digests besides. */
  readonly facts: Readonly<Record<string, string | null>>;
}

/** The last link of a chain. */
export interface AuditHead {
  readonly seq: bigint;
  /** 64 hex digits. */
  readonly hash: string;
}

export interface AuditEntry extends AuditFact {
  readonly seq: bigint;
  /** Database time, whole milliseconds. */
  readonly at: Date;
  /** 32 random hex digits: who knows a hash and all but a little of its entry must not find the rest by trying. */
  readonly salt: string;
  readonly prevHash: string;
  readonly hash: string;
}

/** The head of a log in which nothing is written yet. */
export const AUDIT_START: AuditHead = { seq: 0n, hash: '0'.repeat(64) };

/** The fact as the next entry. */
export function linkEntry(
  head: AuditHead,
  { kind, subject, digest, facts }: AuditFact,
  { at, salt }: { readonly at: Date; readonly salt: string },
): AuditEntry {
  const seq = head.seq + 1n;
  const entry = { seq, at, kind, subject, digest, facts, salt, prevHash: head.hash };
  return { ...entry, hash: hashOf(entry) };
}

/**
 * Walks entries in order of `seq`, beginning after `head`. The first break in words, or null and the new head: so a
 * long log can be walked page by page.
 */
export function checkEntries(
  entries: Iterable<AuditEntry>,
  head: AuditHead = AUDIT_START,
): { readonly problem: string | null; readonly head: AuditHead } {
  let last = head;
  for (const entry of entries) {
    const problem = problemOf(entry, last);
    if (problem !== null) return { problem: `entry ${entry.seq}: ${problem}`, head: last };
    last = { seq: entry.seq, hash: entry.hash };
  }
  return { problem: null, head: last };
}

function problemOf(entry: AuditEntry, last: AuditHead): string | null {
  if (entry.seq !== last.seq + 1n) return `expected number ${last.seq + 1n}`;
  if (entry.prevHash !== last.hash) return 'does not follow from the entry before it';
  if (entry.hash !== hashOf(entry)) return 'was changed';
  return null;
}

/** SHA-256 of the RFC 8785 bytes of the entry, the hash of the one before it included. docs/operations.md has the form. */
function hashOf({ seq, at, ...entry }: Omit<AuditEntry, 'hash'>): string {
  const { kind, subject, digest, facts, salt, prevHash } = entry;
  return sha256Hex(
    canonicalJson({
      schema: VERSION,
      seq: String(seq),
      at: at.toISOString(),
      kind,
      subject,
      digest,
      facts,
      salt,
      prevHash,
    }),
  );
}
