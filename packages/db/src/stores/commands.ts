import { planDeposit } from '@kervyxa/settlement';
import { brokenUniqueConstraint } from '../driver-errors.ts';
import { createDbError } from '../errors.ts';
import { Prisma, type Principal } from '../generated/client.ts';
import type { Answer, Call, Commands, PrincipalRow, TransferRow } from '../ports.ts';
import { createContract, reviseContract, startApproval } from './contract-commands.ts';
import { execute, type ExecuteDeps } from './execute.ts';
import { answerOnce } from './idempotency.ts';
import type { Connections, Transaction } from './in-transaction.ts';
import { loadNow } from './load-case.ts';
import { retryPayout } from './payout-store.ts';
import { recordTransfer } from './record-transfer.ts';
import { toPrincipalRow } from './rows.ts';
import { columnsOf, queryRows, runChange, type Sql } from './sql.ts';
import { createSubmitLines } from './submit-lines.ts';
import { loadTransfers, toTransferRow } from './transfers.ts';

type Once = (call: Call, work: (transaction: Transaction) => Promise<Answer>) => Promise<Answer>;

/** Each one transaction, in which the Idempotency-Key comes first. */
export function createCommands(
  { transact }: Pick<Connections, 'transact'>,
  deps: ExecuteDeps,
): Commands {
  const once: Once = (call, work) =>
    transact((transaction) => answerOnce(transaction.sql, call, () => work(transaction)));

  const submit = createSubmitLines(transact, deps);

  return {
    createPrincipal: (call, input, toAnswer) =>
      once(call, async ({ sql }) => toAnswer(await createPrincipal(sql, deps, input))),
    deposit: (call, input, toAnswer) =>
      once(call, async ({ sql }) => toAnswer(await deposit(sql, deps, input))),
    createContract: (call, draft, toAnswer) =>
      once(call, async (transaction) =>
        toAnswer(await createContract(transaction, deps, call.actorId, draft)),
      ),
    reviseContract: (call, input, toAnswer) =>
      once(call, async (transaction) =>
        toAnswer(await reviseContract(transaction, deps, call.actorId, input)),
      ),
    startApproval: (call, contractId, toAnswer) =>
      once(call, async (transaction) =>
        toAnswer(await startApproval(transaction, deps, call.actorId, contractId)),
      ),
    submit: async (call, input, toAnswer) => toAnswer(await submit({ call, input })),
    execute: (call, { contractId, command, statement }, toAnswer) =>
      once(call, async (transaction) => {
        const { actorId } = call;
        const request = { contractId, command, statement, actorId };
        const decision = await execute(transaction, deps, request);
        if (decision.kind === 'refused') throw decision.error;
        return toAnswer(decision.next);
      }),
    retryPayout: (call, payoutId, toAnswer) =>
      once(call, async (transaction) => {
        await retryPayout(transaction, payoutId, call.actorId);
        return toAnswer();
      }),
    savePackage: (call, row, toAnswer) =>
      once(call, async ({ sql }) => {
        await savePackage(sql, call.actorId, row);
        return toAnswer();
      }),
  };
}

async function createPrincipal(
  sql: Sql,
  { newId }: ExecuteDeps,
  { name, roles, keyHash, invitedById = null }: Parameters<Commands['createPrincipal']>[1],
): Promise<PrincipalRow> {
  if (invitedById !== null) await assertPrincipal(sql, invitedById);
  try {
    const [row] = await queryRows<Principal>(
      sql,
      `INSERT INTO principals AS p (id, name, roles, invited_by_id) VALUES ($1, $2, $3, $4)
       RETURNING ${columnsOf(Prisma.PrincipalScalarFieldEnum, 'p')}`,
      [newId('principal'), name, roles, invitedById],
    );
    if (row === undefined) throw new Error('expected the new principal, got no row');
    await runChange(
      sql,
      'INSERT INTO api_keys (id, principal_id, hash, label) VALUES ($1, $2, $3, $4)',
      [newId('key'), row.id, keyHash, 'first'],
    );
    return toPrincipalRow(row);
  } catch (error) {
    if (brokenUniqueConstraint(error) === null) throw error;
    throw createDbError('DB_PRINCIPAL_DUPLICATE', {
      message: `expected a name that nobody has, got ${JSON.stringify(name)}`,
      fix: 'Choose another name.',
      cause: error,
    });
  }
}

async function deposit(
  sql: Sql,
  { newId }: ExecuteDeps,
  input: Parameters<Commands['deposit']>[1],
): Promise<TransferRow> {
  await assertPrincipal(sql, input.principalId);
  const facts = { id: newId('transfer'), contractId: null, now: await loadNow(sql) };
  const id = await recordTransfer(sql, planDeposit(input), facts);
  const [transfer] = await loadTransfers(sql, { id });
  if (transfer === undefined) throw new Error(`expected transfer ${id}, got no row`);
  return toTransferRow(transfer);
}

async function assertPrincipal(sql: Sql, id: string): Promise<void> {
  const known = await queryRows(sql, 'SELECT 1 FROM principals WHERE id = $1', [id]);
  if (known.length > 0) return;
  throw createDbError('DB_PRINCIPAL_UNKNOWN', {
    message: `expected the id of a principal, got ${JSON.stringify(id)}`,
  });
}

async function savePackage(
  sql: Sql,
  ownerId: string,
  row: { readonly sha256: string; readonly sizeBytes: bigint; readonly entryCount: number },
): Promise<void> {
  await runChange(
    sql,
    `INSERT INTO packages (sha256, owner_id, entry_count, size_bytes) VALUES ($1, $2, $3, $4)
     ON CONFLICT (sha256, owner_id) DO NOTHING`,
    [row.sha256, ownerId, row.entryCount, row.sizeBytes],
  );
}
