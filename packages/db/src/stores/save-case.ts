import type { ContractCase, RunCase, SubmissionCase } from '@kervyxa/settlement';
import type { LoadedCase } from './load-case.ts';
import { runChange, type Sql } from './sql.ts';

/** What a new submission has besides what decides about it. */
export interface SubmissionSource {
  readonly repositoryUrl: string;
  readonly commit: string;
}

export interface SaveOptions {
  readonly loaded: LoadedCase;
  readonly next: ContractCase;
  readonly nextDueAt: Date | null;
  /** Evidence of a new challenge. */
  readonly statement: string;
}

/**
 * Stores every entity that differs from the case that was loaded, only over the state it had then. Another number of
 * rows than expected is a defect, as the contract is locked.
 */
export async function saveCase(sql: Sql, options: SaveOptions): Promise<void> {
  const { loaded, next } = options;
  const { before } = loaded;
  await saveContract(sql, options);
  await updateSubmissions(sql, loaded.now, toPairs(before.submissions, next.submissions));
  await insertRuns(sql, next, toNew(before.runs, next.runs));
  await updateRuns(sql, loaded.now, toPairs(before.runs, next.runs));
  await insertChallenges(sql, options);
  await updateChallenges(sql, options);
}

interface Pair<T> {
  readonly old: T;
  readonly next: T;
}

function toPairs<T extends { readonly id: string }>(
  before: readonly T[],
  next: readonly T[],
): Pair<T>[] {
  const olds = new Map(before.map((entity) => [entity.id, entity]));
  return next.flatMap((entity) => {
    const old = olds.get(entity.id);
    return old === undefined || old === entity ? [] : [{ old, next: entity }];
  });
}

function toNew<T extends { readonly id: string }>(before: readonly T[], next: readonly T[]): T[] {
  const known = new Set(before.map(({ id }) => id));
  return next.filter(({ id }) => !known.has(id));
}

async function saveContract(
  sql: Sql,
  { loaded: { before, now, nextDueAt: oldDueAt }, next, nextDueAt }: SaveOptions,
): Promise<void> {
  const { id, state } = next.contract;
  if (state === before.contract.state && nextDueAt?.getTime() === oldDueAt?.getTime()) return;
  const changed = await runChange(
    sql,
    `UPDATE contracts SET state = $3, next_due_at = $4, updated_at = $5,
       ended_at = CASE WHEN $3 IN ('SETTLED', 'EXPIRED', 'CANCELLED') THEN $5 ELSE ended_at END,
       approval_state = CASE WHEN $3 = 'DRAFT' THEN 'NONE' ELSE approval_state END,
       proving_blob = CASE WHEN $3 = 'DRAFT' THEN NULL ELSE proving_blob END
     WHERE id = $1 AND state = $2`,
    [id, before.contract.state, state, nextDueAt, now],
  );
  assertCount('contracts', changed, 1);
}

async function updateSubmissions(
  sql: Sql,
  now: Date,
  pairs: readonly Pair<SubmissionCase>[],
): Promise<void> {
  // At most one may hold the pass at any moment: whoever loses it goes first.
  const losing = pairs.filter(({ old }) => old.state === 'PASSED');
  const rest = pairs.filter(({ old }) => old.state !== 'PASSED');
  for (const group of [losing, rest]) {
    if (group.length === 0) continue;
    const changed = await runChange(
      sql,
      `UPDATE submissions s SET state = n.state, capture_by = n.capture_by, held_until = n.held_until,
         window_opens_at = n.opens_at, window_closes_at = n.closes_at, verdict = n.verdict,
         reason = n.reason, result_digest = n.result_digest, updated_at = $2,
         captured_at = CASE WHEN n.captured THEN coalesce(s.captured_at, $2) END
       FROM jsonb_to_recordset($1) AS n (id text, old_state text, state text, capture_by timestamptz,
         captured boolean, held_until timestamptz, opens_at timestamptz, closes_at timestamptz, verdict text,
         reason text, result_digest text)
       WHERE s.id = n.id AND s.state = n.old_state`,
      [JSON.stringify(group.map(({ old, next }) => toSubmissionRecord(old, next))), now],
    );
    assertCount('submissions', changed, group.length);
  }
}

