import { createStateRefused } from '@kervyxa/settlement';
import { brokenUniqueConstraint } from '../driver-errors.ts';
import { createDbError } from '../errors.ts';
import type { ContractDraft, ContractRow } from '../ports.ts';
import { addEvents, type NewEvent } from './add-events.ts';
import { createContractUnknown, execute, type ExecuteDeps } from './execute.ts';
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
  const id = newId('contract');
  await assertNotPosted(sql, { id, requesterId }, draft);
  await insertContract(sql, id, requesterId, draft);
  await addEvents(sql, [toOwnerEvent('contract_draft', id, requesterId)]);
  streams.add(id);
  return toContractRow(await lockContract(sql, id));
}

/** Throws SETTLEMENT_CONTRACT_UNKNOWN, …_STATE_REFUSED, DB_CONTRACT_DUPLICATE. */
export async function reviseContract(
  transaction: Transaction,
  deps: ExecuteDeps,
  actorId: string,
  { contractId, draft }: { readonly contractId: string; readonly draft: ContractDraft },
): Promise<ContractRow> {
  const { sql, streams } = transaction;
  const command = { kind: 'revise' } as const;
  const decision = await execute(transaction, deps, { contractId, command, actorId });
  if (decision.kind === 'refused') throw decision.error;
  const { id, requesterId } = await lockContract(sql, contractId);
  await assertNotPosted(sql, { id, requesterId }, draft);
  await updateContract(sql, id, draft);
  await addEvents(sql, [toOwnerEvent('contract_revised', id, actorId)]);
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
  const { approvalState, requesterId } = contract;
  const { state } = toContractRow(contract);
  if (state !== 'DRAFT') throw createStateRefused(state, ['DRAFT']);
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
export function toOwnerEvent(
  name: string,
  contractId: string,
  actorId: string | null,
  data: NewEvent['data'] = {},
): NewEvent {
  return {
    name,
    actorId,
    contractId,
    submissionId: null,
    runId: null,
    challengeId: null,
    audience: 'OWNER',
    data,
  };
}

/** Two at once both find none: the second is refused by the unique index, with less to say. */
async function assertNotPosted(
  sql: Sql,
  { id, requesterId }: { readonly id: string; readonly requesterId: string },
  { digest }: ContractDraft,
): Promise<void> {
  const [known] = await queryRows<{ id: string }>(
    sql,
    `SELECT id FROM contracts
     WHERE requester_id = $1 AND draft_digest = $2 AND id <> $3
       AND state NOT IN ('SETTLED', 'EXPIRED', 'CANCELLED')`,
    [requesterId, digest, id],
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
  const columns = { id, requester_id: requesterId, ...columnsOf(draft) };
  const names = Object.keys(columns);
  await onceEach(
    sql,
    `INSERT INTO contracts (${names.join(', ')}) VALUES (${places(names.length)})`,
    Object.values(columns),
  );
}

/** Everything that comes from the document, and nothing that approval found. */
async function updateContract(sql: Sql, id: string, draft: ContractDraft): Promise<void> {
  const columns = columnsOf(draft);
  const names = Object.keys(columns);
  await onceEach(
    sql,
    `UPDATE contracts SET (${names.join(', ')}) = (${places(names.length, 2)}), approval_state = 'NONE',
       approval_problem = NULL, findings = '[]', base_blob = NULL, proving_blob = NULL,
       updated_at = clock_timestamp()
     WHERE id = $1`,
    [id, ...Object.values(columns)],
  );
}

/** What comes from the document, by column. */
function columnsOf(draft: ContractDraft): Readonly<Record<string, unknown>> {
  return {
    document: draft.document,
    digest: draft.digest,
    draft_digest: draft.digest,
    title: draft.title,
    contract_kind: draft.contractKind,
    repository_url: draft.repositoryUrl,
    base_commit: draft.baseCommit,
    package_sha256: draft.packageSha256,
    dependencies_sha256: draft.dependenciesSha256,
    closes_at: draft.closesAt,
    next_due_at: draft.closesAt,
    reward_minor: draft.rewardMinor,
    currency: draft.currency,
    fee_bps: draft.feeBps,
    window_seconds: draft.windowSeconds,
    response_seconds: draft.responseSeconds,
    bond_minor: draft.bondMinor,
    invite_only: draft.inviteOnly,
    invited_ids: draft.invitedIds,
    needs_claim: draft.needsClaim,
  };
}

/** `$1, $2, …`: so many, from `first` on. */
function places(count: number, first = 1): string {
  return Array.from({ length: count }, (_, index) => `$${first + index}`).join(', ');
}

/** Throws DB_CONTRACT_DUPLICATE where the requester has the same draft. */
async function onceEach(sql: Sql, text: string, values: readonly unknown[]): Promise<void> {
  try {
    await runChange(sql, text, values);
  } catch (error) {
    if (brokenUniqueConstraint(error) !== 'contracts_requester_draft_key') throw error;
    throw createDbError('DB_CONTRACT_DUPLICATE', {
      message: 'expected a contract that you have not posted yet, got one that has not ended',
      fix: 'Find it in your list of contracts and use it, or cancel it first.',
      cause: error,
    });
  }
}
