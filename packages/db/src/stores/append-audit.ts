import { type AuditFact, type AuditHead, linkEntry } from '../audit/chain.ts';
import { queryRows, runChange, type Sql, toJson } from './sql.ts';

/** The head of the audit log, locked until the transaction ends. */
export async function lockAudit(sql: Sql): Promise<AuditHead> {
  return takeHead(sql, 'SELECT seq, hash FROM audit_head WHERE id = 1 FOR UPDATE');
}

export async function loadAuditHead(sql: Sql): Promise<AuditHead> {
  return takeHead(sql, 'SELECT seq, hash FROM audit_head WHERE id = 1');
}

/**
 * Writes what happened into the audit log, in the transaction in which it happens; answers the new head. The head stays
 * locked until then, and is the last lock that a transaction takes: after the contract's, the ledger's and a key's.
 */
export async function appendAudit(sql: Sql, fact: AuditFact): Promise<AuditHead> {
  const head = await lockAudit(sql);
  const [made] = await queryRows<{ at: Date; salt: string }>(
    sql,
    `SELECT date_trunc('milliseconds', clock_timestamp()) AS at, replace(gen_random_uuid()::text, '-', '') AS salt`,
  );
  if (made === undefined) throw new Error('expected the time of the database, got no row');
  const entry = linkEntry(head, fact, made);
  await runChange(
    sql,
    `INSERT INTO audit_log (seq, at, kind, subject, digest, facts, salt, prev_hash, hash)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      entry.seq,
      entry.at,
      entry.kind,
      entry.subject,
      entry.digest,
      toJson(entry.facts),
      entry.salt,
      entry.prevHash,
      entry.hash,
    ],
  );
  return { seq: entry.seq, hash: entry.hash };
}

async function takeHead(sql: Sql, text: string): Promise<AuditHead> {
  const [head] = await queryRows<AuditHead>(sql, text);
  if (head === undefined) throw new Error('expected the head of the audit log, got no row');
  return head;
}
