import type { WorkerStore } from '../ports.ts';
import { addEvents } from './add-events.ts';
import { createApprovals } from './approvals.ts';
import { createBlobs } from './blobs.ts';
import { loadClaimToken } from './claim-token.ts';
import type { ExecuteDeps } from './execute.ts';
import type { Connections, Transaction } from './in-transaction.ts';
import { toContractRow, toRunRow, toSubmissionRow, WITH_ESCROW } from './rows.ts';
import { createRuns } from './runs.ts';
import { useSigningKey } from './signing-keys.ts';
import { queryRows, runChange, told } from './sql.ts';

type StoreOf<Key extends keyof WorkerStore> = WorkerStore[Key];

export function createWorkerStore(connections: Connections, deps: ExecuteDeps): WorkerStore {
  const { pool, transact } = connections;
  return {
    ...createBlobs(pool),
    ...createApprovals(transact, deps),
    ...createRuns(connections, deps),
    captureTask: (submissionId) => loadCaptureTask(connections, submissionId),
    saveCapture: async (submissionId, { sourceBlob, tree }) => {
      // Of two captures the first stays: their bytes may differ, what is in them does not.
      await runChange(
        pool,
        `UPDATE submissions SET source_blob = $2, tree = $3, updated_at = clock_timestamp()
         WHERE id = $1 AND source_blob IS NULL`,
        [submissionId, sourceBlob, tree],
      );
    },
    useSigningKey: (key) => useSigningKey(transact, key),
    runTask: (runId) => loadRunTask(connections, deps, runId),
    addRunEvents: (runId, events) =>
      transact((transaction) => addRunEvents(transaction, runId, events)),
    heartbeat: (worker) => saveHeartbeat(connections, worker),
  };
}

async function loadCaptureTask(
  { client }: Connections,
  id: string,
): Promise<Awaited<ReturnType<StoreOf<'captureTask'>>>> {
  const found = await told(
    client.submission.findUnique({
      where: { id, state: 'RECEIVED' },
      include: { contract: { include: WITH_ESCROW } },
    }),
  );
  if (found === null) return null;
  return { submission: toSubmissionRow(found), contract: toContractRow(found.contract) };
}

async function loadRunTask(
  { client, pool }: Connections,
  { newId }: ExecuteDeps,
  id: string,
): Promise<Awaited<ReturnType<StoreOf<'runTask'>>>> {
  const found = await told(
    client.run.findUnique({
      where: { id, state: { in: ['QUEUED', 'RUNNING'] } },
      include: { submission: true, contract: { include: WITH_ESCROW } },
    }),
  );
  if (found === null) return null;
  const { submission, contract } = found;
  const claimToken = contract.needsClaim
    ? await loadClaimToken(pool, newId, contract.id, submission.solverId)
    : null;
  return {
    run: toRunRow(found),
    submission: toSubmissionRow(submission),
    contract: toContractRow(contract),
    claimToken,
  };
}

/** A step's begin and end are told to who watches the contract, too; its output, which is much, only with the run. */
async function addRunEvents(
  { sql, streams }: Transaction,
  runId: string,
  events: Parameters<StoreOf<'addRunEvents'>>[1],
): Promise<void> {
  const [run] = await queryRows<{ contractId: string; submissionId: string }>(
    sql,
    'SELECT contract_id AS "contractId", submission_id AS "submissionId" FROM runs WHERE id = $1',
    [runId],
  );
  if (run === undefined) throw new Error(`expected run ${runId}, got no row`);
  const { contractId, submissionId } = run;
  const about = { actorId: null, submissionId, runId, challengeId: null };
  await addEvents(
    sql,
    events.map((event) => ({
      ...about,
      ...event,
      contractId: isOutput(event) ? null : contractId,
    })),
  );
  streams.add(runId);
  if (!events.every(isOutput)) streams.add(contractId);
}

function isOutput({ name }: { readonly name: string }): boolean {
  return name === 'run_output';
}

/** By the database's clock: those of the workers' hosts may differ. */
async function saveHeartbeat(
  { pool }: Connections,
  { id, host, version, slots, state, problem }: Parameters<StoreOf<'heartbeat'>>[0],
): Promise<void> {
  await queryRows(
    pool,
    `INSERT INTO workers (id, host, version, slots, state, problem) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (id) DO UPDATE SET host = $2, version = $3, slots = $4, state = $5, problem = $6,
       heartbeat_at = now()`,
    [id, host, version, slots, state, problem],
  );
}
