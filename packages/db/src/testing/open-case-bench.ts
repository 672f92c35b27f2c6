import { canonicalDigest, isAppError, sha256Hex } from '@kervyxa/core';
import { CHAIN_START, checkChain, SUBMISSION_STATES } from '@kervyxa/settlement';
import { type CaseBench, type ContractTerms, CURRENCY } from '@kervyxa/settlement/shared-suite';
import type { Submission } from '../generated/client.ts';
import type { DatabaseParts } from '../open-database.ts';
import type { ContractDraft } from '../ports.ts';
import { saveBlob } from '../stores/blobs.ts';
import { createCaseStore } from '../stores/case-store.ts';
import { createCommands } from '../stores/commands.ts';
import { assembleCase, loadNow } from '../stores/load-case.ts';
import { createReads } from '../stores/reads.ts';
import { type ContractTermsRow, SUBMISSION_COLUMNS, TERMS_COLUMNS } from '../stores/rows.ts';
import { queryRows } from '../stores/sql.ts';
import { loadTransfers } from '../stores/transfers.ts';
import type { TestDatabase } from './open-test-database.ts';

const TRANSFERS_MAX = 100_000;
const ANSWER = { status: 200, body: '{}' };

/** Several may be open on one database, which is not closed with them; each lets time pass for its own contracts only. */
export function openCaseBench({ connections, deps, queue, hints }: DatabaseParts): CaseBench {
  const { pool } = connections;
  const { newId } = deps;
  const commands = createCommands(connections, deps);
  const reads = createReads(connections, { newId, queue, hints });
  const contractIds: string[] = [];
  let head = CHAIN_START;

  return {
    store: createCaseStore(connections, deps),
    newId,
    addPrincipal: () => addPrincipal(pool, newId('principal')),
    deposit: async (principalId, amountMinor) => {
      const reference = newId('transfer');
      const input = { principalId, amountMinor, currency: CURRENCY, reference };
      await commands.deposit(callOf(principalId), input, () => ANSWER);
    },
    seedContract: async (terms) => {
      const id = newId('contract');
      const seeding = createCommands(connections, { ...deps, newId: () => id });
      const draft = toDraft(id, terms, await loadNow(pool));
      await seeding.createContract(callOf(terms.requesterId), draft, () => ANSWER);
      await approve(pool, id);
      contractIds.push(id);
      return id;
    },
    submit: async (contractId, submissionId, solverId) => {
      const submitting = createCommands(connections, { ...deps, newId: () => submissionId });
      const commit = sha256Hex(submissionId).slice(0, 40);
      const input = { contractId, repositoryUrl: 'https://example.org/r.git', commit };
      try {
        await submitting.submit(callOf(solverId), input, () => ANSWER);
        return { kind: 'accepted', next: await readCase(pool, contractId), effects: [] };
      } catch (error) {
        if (isAppError(error)) return { kind: 'refused', error };
        throw error;
      }
    },
    elapse: (ms) => elapse(pool, contractIds, ms),
    now: () => loadNow(pool),
    readCase: (contractId) => readCase(pool, contractId),
    trialBalance: () => reads.trialBalance(),
    // What was walked once stays as it is: rules of the database see to that.
    checkLedger: async () => {
      const transfers = await loadTransfers(pool, { afterSeq: head.seq, limit: TRANSFERS_MAX });
      const checked = checkChain(transfers, head);
      head = checked.head;
      return checked.problem;
    },
    close: async () => {},
  };
}

type Pool = TestDatabase['pool'];

export async function addPrincipal(pool: Pool, id: string): Promise<string> {
  const roles = ['requester', 'solver', 'challenger', 'arbiter'];
  await pool.query('INSERT INTO principals (id, name, roles) VALUES ($1, $1, $2)', [id, roles]);
  return id;
}

/** As if a worker had proved it: all that `prove` wants of the database. */
async function approve(pool: Pool, contractId: string): Promise<void> {
  const report = [Buffer.from('{}')];
  const { sha256 } = await saveBlob(pool, report, { bytesMax: 2 });
  await pool.query(
    `UPDATE contracts SET approval_state = 'DONE', base_blob = $2, proving_blob = $2 WHERE id = $1`,
    [contractId, sha256],
  );
}

export function toDraft(seed: string, terms: ContractTerms, now: Date): ContractDraft {
  const document = JSON.stringify({ seed });
  return {
    document,
    digest: canonicalDigest({ seed }),
    title: 'A contract of a test',
    contractKind: 'bug_fix',
    repositoryUrl: 'https://example.org/r.git',
    baseCommit: '0'.repeat(40),
    packageSha256: null,
    dependenciesSha256: null,
    closesAt: new Date(now.getTime() + terms.closesInMs),
    rewardMinor: terms.rewardMinor,
    currency: CURRENCY,
    feeBps: terms.feeBps,
    windowSeconds: terms.challengeWindowMs / 1_000,
    responseSeconds: terms.responseWindowMs / 1_000,
    bondMinor: terms.bondMinor,
    inviteOnly: false,
    invitedIds: [],
    needsClaim: false,
  };
}

/** Moves every stored time of the contracts into the past, under their locks. Rules that keep times fixed are off meanwhile. */
export async function elapse(
  pool: Pool,
  contractIds: readonly string[],
  ms: number,
): Promise<void> {
  const sql = await pool.connect();
  const shift = `- ${ms} * interval '1 millisecond'`;
  try {
    await sql.query('BEGIN');
    await sql.query('SET LOCAL session_replication_role = replica');
    await sql.query('SELECT 1 FROM contracts WHERE id = ANY($1) ORDER BY id FOR UPDATE', [
      contractIds,
    ]);
    await sql.query(
      `UPDATE contracts SET closes_at = closes_at ${shift}, next_due_at = next_due_at ${shift} WHERE id = ANY($1)`,
      [contractIds],
    );
    await sql.query(
      `UPDATE submissions SET received_at = received_at ${shift}, capture_by = capture_by ${shift},
         held_until = held_until ${shift}, window_opens_at = window_opens_at ${shift},
         window_closes_at = window_closes_at ${shift}
       WHERE contract_id = ANY($1)`,
      [contractIds],
    );
    await sql.query(
      `UPDATE challenges SET filed_at = filed_at ${shift}, respond_by = respond_by ${shift},
         decide_by = decide_by ${shift}
       WHERE contract_id = ANY($1)`,
      [contractIds],
    );
    await sql.query('COMMIT');
  } finally {
    // Where something failed, closing the session undoes the rest.
    sql.release(true);
  }
}

async function readCase(pool: Pool, contractId: string): ReturnType<CaseBench['readCase']> {
  const [contract] = await queryRows<ContractTermsRow>(
    pool,
    `SELECT ${TERMS_COLUMNS} FROM contracts c WHERE c.id = $1`,
    [contractId],
  );
  if (contract === undefined) throw new Error(`expected contract ${contractId}, got none`);
  const submissions = await queryRows<Submission>(
    pool,
    `SELECT ${SUBMISSION_COLUMNS} FROM submissions s
     WHERE s.contract_id = $1 AND s.state = ANY($2) ORDER BY s.seq`,
    [contractId, SUBMISSION_STATES],
  );
  return assembleCase(pool, contract, submissions);
}

function callOf(actorId: string) {
  return { actorId, idempotency: null };
}
