import type { Command } from '@kervyxa/settlement';
import type pg from 'pg';
import type { Run } from '../generated/client.ts';
import type { CriterionLog, WorkerStore } from '../ports.ts';
import { saveBlob } from './blobs.ts';
import { execute, type ExecuteDeps } from './execute.ts';
import type { Connections, Transaction } from './in-transaction.ts';
import { saveEvidence, savePublicContract } from './run-evidence.ts';
import { holdKey, useSigningKey } from './signing-keys.ts';
import { runChange, type Sql, toJson, told } from './sql.ts';
import { type StoredCriterion, toStoredCriteria } from './stored-result.ts';

type Runs = Pick<WorkerStore, 'startRun' | 'sealRun'>;

export function createRuns({ pool, client, transact }: Connections, deps: ExecuteDeps): Runs {
  const loadRun = (id: string) => told(client.run.findUnique({ where: { id } }));
  return {
    startRun: async (runId, workerId) => {
      const run = await loadRun(runId);
      if (run === null) return null;
      return transact((transaction) => startRun(transaction, deps, run, workerId));
    },
    sealRun: async (runId, attempt, { verdict, result, logs, evidence, whenSaved }) => {
      const run = await loadRun(runId);
      // Before anything is kept of it; the lock decides.
      if (run === null || run.state !== 'RUNNING' || run.attempt !== attempt) return false;
      const criteria = toStoredCriteria(result);
      await useSigningKey(transact, evidence.key);
      const saved = await saveLogs(pool, logs);
      const publicContractBlob = await savePublicContract(pool, evidence);
      await whenSaved?.();
      return transact(async (transaction) => {
        await holdKey(transaction.sql, evidence.key.keyid);
        const command: Command = { kind: 'seal', runId, attempt, verdict };
        const request = { contractId: run.contractId, command, actorId: null };
        const decision = await execute(transaction, deps, request);
        if (decision.kind === 'refused') return false;
        await saveResult(transaction.sql, runId, { text: result, criteria }, saved);
        await saveEvidence(transaction.sql, { runId, verdict, evidence, publicContractBlob });
        return true;
      });
    },
  };
}

async function startRun(
  transaction: Transaction,
  deps: ExecuteDeps,
  { id, contractId }: Run,
  workerId: string,
): Promise<number | null> {
  const { sql } = transaction;
  const command = { kind: 'start', runId: id } as const;
  const decision = await execute(transaction, deps, { contractId, command, actorId: null });
  if (decision.kind === 'refused') return null;
  const started = decision.next.runs.find((run) => run.id === id);
  if (started === undefined) throw new Error(`expected run ${id} in its own case`);
  const { attempt } = started;
  await runChange(
    sql,
    `UPDATE attempts SET finished_at = clock_timestamp(), outcome = 'lost'
     WHERE run_id = $1 AND outcome IS NULL`,
    [id],
  );
  // A run that lost its last worker is held, or nobody wants it any more: no attempt begins.
  if (started.state !== 'RUNNING') return null;
  await runChange(
    sql,
    'INSERT INTO attempts (run_id, number, worker_id, started_at) VALUES ($1, $2, $3, clock_timestamp())',
    [id, attempt, workerId],
  );
  return attempt;
}

interface SavedLog {
  readonly sha256: string;
  readonly truncated: boolean;
}

/** Before the transaction, which would otherwise be open as long as they take; nothing refers to them until it commits. */
async function saveLogs(
  pool: pg.Pool,
  logs: readonly CriterionLog[],
): Promise<ReadonlyMap<string, SavedLog>> {
  const saved = new Map<string, SavedLog>();
  for (const { criterionId, bytes, truncated } of logs) {
    const { sha256 } = await saveBlob(pool, [bytes], { bytesMax: bytes.length });
    saved.set(criterionId, { sha256, truncated });
  }
  return saved;
}

async function saveResult(
  sql: Sql,
  runId: string,
  { text, criteria }: { readonly text: string; readonly criteria: readonly StoredCriterion[] },
  logs: ReadonlyMap<string, SavedLog>,
): Promise<void> {
  await runChange(sql, 'UPDATE runs SET result = $2 WHERE id = $1', [runId, text]);
  await runChange(
    sql,
    `INSERT INTO criterion_results (run_id, criterion_id, position, visibility, status, reason, message,
       exit_code, metric, peak_memory_bytes, duration_ms, output_sha256, log_blob, log_truncated)
     SELECT $1, n.id, n.position, n.visibility, n.status, n.reason, n.message, n."exitCode", n.metric,
       n."peakMemoryBytes", n."durationMs", n."outputSha256", n."logBlob", n."logTruncated"
     FROM jsonb_to_recordset($2) AS n (id text, position int, visibility text, status text, reason text,
       message text, "exitCode" int, metric float8, "peakMemoryBytes" bigint, "durationMs" int,
       "outputSha256" text, "logBlob" text, "logTruncated" boolean)`,
    [
      runId,
      toJson(
        criteria.map((each, position) => ({
          ...each,
          position,
          logBlob: logs.get(each.id)?.sha256 ?? null,
          logTruncated: logs.get(each.id)?.truncated ?? false,
        })),
      ),
    ],
  );
}
