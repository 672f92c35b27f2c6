import { isAppError, sha256Hex } from '@kervyxa/core';
import { available, escrow } from '@kervyxa/settlement';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toDraft } from '../testing/open-case-bench.ts';
import { ANSWER, callOf, openStores, type Stores, TERMS } from '../testing/open-stores.ts';
import { submitAll } from './submit.ts';

const PASS = { verdict: 'PASS', reason: null, resultDigest: `sha256:${'0'.repeat(64)}` } as const;

let stores: Stores;
beforeAll(async () => {
  stores = await openStores();
});
afterAll(() => stores.close());

/** A contract whose pass has a window that runs. */
async function openWindow() {
  const contract = await stores.openContract();
  const submission = await stores.submitCaptured(contract.contractId);
  const attempt = (await stores.work.startRun(submission.runId, 'wrk_1')) ?? 0;
  const seal = { kind: 'seal', runId: submission.runId, attempt, verdict: PASS } as const;
  await stores.cases.execute(contract.contractId, seal);
  return { ...contract, ...submission };
}

async function fileChallenge(contractId: string, submissionId: string): Promise<string> {
  const challengerId = await stores.bench.addPrincipal();
  await stores.bench.deposit(challengerId, TERMS.bondMinor);
  const challengeId = stores.newId('challenge');
  const command = {
    kind: 'challenge',
    challengeId,
    submissionId,
    challengerId,
    challenge: 'OVERTURN_PASS',
  } as const;
  try {
    const input = { contractId, command, statement: 'late' };
    await stores.commands.execute(callOf(challengerId), input, () => ({ status: 201, body: '' }));
    return 'ACCEPTED';
  } catch (error) {
    if (isAppError(error)) return error.code;
    throw error;
  }
}

/** Holds the lock of a contract while others come; what `change` does is seen by whoever gets it next. */
async function whileLocked<T>(
  contractId: string,
  others: () => Promise<T>,
  change: (sql: PoolClient) => Promise<unknown>,
): Promise<T> {
  const sql = await stores.test.pool.connect();
  try {
    await sql.query('BEGIN');
    await sql.query('SET LOCAL session_replication_role = replica');
    await sql.query('SELECT 1 FROM contracts WHERE id = $1 FOR UPDATE', [contractId]);
    const coming = others();
    await waitForBlocked();
    await change(sql);
    await sql.query('COMMIT');
    return await coming;
  } finally {
    sql.release(true);
  }
}

async function waitForBlocked(): Promise<void> {
  await expect.poll(async () => (await blockedPids()).length).toBeGreaterThan(0);
}

async function blockedPids(): Promise<number[]> {
  const { rows } = await stores.test.pool.query(
    `SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query NOT LIKE '%pg_stat_activity%'`,
  );
  return rows.map(({ pid }) => pid);
}

/** Transactions that wait for their program. */
async function sleepingPids(): Promise<number[]> {
  const { rows } = await stores.test.pool.query(
    `SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND state = 'idle in transaction'`,
  );
  return rows.map(({ pid }) => pid);
}

async function newSubmit(contractId: string) {
  const commit = sha256Hex(stores.newId('submission')).slice(0, 40);
  const input = { contractId, repositoryUrl: 'https://example.org/r.git', commit };
  return { call: callOf(await stores.bench.addPrincipal()), input };
}

function closeWindow(sql: PoolClient, submissionId: string): Promise<unknown> {
  return sql.query(
    `UPDATE submissions SET window_opens_at = window_opens_at - interval '1 day',
       window_closes_at = date_trunc('milliseconds', clock_timestamp()) WHERE id = $1`,
    [submissionId],
  );
}

