import type { WorkerStore } from '../ports.ts';
import { addEvents } from './add-events.ts';
import { lockContract, toOwnerEvent } from './contract-commands.ts';
import { execute, type ExecuteDeps } from './execute.ts';
import type { Transact } from './in-transaction.ts';
import { queryRows, runChange, type Sql, toJson } from './sql.ts';
import { CONTRACT_COLUMNS, type ContractRecord, toContractRow } from './rows.ts';

type Approvals = Pick<WorkerStore, 'approvalTask' | 'finishApproval'>;
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
        const contract = await lockContract(sql, contractId);
        const { state, approvalState, approvalAttempt } = contract;
        const isOurs = approvalState === 'RUNNING' && approvalAttempt === attempt;
        if (state !== 'DRAFT' || !isOurs) return false;
        await saveOutcome(sql, contractId, outcome);
        await addEvents(sql, [toOwnerEvent(`approval_${outcome.kind}`, contractId, null)]);
        streams.add(contractId);
        if (outcome.kind !== 'proved') return true;
        const command = { kind: 'prove' } as const;
        const decision = await execute(transaction, deps, { contractId, command, actorId: null });
        if (decision.kind === 'refused') throw decision.error;
        return true;
      }),
  };
}

async function saveOutcome(sql: Sql, contractId: string, outcome: Outcome): Promise<void> {
  switch (outcome.kind) {
    case 'proved':
      await runChange(
        sql,
        `UPDATE contracts SET approval_state = 'DONE', document = $2, digest = $3, base_blob = $4, findings = $5,
           updated_at = clock_timestamp()
         WHERE id = $1`,
        [contractId, outcome.document, outcome.digest, outcome.baseBlob, toJson(outcome.findings)],
      );
      break;
    case 'refused':
      await runChange(
        sql,
        `UPDATE contracts SET approval_state = 'REFUSED', findings = $2, updated_at = clock_timestamp()
         WHERE id = $1`,
        [contractId, toJson(outcome.findings)],
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
