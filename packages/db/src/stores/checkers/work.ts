import type { CheckCase } from '@kervyxa/checker';
import { canonicalDigest, sha256Hex } from '@kervyxa/core';
import type { CheckerWork, CheckTask } from '../../checker-ports.ts';
import type { EntryRow } from '../../checker-rows.ts';
import { appendAudit, lockAudit } from '../append-audit.ts';
import type { Connections, Transaction } from '../in-transaction.ts';
import { loadNow } from '../load-case.ts';
import { holdKey } from '../signing-keys.ts';
import { queryRows, runChange, type Sql } from '../sql.ts';
import { endConformance, findImplementation } from './conformance.ts';
import { type CheckerDeps, decideHeldCheck, decideOn, holdCheck } from './decide-check.ts';
import { findContract } from './publish.ts';
import { ENTRIES, type EntryRecord, toEntryRow } from './rows.ts';

const WAITS: CheckTask = { kind: 'waits' };

export function createCheckerWork({ pool, transact }: Connections, deps: CheckerDeps): CheckerWork {
  return {
    conformanceTask: (id) => findImplementation(pool, `i.id = $1 AND i.state = 'PENDING'`, [id]),
    endConformance: (id, outcome) =>
      transact((transaction) => endConformance(transaction, deps, id, outcome)),
    checkTask: (checkId) => transact((transaction) => loadTask(transaction, deps, checkId)),
    decideCheck: (checkId, command) =>
      transact((transaction) =>
        decideHeldCheck(transaction, deps, { checkId, command, actorId: null }),
      ),
    recordCheck: (checkId, record) => transact(({ sql }) => recordCheck(sql, checkId, record)),
    listDueChecks: async (limit) => {
      const rows = await queryRows<{ id: string }>(
        pool,
        `SELECT id FROM checks WHERE next_due_at <= clock_timestamp() ORDER BY next_due_at LIMIT $1`,
        [limit],
      );
      return rows.map(({ id }) => id);
    },
  };
}

/** The key is locked first, then the check, and the head of the audit log last. */
async function recordCheck(
  sql: Sql,
  checkId: string,
  { evaluation, keyid, attest }: Parameters<CheckerWork['recordCheck']>[1],
): Promise<void> {
  await holdKey(sql, keyid);
  const [ended] = await queryRows<EndedCheck>(
    sql,
    `SELECT problem_id AS "problemId", entry_id AS "entryId", state, facts -> 'results' AS results
     FROM checks WHERE id = $1 AND ended_at IS NOT NULL AND evaluation IS NULL FOR NO KEY UPDATE`,
    [checkId],
  );
  if (ended === undefined) return;
  const { problemId: problem, entryId: entry, state, results } = ended;
  const recordedAt = await loadNow(sql);
  const attestation = attest({ recordedAt, audit: await lockAudit(sql) });
  await runChange(sql, 'UPDATE checks SET evaluation = $2, attestation = $3 WHERE id = $1', [
    checkId,
    evaluation,
    attestation,
  ]);
  const [ofEvaluation, ofAttestation] = [digestOf(evaluation), digestOf(attestation)];
  await appendAudit(sql, {
    kind: 'check_recorded',
    subject: checkId,
    digest: canonicalDigest(results),
    facts: { problem, entry, state, evaluation: ofEvaluation, attestation: ofAttestation, keyid },
  });
}

interface EndedCheck {
  readonly problemId: string;
  readonly entryId: string;
  readonly state: string;
  readonly results: unknown;
}

function digestOf(text: string): string {
  return `sha256:${sha256Hex(text)}`;
}

async function loadTask(
  transaction: Transaction,
  deps: CheckerDeps,
  checkId: string,
): Promise<CheckTask> {
  const { sql } = transaction;
  const held = await holdCheck(sql, deps, checkId);
  if (held === null) return WAITS;
  const { row } = held;
  if (row.facts.endedAt !== null) {
    if (row.evaluation !== null) return WAITS;
    const contract = await findContract(sql, 'c.id = $1', [row.contractId]);
    if (contract === null) throw new Error(`expected the contract of ${checkId}, got no row`);
    return { kind: 'record', check: row, entry: await loadEntry(sql, row.facts), contract };
  }
  const stage = row.facts.stages[row.facts.results.length];
  if (row.facts.state !== 'WAITING_SANDBOX' || stage?.kind !== 'sandbox') return WAITS;
  const implementations = await loadUsable(sql, row.contractId, stage.key);
  if (implementations === 'wait') return WAITS;
  const started = await decideOn(transaction, deps, held, {
    command: { kind: 'start' },
    actorId: null,
  });
  if (started.kind === 'refused' || !started.next.isRunning) return WAITS;
  const { attempt } = started.next;
  if (implementations === null) {
    const mechanism = `a program that conforms to the contract for stage ${stage.key}`;
    const command = { kind: 'unavailable', attempt, mechanism } as const;
    await decideHeldCheck(transaction, deps, { checkId, command, actorId: null });
    return WAITS;
  }
  return {
    kind: 'run',
    check: started.next,
    attempt,
    stageKey: stage.key,
    implementation: implementations,
    entry: await loadEntry(sql, started.next),
    reference: await loadReference(sql, started.next, held.context.problem, stage.slots),
  };
}

/** The current one; `wait` where one may yet come to be; null where none will. */
async function loadUsable(sql: Sql, contractId: string, stageKey: string) {
  const ofStage = 'i.contract_id = $1 AND i.stage_key = $2';
  const latest = 'ORDER BY i.seq DESC LIMIT 1';
  const values = [contractId, stageKey];
  const current = await findImplementation(
    sql,
    `${ofStage} AND i.state = 'CONFORMANT' ${latest}`,
    values,
  );
  if (current !== null) return current;
  // What our own trouble ended is tried again by somebody: nobody's entry suffers from it.
  const hopeful = await findImplementation(
    sql,
    `${ofStage} AND i.state IN ('PENDING', 'FAILED') ${latest}`,
    values,
  );
  return hopeful === null ? null : 'wait';
}

async function loadEntry(sql: Sql, { entryId }: CheckCase): Promise<EntryRow> {
  const [row] = await queryRows<EntryRecord>(sql, `SELECT ${ENTRIES} WHERE e.id = $1`, [entryId]);
  if (row === undefined) throw new Error(`expected entry ${entryId}, got no row`);
  return toEntryRow(row);
}

/** The facts of the problem say the names; the rows say which bytes we hold. */
async function loadReference(
  sql: Sql,
  { problemId }: CheckCase,
  problem: {
    readonly bindings: Readonly<Record<string, { filename: string; mediaType: string | null }>>;
  },
  slots: readonly string[],
) {
  const rows = await queryRows<{ slot: string; blob: string }>(
    sql,
    'SELECT slot, blob FROM problem_inputs WHERE problem_id = $1 AND slot = ANY($2)',
    [problemId, slots],
  );
  return new Map(
    rows.map(({ slot, blob }) => {
      const binding = problem.bindings[slot];
      if (binding === undefined)
        throw new Error(`expected slot ${slot} of ${problemId} to be bound`);
      const { filename, mediaType } = binding;
      return [slot, { filename, mediaType, blob }] as const;
    }),
  );
}
