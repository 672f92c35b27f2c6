import { canonicalJson } from '@kervyxa/core';
import type { CheckerWork } from '../../checker-ports.ts';
import type { ImplementationRow } from '../../checker-rows.ts';
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
  // As publications do: none of the same package begins to wait meanwhile.
  await queryRows(
    sql,
    `SELECT 1 FROM verifiers v WHERE v.id = (SELECT verifier_id FROM verifier_contracts WHERE id = $1)
     FOR NO KEY UPDATE`,
    [contractId],
  );
  const retried = await runChange(
    sql,
    `UPDATE implementations i SET state = 'PENDING', problem = NULL, ended_at = NULL
     WHERE id = $1 AND state = 'FAILED' AND NOT EXISTS (
       SELECT FROM implementations other
       WHERE (other.contract_id, other.stage_key, other.package_sha256) = (i.contract_id, i.stage_key, i.package_sha256)
         AND other.state = 'PENDING')`,
    [id],
  );
  if (retried === 0) {
    const got = state === 'FAILED' ? 'one whose package is tried already' : state;
    throw createDbError('DB_IMPLEMENTATION_NOT_FAILED', {
      message: `expected an implementation that is FAILED and that nothing tries again, got ${got}`,
      fix: 'Wait for the one that is PENDING, or publish a corrected program.',
    });
  }
  await sendJob(sql, 'conformance', id, { contractId, solverId, delayMs: 0 });
  queues.add('conformance');
}

/** As many as a transaction may send; `resendLost` sends the others. */
const WAITING_MAX = 100;

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
     WHERE p.contract_id = $1 AND k.state = 'WAITING_SANDBOX' ORDER BY k.seq LIMIT $2`,
    [contractId, WAITING_MAX],
  );
  for (const { id, problemId, solverId } of waiting) {
    await sendJob(sql, 'check', id, { contractId: problemId, solverId, delayMs: 0 });
    queues.add('check');
  }
}
