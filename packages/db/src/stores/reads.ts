import type { IdSource } from '@kervyxa/core';
import type { Principal } from '../generated/client.ts';
import { Prisma } from '../generated/client.ts';
import type { OpenQueue } from '../queue/create-queue.ts';
import type { CriterionLog, Reads } from '../ports.ts';
import { createAuditReads } from './audit-reads.ts';
import { readBlob } from './blobs.ts';
import { loadClaimToken } from './claim-token.ts';
import { createEventCursors } from './event-cursors.ts';
import type { EventHints } from './event-hints.ts';
import type { Connections } from './in-transaction.ts';
import { createLedgerReads } from './ledger-reads.ts';
import { loadEvents } from './load-events.ts';
import { listPackages } from './list-packages.ts';
import { listPayouts } from './list-payouts.ts';
import { toPage, toSlice } from './pages.ts';
import { createEvidenceReads } from './run-evidence.ts';
import { createSigningKeyReads } from './signing-keys.ts';
import {
  LISTED_CONTRACT_COLUMNS,
  type ListedContractRecord,
  toChallengeRow,
  toContractListRow,
  toContractRow,
  toOneOf,
  toPrincipalRow,
  toRunListRow,
  toRunRow,
  toSubmissionRow,
  WITH_ESCROW,
} from './rows.ts';
import { columnsOf, queryRows, told } from './sql.ts';

const CHALLENGES_MAX = 200;
const WITH_RESOLUTIONS = { resolutions: { orderBy: { number: 'asc' } } } as const;

export interface ReadsDeps {
  readonly newId: IdSource;
  readonly queue: Pick<OpenQueue, 'counts'>;
  readonly hints: Pick<EventHints, 'wait'>;
}

/** Plain finds go by Prisma; SQL where a cursor, a lock or every request is in it. */
export function createReads(connections: Connections, { newId, queue, hints }: ReadsDeps): Reads {
  const { pool, client } = connections;
  const eventCursors = createEventCursors(pool);
  return {
    ...createLedgerReads(connections),
    ...createAuditReads(connections),
    ...createSigningKeyReads(connections),
    ...createEvidenceReads(connections),
    principalByKey: async (keyHash) => {
      const [row] = await queryRows<Principal>(
        pool,
        `SELECT ${columnsOf(Prisma.PrincipalScalarFieldEnum, 'p')}
         FROM api_keys k JOIN principals p ON p.id = k.principal_id
         WHERE k.hash = $1 AND k.revoked_at IS NULL AND p.disabled_at IS NULL`,
        [keyHash],
      );
      return row === undefined ? null : toPrincipalRow(row);
    },
    principal: async (id) => {
      const row = await told(client.principal.findUnique({ where: { id } }));
      return row === null ? null : toPrincipalRow(row);
    },
    contract: async (id) => {
      const query = { where: { id }, include: WITH_ESCROW };
      const row = await told(client.contract.findUnique(query));
      return row === null ? null : toContractRow(row);
    },
    listContracts: (filter, page) => listContracts(connections, filter, page),
    submission: async (id) => {
      const row = await told(client.submission.findUnique({ where: { id } }));
      return row === null ? null : toSubmissionRow(row);
    },
    listSubmissions: async (contractId, page) => {
      const slice = toSlice(page);
      const { take, after } = slice;
      const where = { contractId, ...(after === null ? {} : { seq: { lt: after } }) };
      const query = { where, orderBy: { seq: 'desc' }, take } as const;
      return toPage(await told(client.submission.findMany(query)), slice, toSubmissionRow);
    },
    run: async (id) => {
      const row = await told(client.run.findUnique({ where: { id } }));
      return row === null ? null : toRunRow(row);
    },
    listRuns: async (submissionId) => {
      const orderBy = [{ createdAt: 'asc' }, { id: 'asc' }] as const;
      const rows = await told(
        client.run.findMany({
          where: { submissionId },
          orderBy: [...orderBy],
          omit: { result: true },
        }),
      );
      return rows.map(toRunListRow);
    },
    log: (runId, criterionId) => loadLog(connections, runId, criterionId),
    challenge: async (id) => {
      const query = { where: { id }, include: WITH_RESOLUTIONS };
      const row = await told(client.challenge.findUnique(query));
      return row === null ? null : toChallengeRow(row, row.resolutions);
    },
    listChallenges: async (submissionId) => {
      const orderBy = { seq: 'asc' } as const;
      const where = { submissionId };
      const query = { where, orderBy, take: CHALLENGES_MAX, include: WITH_RESOLUTIONS };
      const rows = await told(client.challenge.findMany(query));
      return rows.map((row) => toChallengeRow(row, row.resolutions));
    },
    claimToken: (contractId, solverId) => loadClaimToken(pool, newId, contractId, solverId),
    listPayouts: (state, page) => listPayouts(pool, state, page),
    packageOf: (sha256, ownerId) => {
      const where = { sha256_ownerId: { sha256, ownerId } };
      return told(client.package.findUnique({ where }));
    },
    listPackages: (ownerId, page) => listPackages(client, ownerId, page),
    events: async (...asked) => loadEvents(pool, await eventCursors(), asked),
    waitForEvents: (stream, signal) =>
      hints.wait('runId' in stream ? stream.runId : stream.contractId, signal),
    status: () => loadStatus(connections, queue),
  };
}