function toSubmissionRecord(old: SubmissionCase, next: SubmissionCase): object {
  return {
    id: next.id,
    old_state: old.state,
    state: next.state,
    capture_by: next.captureBy,
    captured: next.captured,
    held_until: next.heldUntil,
    opens_at: next.window?.opensAt ?? null,
    closes_at: next.window?.closesAt ?? null,
    verdict: next.verdict?.verdict ?? null,
    reason: next.verdict?.reason ?? null,
    result_digest: next.verdict?.resultDigest ?? null,
  };
}

async function insertRuns(sql: Sql, next: ContractCase, runs: readonly RunCase[]): Promise<void> {
  // One after the other: their order is that of creation.
  for (const { id, submissionId, purpose, state, attempt, tries } of runs) {
    await runChange(
      sql,
      `INSERT INTO runs (id, submission_id, contract_id, purpose, state, attempt, tries, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp())`,
      [id, submissionId, next.contract.id, purpose, state, attempt, tries],
    );
  }
}

async function updateRuns(sql: Sql, now: Date, pairs: readonly Pair<RunCase>[]): Promise<void> {
  if (pairs.length === 0) return;
  const changed = await runChange(
    sql,
    `UPDATE runs r SET state = n.state, attempt = n.attempt, tries = n.tries, verdict = n.verdict,
       reason = n.reason, result_digest = n.result_digest,
       started_at = CASE WHEN n.attempt > r.attempt THEN $2 ELSE r.started_at END,
       finished_at = CASE WHEN n.state IN ('SEALED', 'ABANDONED', 'HELD') THEN $2 END
     FROM jsonb_to_recordset($1) AS n (id text, old_state text, old_attempt int, state text,
       attempt int, tries int, verdict text, reason text, result_digest text)
     WHERE r.id = n.id AND r.state = n.old_state AND r.attempt = n.old_attempt`,
    [
      JSON.stringify(
        pairs.map(({ old, next }) => ({
          id: next.id,
          old_state: old.state,
          old_attempt: old.attempt,
          state: next.state,
          attempt: next.attempt,
          tries: next.tries,
          verdict: next.verdict?.verdict ?? null,
          reason: next.verdict === null ? next.lastFailure : next.verdict.reason,
          result_digest: next.verdict?.resultDigest ?? null,
        })),
      ),
      now,
    ],
  );
  assertCount('runs', changed, pairs.length);
}

async function insertChallenges(
  sql: Sql,
  { loaded: { before, now }, next, statement }: SaveOptions,
): Promise<void> {
  for (const each of toNew(before.challenges, next.challenges)) {
    await runChange(
      sql,
      `INSERT INTO challenges (id, contract_id, submission_id, challenger_id, kind, state, bond_minor,
         evidence, filed_at, respond_by, decide_by, run_ids, rerun_ordered)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
      [
        each.id,
        next.contract.id,
        each.submissionId,
        each.challengerId,
        each.kind,
        each.state,
        each.bondMinor,
        statement,
        now,
        each.respondBy,
        each.decideBy,
        each.runIds,
        each.rerunOrdered,
      ],
    );
  }
}

async function updateChallenges(
  sql: Sql,
  { loaded: { before, now }, next }: SaveOptions,
): Promise<void> {
  for (const { old, next: each } of toPairs(before.challenges, next.challenges)) {
    const changed = await runChange(
      sql,
      `UPDATE challenges SET state = $3, respond_by = $4, decide_by = $5, run_ids = $6,
         rerun_ordered = $7, ended_at = CASE WHEN $8 THEN coalesce(ended_at, $9) END
       WHERE id = $1 AND state = $2`,
      [
        each.id,
        old.state,
        each.state,
        each.respondBy,
        each.decideBy,
        each.runIds,
        each.rerunOrdered,
        each.state !== 'RERUNNING' && each.state !== 'AWAITING_ARBITER',
        now,
      ],
    );
    assertCount('challenges', changed, 1);
  }
}

function assertCount(table: string, got: number, expected: number): void {
  if (got === expected) return;
  throw new Error(`expected to change ${expected} rows of ${table} under the lock, got ${got}`);
}