// Keeps R-DATABASE-TIME, R-SETTLE-WINDOW.
describe('a challenge', () => {
  it('S01 S02 that began to wait before the deadline and got the lock after it is refused', async () => {
    const { contractId, submissionId } = await openWindow();
    const code = await whileLocked(
      contractId,
      () => fileChallenge(contractId, submissionId),
      (sql) => closeWindow(sql, submissionId),
    );
    expect(code).toBe('SETTLEMENT_WINDOW_CLOSED');
    await stores.cases.execute(contractId, { kind: 'advance' });
    expect((await stores.reads.contract(contractId))?.state).toBe('SETTLED');
  });

  it('S01 that waits behind a settlement, or a settlement that waits behind it: never both', async () => {
    const { contractId, submissionId, solverId } = await openWindow();
    const [code] = await whileLocked(
      contractId,
      () =>
        Promise.all([
          fileChallenge(contractId, submissionId),
          ...Array.from({ length: 5 }, () => stores.cases.execute(contractId, { kind: 'advance' })),
        ]),
      (sql) => closeWindow(sql, submissionId),
    );
    expect(['SETTLEMENT_WINDOW_CLOSED', 'SETTLEMENT_PASS_NOT_HELD']).toContain(code);
    expect((await stores.reads.balances(solverId)).get('USD')).toBe(975n);
    expect(await stores.reads.listChallenges(submissionId)).toEqual([]);
  });

  it('S02 a settler that waits past the deadline settles, whose own clock was early', async () => {
    const { contractId, submissionId } = await openWindow();
    const decision = await whileLocked(
      contractId,
      () => stores.cases.execute(contractId, { kind: 'advance' }),
      (sql) => closeWindow(sql, submissionId),
    );
    expect(decision.kind === 'accepted' && decision.next.contract.state).toBe('SETTLED');
  });

  it('S28 is not kept out by a crowd of submits, each of which lets in the next', async () => {
    const { contractId, submissionId } = await openWindow();
    const { connections, deps } = stores.parts;
    const hold = Promise.withResolvers<void>();
    const first = connections.transact(async (transaction) => {
      await submitAll(transaction, deps, contractId, [await newSubmit(contractId)]);
      await hold.promise;
    });
    await expect.poll(async () => (await sleepingPids()).length).toBe(1);
    const challenge = fileChallenge(contractId, submissionId);
    await waitForBlocked();
    const next = newSubmit(contractId).then(({ call, input }) =>
      stores.commands.submit(call, input, () => ({ status: 201, body: '' })),
    );
    const isInTurn = async () => expect.poll(blockedPids).toHaveLength(2);
    const order = await Promise.race([
      next.then(() => 'overtaken'),
      isInTurn().then(() => 'in turn'),
    ]);
    hold.resolve();
    expect([order, await challenge]).toEqual(['in turn', 'ACCEPTED']);
    await Promise.all([first, next]);
  });

  it('asks no clock of the host, which may stand anywhere', async () => {
    const { contractId, submissionId } = await openWindow();
    const RealDate = globalThis.Date;
    class WrongDate extends RealDate {
      static override now(): number {
        return RealDate.now() + 10 * 365 * 86_400_000;
      }
    }
    globalThis.Date = WrongDate as DateConstructor;
    try {
      await stores.cases.execute(contractId, { kind: 'advance' });
      expect(await fileChallenge(contractId, submissionId)).toBe('ACCEPTED');
    } finally {
      globalThis.Date = RealDate;
    }
    expect((await stores.reads.contract(contractId))?.state).toBe('IN_CHALLENGE');
  });
});

// Keeps R-SETTLE-ONCE.
describe('money', () => {
  it('S03 BUG-58 moves once when settle, overturn and refund come at once, a hundred times', async () => {
    const seen = new Set<string>();
    for (let round = 0; round < 100; round += 1) {
      const { contractId, requesterId, submissionId, solverId } = await openWindow();
      if (round % 2 === 0) await fileChallenge(contractId, submissionId);
      const [challenge] = await stores.reads.listChallenges(submissionId);
      const arbiterId = await stores.bench.addPrincipal();
      await stores.bench.elapse(TERMS.closesInMs);
      await Promise.all([
        stores.cases.execute(contractId, { kind: 'advance' }),
        stores.cases.execute(contractId, { kind: 'cancel' }),
        stores.cases.execute(contractId, {
          kind: 'resolve',
          challengeId: challenge?.id ?? 'chl_none',
          arbiterId,
          decision: 'OVERTURN_PASS',
        }),
        stores.cases.execute(contractId, { kind: 'advance' }),
      ]);
      await stores.cases.execute(contractId, { kind: 'advance' });
      const { rows } = await stores.test.pool.query(
        `SELECT kind FROM ledger_transfers WHERE contract_id = $1 AND kind IN ('payout', 'escrow_refunded')`,
        [contractId],
      );
      expect(rows).toHaveLength(1);
      seen.add(rows[0].kind);
      const paid = (await stores.reads.balances(solverId)).get('USD') ?? 0n;
      const refunded = (await stores.reads.balances(requesterId)).get('USD') ?? 0n;
      expect([paid, refunded]).toEqual(rows[0].kind === 'payout' ? [975n, 0n] : [0n, 1_000n]);
    }
    expect(seen).toEqual(new Set(['payout', 'escrow_refunded']));
    const sum = (await stores.reads.trialBalance()).reduce(
      (all, each) => all + each.balanceMinor,
      0n,
    );
    expect(sum).toBe(0n);
    expect((await stores.reads.checkLedger()).problem).toBeNull();
  });
});

