import { createSettlementError } from '@kervyxa/settlement';
import { brokenUniqueConstraint } from '../driver-errors.ts';
import { createDbError } from '../errors.ts';
import type { ContractDraft, ContractRow } from '../ports.ts';
import { addEvents, type NewEvent } from './add-events.ts';
import { createContractUnknown, type ExecuteDeps } from './execute.ts';
import type { Transaction } from './in-transaction.ts';
import { lockContractSql } from './lock-contract.ts';
import { CONTRACT_COLUMNS, type ContractRecord, toContractRow } from './rows.ts';
import { queryRows, runChange, type Sql } from './sql.ts';

/** Throws DB_CONTRACT_DUPLICATE. */
export async function createContract(
  { sql, streams }: Transaction,
  { newId }: ExecuteDeps,
  requesterId: string,
  draft: ContractDraft,
): Promise<ContractRow> {
  await assertNotPosted(sql, requesterId, draft);
  const id = newId('contract');
  await insertContract(sql, id, requesterId, draft);
  await addEvents(sql, [toOwnerEvent('contract_draft', id, requesterId)]);
  streams.add(id);
  return toContractRow(await lockContract(sql, id));
}

/** Queues the approval, unless one is queued or running already. Throws SETTLEMENT_CONTRACT_UNKNOWN, …_STATE_REFUSED. */
export async function startApproval(
  { sql, queues, streams }: Transaction,
  { sendJob }: ExecuteDeps,
  actorId: string,
  contractId: string,
): Promise<ContractRow> {
  const contract = await lockContract(sql, contractId);
  const { state, approvalState, requesterId } = contract;
  if (state !== 'DRAFT') {
    throw createSettlementError('SETTLEMENT_CONTRACT_STATE_REFUSED', {
      message: `expected a contract that is DRAFT, got ${state}`,
      fix: 'Look at the state of the contract first.',
      details: { state },
    });
  }
  if (approvalState === 'QUEUED' || approvalState === 'RUNNING') return toContractRow(contract);
  await runChange(
    sql,
    `UPDATE contracts SET approval_state = 'QUEUED', approval_problem = NULL, updated_at = clock_timestamp()
     WHERE id = $1`,
    [contractId],
  );
  await sendJob(sql, 'approve', contractId, { contractId, solverId: requesterId, delayMs: 0 });
  await addEvents(sql, [toOwnerEvent('approval_queued', contractId, actorId)]);
  queues.add('approve');
  streams.add(contractId);
  return toContractRow({ ...contract, approvalState: 'QUEUED', approvalProblem: null });
}

/** Until the transaction ends. Throws SETTLEMENT_CONTRACT_UNKNOWN. */
export async function lockContract(sql: Sql, id: string): Promise<ContractRecord> {
  const [contract] = await queryRows<ContractRecord>(
    sql,
    lockContractSql(CONTRACT_COLUMNS, 'ALONE'),
    [id],
  );
  if (contract === undefined) throw createContractUnknown(id);
  return contract;
}

/** Of a draft, which nobody but its owner may see. */
export function toOwnerEvent(name: string, contractId: string, actorId: string | null): NewEvent {
  return {
    name,
    actorId,
    contractId,
    submissionId: null,
    runId: null,
    challengeId: null,
    audience: 'OWNER',
    data: {},
  };
}

/** Two at once both find none: the second is refused by the unique index, with less to say. */
async function assertNotPosted(
  sql: Sql,
  requesterId: string,
  { digest }: ContractDraft,
): Promise<void> {
  const [known] = await queryRows<{ id: string }>(
    sql,
    `SELECT id FROM contracts
     WHERE requester_id = $1 AND draft_digest = $2 AND state NOT IN ('SETTLED', 'EXPIRED', 'CANCELLED')`,
    [requesterId, digest],
  );
  if (known === undefined) return;
  throw createDbError('DB_CONTRACT_DUPLICATE', {
    message: `expected a contract that you have not posted yet, got ${known.id} again, which has not ended`,
    fix: `Use ${known.id}, or cancel it first.`,
    details: { contractId: known.id },
  });
}

async function insertContract(
  sql: Sql,
  id: string,
  requesterId: string,
  draft: ContractDraft,
): Promise<void> {
  try {
    await runChange(
      sql,
      `INSERT INTO contracts (id, requester_id, document, digest, draft_digest, title, contract_kind,
         repository_url, base_commit, package_sha256, closes_at, next_due_at, reward_minor, currency,
         fee_bps, window_seconds, response_seconds, bond_minor, invite_only, invited_ids, needs_claim)
       VALUES ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9, $10, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
      [
        id,
        requesterId,
        draft.document,
        draft.digest,
        draft.title,
        draft.contractKind,
        draft.repositoryUrl,
        draft.baseCommit,
        draft.packageSha256,
        draft.closesAt,
        draft.rewardMinor,
        draft.currency,
        draft.feeBps,
        draft.windowSeconds,
        draft.responseSeconds,
        draft.bondMinor,
        draft.inviteOnly,
        draft.invitedIds,
        draft.needsClaim,
      ],
    );
  } catch (error) {
    if (brokenUniqueConstraint(error) !== 'contracts_requester_draft_key') throw error;
    throw createDbError('DB_CONTRACT_DUPLICATE', {
      message: 'expected a contract that you have not posted yet, got one that has not ended',
      fix: 'Find it in your list of contracts and use it, or cancel it first.',
      cause: error,
    });
  }
}