async function listContracts(
  { pool }: Connections,
  { states, requesterId, viewer }: Parameters<Reads['listContracts']>[0],
  page: Parameters<Reads['listContracts']>[1],
): Promise<Awaited<ReturnType<Reads['listContracts']>>> {
  const slice = toSlice(page);
  const rows = await queryRows<ListedContractRecord>(
    pool,
    `SELECT ${LISTED_CONTRACT_COLUMNS} FROM contracts c
     WHERE ($1::text[] IS NULL OR c.state = ANY($1)) AND ($2::text IS NULL OR c.requester_id = $2)
       AND ($3::text IS NULL OR c.requester_id = $3 OR (
         (NOT c.invite_only OR $6 OR $3 = ANY(c.invited_ids))
         AND EXISTS (SELECT FROM escrows e WHERE e.contract_id = c.id)))
       AND ($4::bigint IS NULL OR c.seq < $4)
     ORDER BY c.seq DESC LIMIT $5`,
    [
      states,
      requesterId,
      viewer?.id ?? null,
      slice.after,
      slice.take,
      viewer?.seesInviteOnly ?? false,
    ],
  );
  return toPage(rows, slice, toContractListRow);
}

async function loadLog(
  { pool, client }: Connections,
  runId: string,
  criterionId: string,
): Promise<CriterionLog | null> {
  const where = { runId_criterionId: { runId, criterionId } };
  const row = await told(client.criterionResult.findUnique({ where }));
  if (row === null || row.logBlob === null) return null;
  const chunks = await readBlob(pool, row.logBlob);
  if (chunks === null) return null;
  // The worker cuts logs at a size that fits into memory.
  const bytes = Buffer.concat(await Array.fromAsync(chunks));
  const visibility = toOneOf(['public', 'hidden'], row.visibility);
  return { criterionId, visibility, bytes, truncated: row.logTruncated };
}

async function loadStatus(
  { pool, client }: Connections,
  queue: Pick<OpenQueue, 'counts'>,
): Promise<Awaited<ReturnType<Reads['status']>>> {
  const select = { id: true, host: true, state: true, problem: true, heartbeatAt: true } as const;
  const [queues, workers, groups] = await told(
    Promise.all([
      queue.counts(),
      client.worker.findMany({ select, orderBy: { heartbeatAt: 'desc' }, take: 1_000 }),
      queryRows<{ state: string; count: number }>(
        pool,
        'SELECT state, count(*)::int AS count FROM submissions GROUP BY state',
      ),
    ]),
  );
  const submissionsByState = Object.fromEntries(groups.map(({ state, count }) => [state, count]));
  return { queues, workers, submissionsByState };
}
