import {
  type CheckCase,
  type CheckCommand,
  type CheckContext,
  type CheckDecision,
  decideCheck,
  nextDueOfCheck,
  openCheck,
  planStages,
  type ProblemCase,
  ProblemCaseSchema,
  type ReviewProtocol,
  type StagePolicy,
} from '@kervyxa/checker';
import { canonicalJson } from '@kervyxa/core';
import type { CheckRow, PublishedContractRow } from '../../checker-rows.ts';
import { addEvents } from '../add-events.ts';
import type { ExecuteDeps } from '../execute.ts';
import type { Transaction } from '../in-transaction.ts';
import { loadNow } from '../load-case.ts';
import { queryRows, runChange, type Sql, toJson } from '../sql.ts';
import { CHECKS, type CheckRecord, createUnknown, toCheckRow, toReviewProtocol } from './rows.ts';

export interface CheckerDeps extends Pick<ExecuteDeps, 'newId' | 'sendJob'> {
  readonly stagePolicy: StagePolicy;
}

/** A check whose row is locked until the transaction ends. */
export interface HeldCheck {
  readonly row: CheckRow;
  readonly version: number;
  readonly context: CheckContext;
}

/** The lock first, then the time, then the problem: each sees what the last holder of the lock committed. */
export async function holdCheck(
  sql: Sql,
  { stagePolicy }: CheckerDeps,
  checkId: string,
): Promise<HeldCheck | null> {
  const [row] = await queryRows<CheckRecord>(
    sql,
    `SELECT ${CHECKS} WHERE k.id = $1 FOR NO KEY UPDATE OF k`,
    [checkId],
  );
  if (row === undefined) return null;
  const now = await loadNow(sql);
  const problem = await loadProblemCase(sql, row.problemId);
  const context = { now, policy: stagePolicy, problem };
  return { row: toCheckRow(row), version: row.version, context };
}

/** One command, in the caller's transaction. A refusal has changed nothing. Throws DB_SUBJECT_UNKNOWN. */
export async function decideHeldCheck(
  transaction: Transaction,
  deps: CheckerDeps,
  {
    checkId,
    command,
    actorId,
  }: {
    readonly checkId: string;
    readonly command: CheckCommand;
    readonly actorId: string | null;
  },
): Promise<CheckDecision> {
  const held = await holdCheck(transaction.sql, deps, checkId);
  if (held === null) throw createUnknown('a check', checkId);
  return decideOn(transaction, deps, held, { command, actorId });
}

/** The same for a check that is held already. */
export async function decideOn(
  transaction: Transaction,
  deps: CheckerDeps,
  { row, version, context }: HeldCheck,
  { command, actorId }: { readonly command: CheckCommand; readonly actorId: string | null },
): Promise<CheckDecision> {
  const decision = decideCheck(row.facts, command, context);
  if (decision.kind === 'refused') return decision;
  await saveCheck(transaction.sql, row.facts, version, decision.next);
  await saveEffects(transaction, deps, decision, actorId);
  return decision;
}

/** The check of an entry begins; its problem is locked. */
export async function openEntryCheck(
  transaction: Transaction,
  deps: CheckerDeps,
  {
    entryId,
    solverId,
    problem,
    contract,
    now,
  }: {
    readonly entryId: string;
    readonly solverId: string;
    readonly problem: ProblemCase;
    readonly contract: PublishedContractRow;
    readonly now: Date;
  },
): Promise<void> {
  const { sql } = transaction;
  const stages = planStages(contract.document, await loadProtocols(sql, contract));
  const facts = { id: deps.newId('check'), entryId, solverId, stages };
  const context = { now, policy: deps.stagePolicy, problem };
  const decision = openCheck(facts, context);
  if (decision.kind === 'refused') throw decision.error;
  const { next } = decision;
  await runChange(
    sql,
    `INSERT INTO checks (id, entry_id, problem_id, state, facts, next_due_at, ended_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [next.id, entryId, problem.id, next.state, toJson(next), nextDueOfCheck(next), next.endedAt],
  );
  await saveEffects(transaction, deps, decision, solverId);
}

async function loadProblemCase(sql: Sql, problemId: string): Promise<ProblemCase> {
  // A nomination in time may have yet to be committed: it is waited for.
  const [row] = await queryRows<{ facts: unknown }>(
    sql,
    'SELECT facts FROM problems WHERE id = $1 FOR SHARE',
    [problemId],
  );
  if (row === undefined) throw new Error(`expected problem ${problemId}, got no row`);
  return ProblemCaseSchema.parse(row.facts);
}

async function loadProtocols(
  sql: Sql,
  { document }: PublishedContractRow,
): Promise<ReadonlyMap<string, ReviewProtocol>> {
  const ids = document.stages.flatMap((stage) =>
    stage.kind === 'review' ? [stage.review_protocol_id] : [],
  );
  const rows = await queryRows<{ id: string; document: string }>(
    sql,
    'SELECT id, document FROM review_protocols WHERE id = ANY($1)',
    [ids],
  );
  return new Map(rows.map((row) => [row.id, toReviewProtocol(row.id, row.document)]));
}

/** Only over what was read. What time did not change is not written. */
async function saveCheck(
  sql: Sql,
  before: CheckCase,
  version: number,
  next: CheckCase,
): Promise<void> {
  if (canonicalJson(before) === canonicalJson(next)) return;
  const saved = await runChange(
    sql,
    `UPDATE checks SET facts = $3, state = $4, next_due_at = $5, ended_at = $6, version = version + 1
     WHERE id = $1 AND version = $2`,
    [next.id, version, toJson(next), next.state, nextDueOfCheck(next), next.endedAt],
  );
  if (saved !== 1) throw new Error(`expected version ${version} of check ${next.id}, got another`);
}

async function saveEffects(
  { sql, queues }: Transaction,
  { sendJob }: CheckerDeps,
  { next, effects }: Extract<CheckDecision, { readonly kind: 'accepted' }>,
  actorId: string | null,
): Promise<void> {
  const { problemId: contractId, solverId } = next;
  for (const effect of effects) {
    if (effect.kind === 'event') {
      const about = { contractId: null, submissionId: null, runId: null, challengeId: null };
      const { name, data } = effect;
      await addEvents(sql, [{ ...about, name, data, actorId, audience: 'OWNER' }]);
      continue;
    }
    // What has ended is written down by a worker, who signs it.
    const delayMs = effect.kind === 'enqueue_check' ? effect.delayMs : 0;
    await sendJob(sql, 'check', effect.checkId, { contractId, solverId, delayMs });
    queues.add('check');
  }
}
