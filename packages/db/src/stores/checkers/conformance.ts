import { canonicalJson } from '@kervyxa/core';
import type { CheckerWork, ImplementationRow } from '../../checker-ports.ts';
import { createDbError } from '../../errors.ts';
import { appendAudit } from '../append-audit.ts';
import type { ExecuteDeps } from '../execute.ts';
import type { Transaction } from '../in-transaction.ts';
import { queryRows, runChange, type Sql } from '../sql.ts';
import {
  createUnknown,
  IMPLEMENTATIONS,
  type ImplementationRecord,
  toImplementationRow,
} from './rows.ts';

type Deps = Pick<ExecuteDeps, 'sendJob'>;
type Outcome = Parameters<CheckerWork['endConformance']>[1];

export async function findImplementation(
  sql: Sql,
  condition: string,
  values: readonly unknown[],
): Promise<ImplementationRow | null> {
  const [row] = await queryRows<ImplementationRecord>(
    sql,
    `SELECT ${IMPLEMENTATIONS} WHERE ${condition}`,
    values,
  );
  return row === undefined ? null : toImplementationRow(row);
}

/** False where another worker was first. */
export async function endConformance(
  transaction: Transaction,
  deps: Deps,
  id: string,
  outcome: Outcome,
): Promise<boolean> {
  const { sql } = transaction;
  const [state, report, problem] =
    outcome.kind === 'failed'
      ? ['FAILED', null, outcome.problem]
      : [
          outcome.report.isConformant ? 'CONFORMANT' : 'NONCONFORMANT',
          canonicalJson(outcome.report),
          null,
        ];
  const ended = await queryRows<{ contractId: string; stageKey: string; programDigest: string }>(
    sql,
    `UPDATE implementations SET state = $2, report = $3, problem = $4, ended_at = clock_timestamp()
     WHERE id = $1 AND state = 'PENDING'
     RETURNING contract_id AS "contractId", stage_key AS "stageKey", program_digest AS "programDigest"`,
    [id, state, report, problem],
  );
  const [row] = ended;
  if (row === undefined) return false;
  const { contractId, stageKey, programDigest } = row;
  await sendWaiting(transaction, deps, contractId);
  if (state === 'CONFORMANT') {
    const facts = { contractId, stageKey };
    await appendAudit(sql, {
      kind: 'checker_conformant',
      subject: id,
      digest: programDigest,
      facts,
    });
  }
  return true;
}

/** Throws DB_SUBJECT_UNKNOWN, DB_IMPLEMENTATION_NOT_FAILED. */
export async function retryConformance(
  { sql, queues }: Transaction,
  { sendJob }: Deps,
  id: string,
): Promise<void> {
  const found = await findImplementation(sql, 'i.id = $1', [id]);
  if (found === null) throw createUnknown('an implementation', id);
  const { contractId, publishedById: solverId, state } = found;
  const retried = await runChange(
    sql,
    `UPDATE implementations SET state = 'PENDING', problem = NULL, ended_at = NULL WHERE id = $1 AND state = 'FAILED'`,
    [id],
  );
  if (retried === 0) {
    throw createDbError('DB_IMPLEMENTATION_NOT_FAILED', {
      message: `expected an implementation that is FAILED, got ${state}`,
      fix: 'Publish a corrected program instead.',
    });
  }
  await sendJob(sql, 'conformance', id, { contractId, solverId, delayMs: 0 });
  queues.add('conformance');
}

/** Checks that wait for a program of this contract's: a worker looks at them again. */
async function sendWaiting(
  { sql, queues }: Transaction,
  { sendJob }: Deps,
  contractId: string,
): Promise<void> {
  const waiting = await queryRows<{ id: string; problemId: string; solverId: string }>(
    sql,
    `SELECT k.id, k.problem_id AS "problemId", k.facts ->> 'solverId' AS "solverId"
     FROM checks k JOIN problems p ON p.id = k.problem_id
     WHERE p.contract_id = $1 AND k.state = 'WAITING_SANDBOX' ORDER BY k.seq`,
    [contractId],
  );
  for (const { id, problemId, solverId } of waiting) {
    await sendJob(sql, 'check', id, { contractId: problemId, solverId, delayMs: 0 });
    queues.add('check');
  }
}
