import {
  type Binding,
  decideProblem,
  draftProblem,
  type ProblemCase,
  type ProblemCommand,
  type ProblemDecision,
  sealedBlobsOf,
} from '@kervyxa/checker';
import { canonicalJson } from '@kervyxa/core';
import type { AskedOfProblem, CheckerCommands } from '../../checker-ports.ts';
import type { CheckRow, EntryRow, ProblemRow } from '../../checker-rows.ts';
import { createDbError } from '../../errors.ts';
import type { Problem } from '../../generated/client.ts';
import { addEvents } from '../add-events.ts';
import type { Transaction } from '../in-transaction.ts';
import { loadNow } from '../load-case.ts';
import { queryRows, runChange, type Sql, toJson } from '../sql.ts';
import { type CheckerDeps, openEntryCheck } from './decide-check.ts';
import { findContract } from './publish.ts';
import { findBinders } from './reads.ts';
import {
  CHECKS,
  type CheckRecord,
  createUnknown,
  ENTRIES,
  type EntryRecord,
  PROBLEMS,
  toCheckRow,
  toEntryRow,
  toProblemRow,
} from './rows.ts';

type CommandsInput<Key extends 'createProblem' | 'submitEntry'> = Parameters<
  CheckerCommands[Key]
>[1];

/** Throws DB_SUBJECT_UNKNOWN, and what `draftProblem` refuses with. */
export async function createProblem(
  transaction: Transaction,
  { newId }: CheckerDeps,
  actorId: string,
  { contractId, title, statement, sealing, invited }: CommandsInput<'createProblem'>,
): Promise<ProblemRow> {
  const { sql } = transaction;
  // Whoever withdraws it waits for us, or we for them.
  await queryRows(sql, 'SELECT 1 FROM verifier_contracts WHERE id = $1 FOR SHARE', [contractId]);
  const contract = await findContract(sql, 'c.id = $1', [contractId]);
  if (contract === null) throw createUnknown('a published contract', contractId);
  const decision = draftProblem({
    id: newId('problem'),
    ownerId: actorId,
    contractId,
    sealing,
    invited: invited === null ? null : [...invited],
    terms: contract.document,
    yankedAt: contract.yankedAt,
  });
  if (decision.kind === 'refused') throw decision.error;
  const { next } = decision;
  await runChange(
    sql,
    `INSERT INTO problems (id, owner_id, contract_id, title, statement, state, facts)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [next.id, actorId, contractId, title, statement, next.state, toJson(next)],
  );
  await tell(sql, decision, actorId);
  return loadProblem(sql, next.id);
}

/** Throws DB_SUBJECT_UNKNOWN, DB_BLOB_UNKNOWN, and what `decideProblem` refuses with. */
export async function decideHeldProblem(
  { sql }: Transaction,
  deps: CheckerDeps,
  problemId: string,
  asked: AskedOfProblem,
  actorId: string,
): Promise<ProblemRow> {
  const held = await holdProblem(sql, problemId);
  const command = await toCommand(sql, held.facts, asked);
  const decision = decideProblem(held.facts, command, {
    now: await loadNow(sql),
    policy: deps.stagePolicy,
  });
  if (decision.kind === 'refused') throw decision.error;
  if (command.kind === 'bind') await bindBlob(sql, problemId, command.slot, command.binding);
  await saveProblem(sql, held, decision.next);
  await tell(sql, decision, actorId);
  return loadProblem(sql, problemId);
}

/** What a release would do is read when it is done: others may have been bound since it was prepared. */
async function toCommand(
  sql: Sql,
  problem: ProblemCase,
  asked: AskedOfProblem,
): Promise<ProblemCommand> {
  if (asked.kind !== 'release') return asked;
  const alsoBoundBy = await findBinders(sql, problem.id, sealedBlobsOf(problem));
  return { ...asked, alsoBoundBy };
}

/** Throws DB_SUBJECT_UNKNOWN, DB_BLOB_UNKNOWN, and what `decideProblem` refuses with. */
export async function submitEntry(
  transaction: Transaction,
  deps: CheckerDeps,
  actorId: string,
  { problemId, summaryText, artifacts }: CommandsInput<'submitEntry'>,
): Promise<{ readonly entry: EntryRow; readonly check: CheckRow }> {
  const { sql } = transaction;
  const held = await holdProblem(sql, problemId);
  const now = await loadNow(sql);
  const entryId = deps.newId('entry');
  const command = { kind: 'submit', entryId, participantId: actorId } as const;
  const decision = decideProblem(held.facts, command, { now, policy: deps.stagePolicy });
  if (decision.kind === 'refused') throw decision.error;
  await saveProblem(sql, held, decision.next);
  await runChange(
    sql,
    `INSERT INTO entries (id, problem_id, solver_id, summary_text, received_at) VALUES ($1, $2, $3, $4, $5)`,
    [entryId, problemId, actorId, summaryText, now],
  );
  for (const { role, filename, mediaType, blob } of artifacts) {
    const sizeBytes = await sizeOfBlob(sql, blob);
    await runChange(
      sql,
      `INSERT INTO entry_artifacts (entry_id, role, filename, media_type, size_bytes, blob)
       VALUES ($1, $2, $3, $4, $5, $6)`,
      [entryId, role, filename, mediaType, sizeBytes, blob],
    );
  }
  const contract = await findContract(sql, 'c.id = $1', [held.facts.contractId]);
  if (contract === null) throw new Error(`expected the contract of ${problemId}, got no row`);
  for (const effect of decision.effects) {
    if (effect.kind !== 'open_check') continue;
    const { solverId } = effect;
    await openEntryCheck(transaction, deps, {
      entryId: effect.entryId,
      solverId,
      problem: decision.next,
      contract,
      now,
    });
  }
  await tell(sql, decision, actorId);
  return loadEntry(sql, entryId);
}

/** Locked until the transaction ends. */
async function holdProblem(
  sql: Sql,
  problemId: string,
): Promise<{ readonly facts: ProblemCase; readonly version: number }> {
  const [row] = await queryRows<Problem>(
    sql,
    `SELECT ${PROBLEMS} WHERE p.id = $1 FOR NO KEY UPDATE`,
    [problemId],
  );
  if (row === undefined) throw createUnknown('a problem', problemId);
  return { facts: toProblemRow(row).facts, version: row.version };
}

async function saveProblem(
  sql: Sql,
  { facts, version }: { readonly facts: ProblemCase; readonly version: number },
  next: ProblemCase,
): Promise<void> {
  if (canonicalJson(facts) === canonicalJson(next)) return;
  const saved = await runChange(
    sql,
    `UPDATE problems SET facts = $3, state = $4, version = version + 1 WHERE id = $1 AND version = $2`,
    [next.id, version, toJson(next), next.state],
  );
  if (saved !== 1)
    throw new Error(`expected version ${version} of problem ${next.id}, got another`);
}

/** Of bytes that somebody else holds we have none. */
async function bindBlob(
  sql: Sql,
  problemId: string,
  slot: string,
  { url, contentHash, sizeBytes }: Binding,
): Promise<void> {
  await runChange(sql, 'DELETE FROM problem_inputs WHERE problem_id = $1 AND slot = $2', [
    problemId,
    slot,
  ]);
  if (url !== null) return;
  const blob = contentHash.slice('sha256:'.length);
  const size = await sizeOfBlob(sql, blob);
  if (size !== BigInt(sizeBytes)) throw createBlobUnknown(blob, `${sizeBytes} bytes`);
  await runChange(sql, 'INSERT INTO problem_inputs (problem_id, slot, blob) VALUES ($1, $2, $3)', [
    problemId,
    slot,
    blob,
  ]);
}

async function sizeOfBlob(sql: Sql, sha256: string): Promise<bigint> {
  // Kept from who forgets unused ones until we have named it.
  const [blob] = await queryRows<{ size: bigint }>(
    sql,
    'SELECT size_bytes AS size FROM blobs WHERE sha256 = $1 FOR KEY SHARE',
    [sha256],
  );
  if (blob === undefined) throw createBlobUnknown(sha256, 'bytes');
  return blob.size;
}

function createBlobUnknown(sha256: string, what: string): Error {
  return createDbError('DB_BLOB_UNKNOWN', {
    message: `expected ${what} that were sent before, got the digest ${JSON.stringify(sha256.slice(0, 80))}`,
    fix: 'Send the bytes first.',
  });
}

async function tell(sql: Sql, { effects }: ProblemDecisionMade, actorId: string): Promise<void> {
  const about = { contractId: null, submissionId: null, runId: null, challengeId: null };
  await addEvents(
    sql,
    effects.flatMap((effect) =>
      effect.kind === 'event'
        ? [{ ...about, name: effect.name, data: effect.data, actorId, audience: 'OWNER' as const }]
        : [],
    ),
  );
}
type ProblemDecisionMade = Extract<ProblemDecision, { readonly kind: 'accepted' }>;

async function loadProblem(sql: Sql, id: string): Promise<ProblemRow> {
  const [row] = await queryRows<Problem>(sql, `SELECT ${PROBLEMS} WHERE p.id = $1`, [id]);
  if (row === undefined) throw new Error(`expected problem ${id}, got no row`);
  return toProblemRow(row);
}

async function loadEntry(
  sql: Sql,
  id: string,
): Promise<{ readonly entry: EntryRow; readonly check: CheckRow }> {
  const [entry] = await queryRows<EntryRecord>(sql, `SELECT ${ENTRIES} WHERE e.id = $1`, [id]);
  const [check] = await queryRows<CheckRecord>(sql, `SELECT ${CHECKS} WHERE k.entry_id = $1`, [id]);
  if (entry === undefined || check === undefined) {
    throw new Error(`expected entry ${id} with a check, got no row`);
  }
  return { entry: toEntryRow(entry), check: toCheckRow(check) };
}
