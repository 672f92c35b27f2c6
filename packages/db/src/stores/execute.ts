import type { IdSource } from '@kervyxa/core';
import {
  type Command,
  createSettlementError,
  decide,
  type Decision,
  nextDueAt,
  type SettlementPolicy,
} from '@kervyxa/settlement';
import { auditFactsOf } from '../audit/facts-of-decision.ts';
import type { SendJob } from '../queue/send.ts';
import type { SendMany } from '../queue/send-many.ts';
import { appendAudit } from './append-audit.ts';
import type { Transaction } from './in-transaction.ts';
import { loadCase } from './load-case.ts';
import { saveCase } from './save-case.ts';
import { moveMoney, saveEffects } from './save-effects.ts';
import { queryRows, runChange, type Sql } from './sql.ts';

export interface ExecuteDeps {
  readonly policy: SettlementPolicy;
  readonly newId: IdSource;
  readonly sendJob: SendJob;
  readonly sendMany: SendMany;
}

export interface ExecuteRequest {
  readonly contractId: string;
  readonly command: Command;
  /** Who asked; null for the machine itself. */
  readonly actorId: string | null;
  /** Evidence of a challenge, or what the arbiter says. */
  readonly statement?: string | undefined;
}

/**
 * One command, in the caller's transaction.
 *
 * 1. Lock the contract, then read the time, then the case.
 * 2. Decide. A refusal has changed nothing.
 * 3. Move the money: the last thing that can be refused.
 * 4. Store what differs, only over what was there.
 * 5. Do the rest of what was decided: escrow, payouts, jobs, events.
 * 6. Write into the audit log what ended: its lock is the last.
 *
 * Throws SETTLEMENT_CONTRACT_UNKNOWN, and SETTLEMENT_FUNDS_INSUFFICIENT, after which the caller must roll back.
 */
export async function execute(
  transaction: Transaction,
  deps: ExecuteDeps,
  { contractId, command, actorId, statement = '' }: ExecuteRequest,
): Promise<Decision> {
  const { sql } = transaction;
  const loaded = await loadCase(sql, contractId, command);
  if (loaded === null) throw createContractUnknown(contractId);
  const { before, now } = loaded;

  const decision = decide(before, command, { now, newId: deps.newId, policy: deps.policy });
  if (decision.kind === 'refused') return decision;
  const { next, effects } = decision;

  const resolutionId = await moveMoney(sql, deps.newId, effects, { contractId, now });

  await saveCase(sql, { loaded, next, nextDueAt: nextDueAt(next), statement });
  await saveAttempt(sql, command, now);
  await saveResolution(sql, command, { statement, now });

  await saveEffects(transaction, deps.sendJob, { next, effects, actorId, resolutionId, now });

  const resolutionHash = await loadHash(sql, resolutionId);
  for (const fact of auditFactsOf({ before, next, effects, resolutionHash })) {
    await appendAudit(sql, fact);
  }
  return decision;
}

export function createContractUnknown(contractId: string): Error {
  return createSettlementError('SETTLEMENT_CONTRACT_UNKNOWN', {
    message: `expected the id of a contract, got ${JSON.stringify(contractId)}`,
  });
}

async function loadHash(sql: Sql, transferId: string | null): Promise<string | null> {
  if (transferId === null) return null;
  const [transfer] = await queryRows<{ hash: string }>(
    sql,
    'SELECT hash FROM ledger_transfers WHERE id = $1',
    [transferId],
  );
  return transfer?.hash ?? null;
}

/** How an attempt ended, for the record. */
async function saveAttempt(sql: Sql, command: Command, now: Date): Promise<void> {
  if (!('attempt' in command)) return;
  const { runId, attempt, kind } = command;
  const outcome = { seal: 'sealed', fail: 'failed', release: 'released' }[kind];
  await runChange(
    sql,
    `UPDATE attempts SET finished_at = $3, outcome = $4, reason = $5 WHERE run_id = $1 AND number = $2`,
    [runId, attempt, now, outcome, kind === 'fail' ? command.reason : null],
  );
}

async function saveResolution(
  sql: Sql,
  command: Command,
  { statement, now }: { readonly statement: string; readonly now: Date },
): Promise<void> {
  if (command.kind !== 'resolve') return;
  await runChange(
    sql,
    `INSERT INTO resolutions (challenge_id, number, arbiter_id, decision, statement, at)
     SELECT $1, 1 + count(*), $2, $3, $4, $5 FROM resolutions WHERE challenge_id = $1`,
    [command.challengeId, command.arbiterId, command.decision, statement, now],
  );
}
