import { isAppError, type ReasonCode, type SealedVerdict, sha256Hex } from '@kervyxa/core';
import { decide } from '@kervyxa/settlement';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SubmissionRow, SubmittedRow } from '../ports.ts';
import { ANSWER, callOf, openStores, type Stores, TERMS } from '../testing/open-stores.ts';
import { HOUR_MS } from '../testing/open-stores.ts';

const URL = 'https://example.org/solver.git';
const LINE_MAX = 4;
const SOLVER_MAX = 2;
const ATTEMPTS_MAX = 5;

let stores: Stores;
beforeAll(async () => {
  stores = await openStores({
    lineLengthMax: LINE_MAX,
    linePerSolverMax: SOLVER_MAX,
    attemptsPerSolverMax: ATTEMPTS_MAX,
  });
});
afterAll(() => stores.close());

function commitOf(name: string): string {
  return sha256Hex(name).slice(0, 40);
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'ACCEPTED';
  } catch (error) {
    if (isAppError(error)) return error.code;
    throw error;
  }
}

function submit(contractId: string, solverId: string, commit = commitOf(stores.newId('run'))) {
  return stores.commands.submit(
    callOf(solverId),
    { contractId, repositoryUrl: URL, commit },
    () => ANSWER,
  );
}

function refusal(verdict: 'FAIL' | 'INCONCLUSIVE', reason: ReasonCode): SealedVerdict {
  return { verdict, reason, resultDigest: `sha256:${'0'.repeat(64)}` };
}

/** Captures and fails what waits, as a worker would. */
async function failAll(contractId: string): Promise<void> {
  for (const { id: submissionId } of (await stores.bench.readCase(contractId)).submissions) {
    await stores.cases.execute(contractId, { kind: 'capture', submissionId });
  }
  const verdict = refusal('FAIL', 'EXIT_CODE_MISMATCH');
  for (const { id: runId } of (await stores.bench.readCase(contractId)).runs) {
    await stores.cases.execute(contractId, { kind: 'start', runId });
    await stores.cases.execute(contractId, { kind: 'seal', runId, attempt: 1, verdict });
  }
}

interface Situation {
  readonly contractId: string;
  readonly solverId: string;
}

type Arrange = (given: Situation & { readonly requesterId: string }) => Promise<Partial<Situation>>;

const SITUATIONS: readonly (readonly [title: string, code: string, arrange: Arrange])[] = [
  ['an open contract', 'ACCEPTED', async () => ({})],
  [
    'a contract in its challenge window',
    'ACCEPTED',
    async ({ contractId }) => {
      const { runId } = await stores.submitCaptured(contractId);
      const attempt = await stores.work.startRun(runId, 'wrk_1');
      const resultDigest = `sha256:${'0'.repeat(64)}`;
      const verdict = { verdict: 'PASS' as const, reason: null, resultDigest };
      const seal = { kind: 'seal' as const, runId, attempt: attempt ?? 0, verdict };
      await stores.cases.execute(contractId, seal);
      return {};
    },
  ],
  [
    'a contract one minute before it closes',
    'ACCEPTED',
    async () => {
      await stores.bench.elapse(TERMS.closesInMs - 60_000);
      return {};
    },
  ],
  [
    'the closing time itself',
    'SETTLEMENT_CONTRACT_CLOSED',
    async () => {
      await stores.bench.elapse(TERMS.closesInMs);
      return {};
    },
  ],
  [
    'a cancelled contract, also after its closing time',
    'SETTLEMENT_CONTRACT_STATE_REFUSED',
    async ({ contractId }) => {
      await stores.cases.execute(contractId, { kind: 'cancel' });
      await stores.bench.elapse(TERMS.closesInMs);
      return {};
    },
  ],
  [
    'the requester',
    'SETTLEMENT_OWN_CONTRACT',
    async ({ requesterId }) => ({ solverId: requesterId }),
  ],
  [
    'a solver with as many in line as one may have',
    'SETTLEMENT_SOLVER_LINE_FULL',
    async ({ contractId, solverId }) => {
      for (let count = 0; count < SOLVER_MAX; count += 1) await submit(contractId, solverId);
      return {};
    },
  ],
  [
    'a full line, also for a solver with too many in it',
    'SETTLEMENT_LINE_FULL',
    async ({ contractId, solverId }) => {
      for (let count = 0; count < SOLVER_MAX; count += 1) await submit(contractId, solverId);
      for (let count = SOLVER_MAX; count < LINE_MAX; count += 1) {
        await submit(contractId, await stores.bench.addPrincipal());
      }
      return {};
    },
  ],
  [
    'a line in which one was decided',
    'ACCEPTED',
    async ({ contractId, solverId }) => {
      for (let count = 0; count < SOLVER_MAX; count += 1) await submit(contractId, solverId);
      const { submissions } = await stores.bench.readCase(contractId);
      const submissionId = submissions[0]?.id ?? '';
      const verdict = {
        verdict: 'INCONCLUSIVE' as const,
        reason: 'COMMIT_NOT_FOUND' as const,
        resultDigest: `sha256:${'0'.repeat(64)}`,
      };
      await stores.cases.execute(contractId, { kind: 'refuse_capture', submissionId, verdict });
      return {};
    },
  ],
];

