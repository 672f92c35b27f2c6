import type { WorkerStore } from '../ports.ts';
import { addEvents } from './add-events.ts';
import { appendAudit } from './append-audit.ts';
import { lockContract, toOwnerEvent } from './contract-commands.ts';
import { execute, type ExecuteDeps } from './execute.ts';
import type { Transact } from './in-transaction.ts';
import { queryRows, runChange, type Sql, toJson } from './sql.ts';
import { CONTRACT_COLUMNS, type ContractRecord, toContractRow } from './rows.ts';

type Approvals = Pick<WorkerStore, 'approvalTask' | 'finishApproval' | 'addApprovalProgress'>;
type Outcome = Parameters<WorkerStore['finishApproval']>[2];

export function createApprovals(transact: Transact, deps: ExecuteDeps): Approvals {
  return {
    approvalTask: (contractId) =>
      transact(async ({ sql, streams }) => {
        // A worker that had it before and is lost has an older number from now on.
        const [contract] = await queryRows<ContractRecord>(
          sql,
          `UPDATE contracts c SET approval_state = 'RUNNING', approval_attempt = approval_attempt + 1,
             updated_at = clock_timestamp()
           WHERE id = $1 AND state = 'DRAFT' AND approval_state IN ('QUEUED', 'RUNNING')
           RETURNING ${CONTRACT_COLUMNS}`,
          [contractId],
        );
        if (contract === undefined) return null;
        await addEvents(sql, [toOwnerEvent('approval_running', contractId, null)]);
        streams.add(contractId);
        return { contract: toContractRow(contract), attempt: contract.approvalAttempt };
      }),
    finishApproval: (contractId, attempt, outcome) =>
      transact(async (transaction) => {
        const { sql, streams } = transaction;
        if (!isOurs(await lockContract(sql, contractId), attempt)) return false;
        await saveOutcome(sql, contractId, outcome);
        await addEvents(sql, [toOwnerEvent(`approval_${outcome.kind}`, contractId, null)]);
        streams.add(contractId);
        if (outcome.kind !== 'proved') return true;
        const command = { kind: 'prove' } as const;
        const decision = await execute(transaction, deps, { contractId, command, actorId: null });
        if (decision.kind === 'refused') throw decision.error;
        const { digest } = outcome;
        await appendAudit(sql, { kind: 'contract_proved', subject: contractId, digest, facts: {} });
        return true;
      }),
    addApprovalProgress: (contractId, attempt, progress) =>
      transact(async ({ sql, streams }) => {
        if (!isOurs(await lockContract(sql, contractId), attempt)) return false;
        await addEvents(sql, [toOwnerEvent('approval_progress', contractId, null, progress)]);
        streams.add(contractId);
        return true;
      }),
  };
}

function isOurs(
  { state, approvalState, approvalAttempt }: ContractRecord,
  attempt: number,
): boolean {
  return state === 'DRAFT' && approvalState === 'RUNNING' && approvalAttempt === attempt;
}

async function saveOutcome(sql: Sql, contractId: string, outcome: Outcome): Promise<void> {
  switch (outcome.kind) {
    case 'proved':
      await runChange(
        sql,
        `UPDATE contracts SET approval_state = 'DONE', document = $2, digest = $3, base_blob = $4, proving_blob = $5,
           findings = $6, updated_at = clock_timestamp()
         WHERE id = $1`,
        [
          contractId,
          outcome.document,
          outcome.digest,
          outcome.baseBlob,
          outcome.provingBlob,
          toJson(outcome.findings),
        ],
      );
      break;
    case 'refused':
      await runChange(
        sql,
        `UPDATE contracts SET approval_state = 'REFUSED', findings = $2, proving_blob = $3,
           updated_at = clock_timestamp()
         WHERE id = $1`,
        [contractId, toJson(outcome.findings), outcome.provingBlob],
      );
      break;
    case 'failed':
      await runChange(
        sql,
        `UPDATE contracts SET approval_state = 'FAILED', approval_problem = $2, updated_at = clock_timestamp()
         WHERE id = $1`,
        [contractId, outcome.problem],
      );
      break;
  }
}
