import { canonicalDigest } from '@kervyxa/core';
import { type AuditEntry, type AuditHead, AUDIT_START, checkEntries } from '../audit/chain.ts';
import type { Reads } from '../ports.ts';
import { loadAuditHead } from './append-audit.ts';
import type { Connections } from './in-transaction.ts';
import { toPage, toSlice } from './pages.ts';
import { queryRows, runChange, type Sql } from './sql.ts';

type AuditReads = Pick<Reads, 'auditHead' | 'listAudit' | 'checkAudit'>;

const WALK_PAGE = 1_000;
/** Each may have tens of kilobytes. */
const RESULTS_PAGE = 100;

export function createAuditReads({
  pool,
  transact,
}: Pick<Connections, 'pool' | 'transact'>): AuditReads {
  return {
    auditHead: () => loadAuditHead(pool),
    listAudit: async (page) => {
      const slice = toSlice(page);
      const entries = await loadEntries(pool, slice.after ?? 0n, slice.take);
      return toPage(entries, slice, (entry) => entry);
    },
    // All of it as it was at one moment, whatever is written meanwhile.
    checkAudit: () =>
      transact(async ({ sql }) => {
        await runChange(sql, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
        return checkAudit(sql);
      }),
  };
}

/**
 * 1. Each entry follows from the one before, from the first to the head.
 * 2. What is kept of runs, checks, contracts, transfers and keys is still what their entries say.
 */
async function checkAudit(sql: Sql): ReturnType<Reads['checkAudit']> {
  const { problem, head } = await walk(sql);
  return {
    entryCount: head.seq,
    problem:
      problem ??
      (await findLostTail(sql, head)) ??
      (await findOtherFact(sql)) ??
      (await findOtherResults(sql)),
  };
}

async function walk(sql: Sql): Promise<ReturnType<typeof checkEntries>> {
  for (let head = AUDIT_START; ;) {
    const entries = await loadEntries(sql, head.seq, WALK_PAGE);
    const checked = checkEntries(entries, head);
    if (checked.problem !== null || entries.length < WALK_PAGE) return checked;
    head = checked.head;
  }
}

function loadEntries(sql: Sql, afterSeq: bigint, limit: number): Promise<AuditEntry[]> {
  return queryRows<AuditEntry>(
    sql,
    `SELECT seq, at, kind, subject, digest, facts, salt, prev_hash AS "prevHash", hash
     FROM audit_log WHERE seq > $1 ORDER BY seq LIMIT $2`,
    [afterSeq, limit],
  );
}

/** The head is kept beside the log, so that the last entries can't go unnoticed. */
async function findLostTail(sql: Sql, { seq, hash }: AuditHead): Promise<string | null> {
  const head = await loadAuditHead(sql);
  if (head.seq === seq && head.hash === hash) return null;
  return `the log ends at number ${seq}, its head says ${head.seq}`;
}

/** What was changed where it is kept, though the log is whole. */
async function findOtherFact(sql: Sql): Promise<string | null> {
  const [other] = await queryRows<{ seq: bigint | null; subject: string }>(
    sql,
    `SELECT a.seq, a.subject FROM audit_log a
     LEFT JOIN run_evidence e ON e.audit_seq = a.seq
     LEFT JOIN runs r ON r.id = a.subject
     WHERE a.kind = 'verdict_sealed' AND (
       r.result_digest = a.digest AND digest_of(r.result) = a.digest AND r.verdict = a.facts ->> 'verdict'
       AND a.facts @> jsonb_build_object(
         'evaluation', digest_of(e.evaluation), 'publicEvaluation', digest_of(e.public_evaluation),
         'attestation', digest_of(e.attestation), 'publicAttestation', digest_of(e.public_attestation))
     ) IS NOT TRUE
     UNION ALL
     SELECT a.seq, a.subject FROM audit_log a
     LEFT JOIN contracts c ON c.id = a.subject
     WHERE a.kind = 'contract_proved' AND EXISTS (SELECT FROM escrows WHERE contract_id = a.subject) AND a.seq = (
       SELECT max(seq) FROM audit_log WHERE subject = a.subject AND kind = 'contract_proved'
     ) AND (digest_of(c.document) = a.digest AND c.digest = a.digest) IS NOT TRUE
     UNION ALL
     SELECT a.seq, a.subject FROM audit_log a
     LEFT JOIN escrow_resolutions e ON e.contract_id = a.subject
     LEFT JOIN ledger_transfers t ON t.id = e.transfer_id
     WHERE a.kind = 'escrow_resolved' AND ('sha256:' || t.hash = a.digest) IS NOT TRUE
     UNION ALL
     SELECT a.seq, a.subject FROM audit_log a
     LEFT JOIN signing_keys k ON k.keyid = a.subject
     WHERE (a.kind = 'key_added' AND (k.created_at = (a.facts ->> 'at')::timestamptz) IS NOT TRUE)
       OR (a.kind = 'key_retired' AND (k.retired_at = (a.facts ->> 'at')::timestamptz) IS NOT TRUE)
     UNION ALL
     SELECT a.seq, a.subject FROM audit_log a
     LEFT JOIN checks k ON k.id = a.subject
     WHERE a.kind = 'check_recorded' AND (
       k.state = a.facts ->> 'state' AND a.facts @> jsonb_build_object(
         'evaluation', digest_of(k.evaluation), 'attestation', digest_of(k.attestation))
     ) IS NOT TRUE
     UNION ALL
     SELECT e.audit_seq, e.run_id FROM run_evidence e
     WHERE NOT EXISTS (
       SELECT FROM audit_log WHERE seq = e.audit_seq AND subject = e.run_id AND kind = 'verdict_sealed')
     UNION ALL
     SELECT NULL, k.keyid FROM signing_keys k
     WHERE NOT EXISTS (SELECT FROM audit_log WHERE subject = k.keyid AND kind = 'key_added')
       OR k.retired_at IS NOT NULL
         AND NOT EXISTS (SELECT FROM audit_log WHERE subject = k.keyid AND kind = 'key_retired')
     UNION ALL
     SELECT NULL, k.id FROM checks k
     WHERE k.evaluation IS NOT NULL
       AND NOT EXISTS (SELECT FROM audit_log WHERE subject = k.id AND kind = 'check_recorded')
     ORDER BY seq LIMIT 1`,
  );
  if (other === undefined) return null;
  const { seq, subject } = other;
  if (seq === null) return `what is kept of ${subject} is in no entry`;
  return toOtherFact(seq, subject);
}

/** Results of checks are JSON values, whose canonical text the database does not make. */
async function findOtherResults(sql: Sql): Promise<string | null> {
  for (let after = 0n; ;) {
    const recorded = await queryRows<{
      seq: bigint;
      subject: string;
      digest: string | null;
      results: unknown;
    }>(
      sql,
      `SELECT a.seq, a.subject, a.digest, k.facts -> 'results' AS results
       FROM audit_log a LEFT JOIN checks k ON k.id = a.subject
       WHERE a.kind = 'check_recorded' AND a.seq > $1 ORDER BY a.seq LIMIT $2`,
      [after, RESULTS_PAGE],
    );
    const other = recorded.find(({ digest, results }) => canonicalDigest(results) !== digest);
    if (other !== undefined) return toOtherFact(other.seq, other.subject);
    const last = recorded.at(-1);
    if (last === undefined) return null;
    after = last.seq;
  }
}

function toOtherFact(seq: bigint, subject: string): string {
  return `entry ${seq}: what is kept of ${subject} is not what it says`;
}