// Keeps R-SUBMIT-ALIKE, R-ANSWER-ONCE, R-DATABASE-TIME.
describe('submitting', () => {
  it.each(SITUATIONS)('is answered by %s as it is decided: %s', async (_title, code, arrange) => {
    const contract = await stores.openContract();
    const solverId = await stores.bench.addPrincipal();
    const given = { ...contract, solverId };
    const { contractId, solverId: who } = { ...given, ...(await arrange(given)) };

    const held = await stores.bench.readCase(contractId);
    const { policy, newId } = stores.parts.deps;
    const command = { kind: 'submit', submissionId: newId('submission'), solverId: who } as const;
    const decision = decide(held, command, { now: await stores.now(), newId, policy });
    expect(decision.kind === 'refused' ? decision.error.code : 'ACCEPTED').toBe(code);

    expect(await codeOf(submit(contractId, who))).toBe(code);
    const count = (await stores.bench.readCase(contractId)).submissions.length;
    expect(count).toBe(held.submissions.length + (code === 'ACCEPTED' ? 1 : 0));
  });

  it('refuses a contract that is not there', async () => {
    const solverId = await stores.bench.addPrincipal();
    const code = await codeOf(submit(stores.newId('contract'), solverId));
    expect(code).toBe('SETTLEMENT_CONTRACT_UNKNOWN');
  });

  it('S02 waits for the lock and is judged by the time at which it got it', async () => {
    const { contractId } = await stores.openContract();
    const solverId = await stores.bench.addPrincipal();
    const sql = await stores.test.pool.connect();
    await sql.query('BEGIN');
    await sql.query('SET LOCAL session_replication_role = replica');
    await sql.query('SELECT 1 FROM contracts WHERE id = $1 FOR UPDATE', [contractId]);
    const code = codeOf(submit(contractId, solverId));
    await waitForBlocked();
    await sql.query('UPDATE contracts SET closes_at = clock_timestamp() WHERE id = $1', [
      contractId,
    ]);
    await sql.query('COMMIT');
    sql.release(true);
    expect(await code).toBe('SETTLEMENT_CONTRACT_CLOSED');
  });

  it('gives places in the order of receipt to those who submit at once, and keeps nobody out', async () => {
    const { contractId } = await stores.openContract();
    const solvers = await Promise.all(
      Array.from({ length: LINE_MAX }, () => stores.bench.addPrincipal()),
    );
    await Promise.all(solvers.map((solverId) => submit(contractId, solverId)));
    const { items } = await stores.reads.listSubmissions(contractId, { limit: 100, after: null });
    expect(items.map(({ solverId }) => solverId).toSorted()).toEqual(solvers.toSorted());
  });

  it('takes only invited solvers where the contract says so', async () => {
    const { contractId } = await stores.openContract();
    const [invited, other] = [await stores.bench.addPrincipal(), await stores.bench.addPrincipal()];
    const sql = await stores.test.pool.connect();
    await sql.query('SET session_replication_role = replica');
    await sql.query('UPDATE contracts SET invite_only = true, invited_ids = $2 WHERE id = $1', [
      contractId,
      [invited],
    ]);
    sql.release(true);
    expect(await codeOf(submit(contractId, other))).toBe('DB_SOLVER_NOT_INVITED');
    expect(await codeOf(submit(contractId, invited))).toBe('ACCEPTED');
  });

  it('takes one commit of one solver once, and again after its source could not be had', async () => {
    const { contractId } = await stores.openContract();
    const solverId = await stores.bench.addPrincipal();
    const commit = commitOf('the same');
    expect(await codeOf(submit(contractId, solverId, commit))).toBe('ACCEPTED');
    expect(await codeOf(submit(contractId, solverId, commit))).toBe('DB_SUBMISSION_DUPLICATE');
    expect(await codeOf(submit(contractId, await stores.bench.addPrincipal(), commit))).toBe(
      'ACCEPTED',
    );
    for (const { id: submissionId } of (await stores.bench.readCase(contractId)).submissions) {
      await stores.cases.execute(contractId, { kind: 'try_capture', submissionId });
    }
    await stores.bench.elapse(HOUR_MS);
    await stores.cases.execute(contractId, { kind: 'advance' });
    expect(await codeOf(submit(contractId, solverId, commit))).toBe('ACCEPTED');
  });

  it('S06 answers ten equal requests with one key alike, and makes one submission and one job of them', async () => {
    const { contractId } = await stores.openContract();
    const solverId = await stores.bench.addPrincipal();
    const input = { contractId, repositoryUrl: URL, commit: commitOf('ten') };
    const repeats: boolean[] = [];
    const toAnswer = ({ isRepeat, ...row }: SubmittedRow) => {
      repeats.push(isRepeat);
      return { status: 201, body: bodyOf(row) };
    };
    const ask = () => stores.commands.submit(callOf(solverId, 'ten'), input, toAnswer);
    const answers = await Promise.all(Array.from({ length: 10 }, ask));
    const { submissions } = await stores.bench.readCase(contractId);
    const submissionId = submissions[0]?.id ?? '';
    await stores.cases.execute(contractId, { kind: 'capture', submissionId });
    // Whatever has become of it meanwhile.
    answers.push(await ask());
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(repeats.filter((isRepeat) => !isRepeat)).toHaveLength(1);
    const { items } = await stores.reads.listSubmissions(contractId, { limit: 100, after: null });
    expect(items).toHaveLength(1);
    const jobs = await stores.test.pool.query('SELECT 1 FROM queue.job WHERE singleton_key = $1', [
      items[0]?.id,
    ]);
    expect(jobs.rowCount).toBe(1);
  });

  it('takes down nobody else: one whose row the database refuses fails alone', async () => {
    const { contractId } = await stores.openContract();
    const solvers = await Promise.all(Array.from({ length: 3 }, () => stores.bench.addPrincipal()));
    const [first, bad, last] = solvers;
    const outcomes = await Promise.allSettled([
      submit(contractId, await stores.bench.addPrincipal()),
      submit(contractId, first ?? ''),
      submit(contractId, bad ?? '', 'not a commit'),
      submit(contractId, last ?? ''),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
  });

  it('S05 meets a queue that takes no jobs: everybody is told, and no process ends', async () => {
    const { contractId, requesterId } = await stores.openContract();
    const { pool } = stores.test;
    await pool.query(`
      CREATE FUNCTION break_queue() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''broken''; END';
      CREATE TRIGGER broken BEFORE INSERT ON queue.job FOR EACH ROW EXECUTE FUNCTION break_queue()`);
    const input = () => ({ contractId, repositoryUrl: URL, commit: commitOf(stores.newId('run')) });
    const submitWith = (solverId: string) =>
      stores.commands.submit(callOf(solverId, stores.newId('key')), input(), () => ANSWER);
    const solverId = await stores.bench.addPrincipal();
    // The first has a transaction of its own, the others share the next.
    const ends = await Promise.allSettled([
      submitWith(solverId),
      submitWith(solverId),
      submitWith(requesterId),
    ]);
    await pool.query('DROP FUNCTION break_queue() CASCADE');
    expect(ends.map((end) => end.status === 'rejected' && String(end.reason))).toEqual([
      expect.stringContaining('broken'),
      expect.stringContaining('broken'),
      expect.stringContaining('expected a solver who is not the requester'),
    ]);
    expect((await stores.bench.readCase(contractId)).submissions).toEqual([]);
  });

  it('puts a job for each into the queue, and one after the other in turns', async () => {
    const { contractId } = await stores.openContract();
    const solverId = await stores.bench.addPrincipal();
    await Promise.all([
      submit(contractId, await stores.bench.addPrincipal()),
      submit(contractId, solverId),
      submit(contractId, solverId),
      submit(contractId, await stores.bench.addPrincipal()),
    ]);
    const { items } = await stores.reads.listSubmissions(contractId, { limit: 10, after: null });
    const { rows } = await stores.test.pool.query(
      `SELECT singleton_key FROM queue.job WHERE data ->> 'contractId' = $1 ORDER BY priority DESC`,
      [contractId],
    );
    expect(rows.map((row) => row.singleton_key)).toEqual(items.map(({ id }) => id).toReversed());
    const priorities = await stores.test.pool.query(
      `SELECT 1 FROM queue.job WHERE data ->> 'contractId' = $1 GROUP BY priority`,
      [contractId],
    );
    expect(priorities.rowCount).toBe(items.length);
  });

  it('H15 counts all tries of a solver, whatever came of them, but those whose source could not be had', async () => {
    const { contractId } = await stores.openContract();
    const solverId = await stores.bench.addPrincipal();
    const code = () => codeOf(submit(contractId, solverId));
    expect(await code()).toBe('ACCEPTED');
    const [{ id: submissionId } = { id: '' }] = (await stores.bench.readCase(contractId))
      .submissions;
    const verdict = refusal('INCONCLUSIVE', 'COMMIT_NOT_FOUND');
    await stores.cases.execute(contractId, { kind: 'refuse_capture', submissionId, verdict });
    for (let tries = 0; tries < ATTEMPTS_MAX; tries += 1) {
      expect([tries, await code()]).toEqual([tries, 'ACCEPTED']);
      await failAll(contractId);
    }
    expect(await code()).toBe('SETTLEMENT_ATTEMPTS_USED');
    expect(await codeOf(submit(contractId, await stores.bench.addPrincipal()))).toBe('ACCEPTED');
    const other = await stores.openContract();
    expect(await codeOf(submit(other.contractId, solverId))).toBe('ACCEPTED');
  });

  it('S06 refuses a key that was used for another request, and forgets the key of a refusal', async () => {
    const { contractId } = await stores.openContract();
    const solverId = await stores.bench.addPrincipal();
    const unknown = stores.newId('contract');
    const ask = (id: string, input: string) => {
      const submission = { contractId: id, repositoryUrl: URL, commit: commitOf('key') };
      return codeOf(
        stores.commands.submit(callOf(solverId, 'key', input), submission, () => ANSWER),
      );
    };
    expect(await ask(unknown, 'a')).toBe('SETTLEMENT_CONTRACT_UNKNOWN');
    expect(await ask(contractId, 'b')).toBe('ACCEPTED');
    expect(await ask(contractId, 'c')).toBe('DB_IDEMPOTENCY_CONFLICT');
  });
});

function bodyOf(row: SubmissionRow): string {
  return JSON.stringify({ ...row, seq: String(row.seq) });
}

/** Somebody waits for a lock that another session of this database holds. */
async function waitForBlocked(): Promise<void> {
  await expect
    .poll(async () => {
      const { rowCount } = await stores.test.pool.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rowCount;
    })
    .toBeGreaterThan(0);
}