// Keeps R-COMMIT-WHOLE.
describe('a backend that dies in the middle of a settlement', () => {
  // Each statement that settling waits for in turn, so that it dies once before each of its parts.
  it.each([
    ['before money moves', 'SELECT 1 FROM ledger_head FOR UPDATE'],
    ['after money moved, before the states', 'LOCK TABLE submissions IN SHARE MODE'],
    ['after all states, before the record', 'LOCK TABLE events IN SHARE MODE'],
  ])('leaves nothing half done: %s', async (_title, obstacle) => {
    const { contractId, solverId } = await openWindow();
    await stores.bench.elapse(TERMS.challengeWindowMs);
    const before = await stores.bench.readCase(contractId);
    const sql = await stores.test.pool.connect();
    await sql.query('BEGIN');
    await sql.query(obstacle);
    const ending = stores.cases.execute(contractId, { kind: 'advance' }).then(
      () => 'settled',
      (error: unknown) => (isAppError(error) ? error.code : error),
    );
    await waitForBlocked();
    for (const pid of await blockedPids()) {
      await stores.test.pool.query('SELECT pg_terminate_backend($1)', [pid]);
    }
    expect(await ending).toBe('DB_UNAVAILABLE');
    await sql.query('ROLLBACK');
    sql.release();

    expect(await stores.bench.readCase(contractId)).toEqual(before);
    expect((await stores.reads.balances(solverId)).get('USD') ?? 0n).toBe(0n);
    expect(await balanceOf(escrow(contractId))).toBe(TERMS.rewardMinor);
    await stores.cases.execute(contractId, { kind: 'advance' });
    expect(await balanceOf(available(solverId, 'USD'))).toBe(975n);
    expect((await stores.reads.checkLedger()).problem).toBeNull();
  });
});

async function balanceOf(account: string): Promise<bigint> {
  const accounts = await stores.reads.trialBalance();
  return accounts.find((each) => each.account === account)?.balanceMinor ?? 0n;
}

// Keeps R-PROVED-FIRST.
describe('an edit and the money at the same moment', () => {
  it('funds a reward while it is edited to another: what was proved is under money, or nothing is', async () => {
    for (let round = 0; round < 12; round += 1) {
      const requesterId = await stores.bench.addPrincipal();
      await stores.bench.deposit(requesterId, 10n * TERMS.rewardMinor);
      const contractId = await stores.bench.seedContract({ ...TERMS, requesterId });
      await stores.cases.execute(contractId, { kind: 'prove' });
      const proved = await stores.reads.contract(contractId);
      const terms = { ...TERMS, requesterId, rewardMinor: 7n };
      const draft = toDraft(`${contractId} edited`, terms, await stores.now());
      const revise = () =>
        stores.commands.reviseContract(callOf(requesterId), { contractId, draft }, () => ANSWER);
      const fund = () => stores.cases.execute(contractId, { kind: 'fund' });
      const both = round % 2 === 0 ? [fund(), revise()] : [revise(), fund()];
      await Promise.allSettled(both);
      const row = await stores.reads.contract(contractId);
      const { rows } = await stores.test.pool.query(
        'SELECT amount_minor::text AS held FROM escrows WHERE contract_id = $1',
        [contractId],
      );
      const seen = { state: row?.state, digest: row?.digest, money: rows };
      expect([
        { state: 'OPEN', digest: proved?.digest, money: [{ held: String(TERMS.rewardMinor) }] },
        { state: 'DRAFT', digest: draft.digest, money: [] },
      ]).toContainEqual(seen);
    }
  });
});
