import { canonicalDigest } from '@kervyxa/core';
import { sha256Hex } from '@kervyxa/core';
import { afterAll, describe, expect, it, vi } from 'vitest';
import {
  openCheckerStores,
  implementationOf,
  sealOf,
  WEEK_MS,
} from '../../testing/open-checker-stores.ts';
import { callOf } from '../../testing/open-stores.ts';
import { TEST_KEY } from '../../testing/sealed-as.ts';

const {
  stores,
  ownerId,
  solverId,
  packageOf,
  blobOf,
  publish,
  report,
  openProblem,
  submit,
  runTask,
  stateOf,
  waitingJobs,
} = await openCheckerStores();
afterAll(() => stores.close());

describe('a check', () => {
  it('waits for a program to conform, is sent then, and ends with a record that stays', async () => {
    const published = await publish(await packageOf('f', '1'));
    const { id: implementationId } = implementationOf(published);
    const problemId = await openProblem(published.contract.id);
    const answer = await blobOf('forty-two');
    const checkId = await submit(problemId, answer);
    const { work, reads } = stores.checkers;
    expect(await work.checkTask(checkId)).toEqual({ kind: 'waits' });
    await stores.test.pool.query(`DELETE FROM queue.job WHERE name = 'check'`);
    // Nobody could do it: it is not lost.
    await stores.upkeep.resendLost(100);
    expect(await waitingJobs('check')).toEqual([]);
    await report(implementationId, true);
    expect(await waitingJobs('check')).toEqual([checkId]);

    const task = await runTask(checkId);
    expect([...task.reference]).toEqual([
      ['question', { filename: 'question.txt', mediaType: null, blob: sha256Hex('question') }],
    ]);
    expect(task.entry).toMatchObject({
      solverId,
      summaryText: 'Here it is.',
      artifacts: [{ role: 'answer', blob: answer, sizeBytes: 9n }],
    });
    expect(await work.decideCheck(checkId, sealOf(task))).toMatchObject({ kind: 'accepted' });
    expect(await stateOf(checkId)).toBe('VERIFIED');

    const last = await work.checkTask(checkId);
    expect(last).toMatchObject({ kind: 'record', contract: { id: published.contract.id } });
    const { keyid } = TEST_KEY;
    const record = (evaluation: string) =>
      work.recordCheck(checkId, { evaluation, keyid, attest: ({ audit }) => audit.hash });
    await expect(record('{}')).rejects.toMatchObject({ code: 'DB_SIGNING_KEY_RETIRED' });
    await stores.work.useSigningKey(TEST_KEY);
    await record('{"one":1}');
    await record('{"two":2}');
    const attestation = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(await reads.check(checkId)).toMatchObject({ evaluation: '{"one":1}', attestation });
    expect(await work.checkTask(checkId)).toEqual({ kind: 'waits' });
  });

  // Keeps R-AUDIT-CHAIN.
  it('is recorded with one entry in the audit log, which tells whoever changes it in the tables', async () => {
    const published = await publish(await packageOf('p', '1'));
    await report(implementationOf(published).id, true);
    const problemId = await openProblem(published.contract.id);
    const checkId = await submit(problemId, await blobOf('x'));
    const { work, reads } = stores.checkers;
    await work.decideCheck(checkId, sealOf(await runTask(checkId)));
    const { pool } = stores.test;
    const setTo = (fields: string) =>
      pool.query(`UPDATE checks SET ${fields} WHERE id = $1`, [checkId]);
    const tamper = (script: string) =>
      pool.query(`BEGIN; SET LOCAL session_replication_role = replica; ${script}; COMMIT`);
    const problemOf = async () => (await stores.reads.checkAudit()).problem;

    await setTo(`evaluation = '{}', attestation = '{}'`);
    expect(await problemOf()).toBe(`what is kept of ${checkId} is in no entry`);
    await tamper(`UPDATE checks SET evaluation = NULL, attestation = NULL WHERE id = '${checkId}'`);

    await stores.work.useSigningKey(TEST_KEY);
    const head = await stores.reads.auditHead();
    const { keyid } = TEST_KEY;
    for (const evaluation of ['{"one":1}', '{"two":2}']) {
      await work.recordCheck(checkId, { evaluation, keyid, attest: ({ audit }) => audit.hash });
    }
    const check = await reads.check(checkId);
    expect(check?.attestation).toBe(head.hash);
    const page = { limit: 10, after: String(head.seq) };
    const { items } = await stores.reads.listAudit(page);
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      kind: 'check_recorded',
      subject: checkId,
      digest: canonicalDigest(check?.facts.results),
      facts: {
        problem: problemId,
        entry: check?.facts.entryId,
        state: 'VERIFIED',
        evaluation: `sha256:${sha256Hex('{"one":1}')}`,
        attestation: `sha256:${sha256Hex(head.hash)}`,
        keyid,
      },
    });
    expect(await problemOf()).toBeNull();

    await pool.query(`CREATE TABLE kept AS SELECT * FROM checks WHERE id = '${checkId}'`);
    for (const change of [
      `state = 'REFUTED', facts = facts || '{"state":"REFUTED"}'`,
      `facts = jsonb_set(facts, '{results,0,message}', '"it was bought"')`,
      `evaluation = '{"two":2}'`,
      `attestation = 'of another key'`,
      'evaluation = NULL, attestation = NULL',
    ]) {
      await tamper(`UPDATE checks SET ${change} WHERE id = '${checkId}'`);
      const problem = `entry ${items[0]?.seq}: what is kept of ${checkId} is not what it says`;
      expect([change, await problemOf()]).toEqual([change, problem]);
      await tamper(`UPDATE checks c SET (state, facts, evaluation, attestation) =
        (k.state, k.facts, k.evaluation, k.attestation) FROM kept k WHERE k.id = c.id`);
    }
    expect(await problemOf()).toBeNull();
    await pool.query('DROP TABLE kept');
  });

  it('has a worker that comes back after another has begun: what it says changes nothing', async () => {
    const published = await publish(await packageOf('g', '1'));
    await report(implementationOf(published).id, true);
    const checkId = await submit(await openProblem(published.contract.id), await blobOf('x'));
    const first = await runTask(checkId);
    const second = await runTask(checkId);
    expect(second.attempt).toBe(first.attempt + 1);
    const { work } = stores.checkers;
    expect(await work.decideCheck(checkId, sealOf(first))).toMatchObject({ kind: 'refused' });
    expect(await stateOf(checkId)).toBe('WAITING_SANDBOX');
    const told = await Promise.all([1, 2, 3].map(() => work.decideCheck(checkId, sealOf(second))));
    expect(told.map(({ kind }) => kind).toSorted()).toEqual(['accepted', 'refused', 'refused']);
    expect((await stores.checkers.reads.check(checkId))?.facts.results).toHaveLength(1);
  });

  // Else a nomination in time that is committed after the cutoff would not be seen, and nothing judged.
  it('waits for what is being done to its problem', async () => {
    const published = await publish(await packageOf('Waits', 'print(7)'));
    const problemId = await openProblem(published.contract.id);
    const checkId = await submit(problemId, await blobOf('an answer'));
    const { pool } = stores.test;
    const other = await pool.connect();
    try {
      await other.query('BEGIN');
      await other.query('SELECT 1 FROM problems WHERE id = $1 FOR NO KEY UPDATE', [problemId]);
      const decided = stores.checkers.work.decideCheck(checkId, { kind: 'advance' });
      await vi.waitUntil(async () => {
        const { rowCount } = await pool.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rowCount === 1;
      }, 10_000);
      await other.query('COMMIT');
      expect(await decided).toMatchObject({ kind: 'accepted' });
    } finally {
      other.release();
    }
  });

  it('ends inconclusive, and says what is missing, where no program conforms', async () => {
    const published = await publish(await packageOf('h', '1'));
    const checkId = await submit(await openProblem(published.contract.id), await blobOf('x'));
    await report(implementationOf(published).id, false);
    expect(await stores.checkers.work.checkTask(checkId)).toEqual({ kind: 'waits' });
    expect(await stores.checkers.reads.check(checkId)).toMatchObject({
      facts: {
        state: 'INCONCLUSIVE',
        results: [{ outcome: 'inconclusive', mechanism: expect.stringContaining('form') }],
      },
    });
  });

  it('is held after our own trouble, for as long as the policy says', async () => {
    const published = await publish(await packageOf('i', '1'));
    await report(implementationOf(published).id, true);
    const checkId = await submit(await openProblem(published.contract.id), await blobOf('x'));
    const { work } = stores.checkers;
    for (let tries = 0; (await stateOf(checkId)) === 'WAITING_SANDBOX' && tries < 9; tries += 1) {
      const { attempt } = await runTask(checkId);
      await work.decideCheck(checkId, { kind: 'fail', attempt, reason: 'ENGINE_UNAVAILABLE' });
    }
    expect(await stateOf(checkId)).toBe('HELD');
    expect(await work.listDueChecks(10)).not.toContain(checkId);
    await stores.test.pool.query(`UPDATE checks SET next_due_at = now() WHERE id = $1`, [checkId]);
    expect(await work.listDueChecks(10)).toContain(checkId);
  });
});

describe('bytes that a problem or an entry names', () => {
  it('are kept, whatever their age; those that nobody sent can’t be named', async () => {
    const published = await publish(await packageOf('j', '1'));
    const problemId = await openProblem(published.contract.id);
    await submit(problemId, await blobOf('artifact'));
    const unused = await blobOf('unused');
    await stores.test.pool.query(`UPDATE blobs SET created_at = now() - interval '8 days'`);
    await stores.upkeep.forgetUnusedBlobs(WEEK_MS, 1_000);
    const kept = async (sha256: string) => (await stores.blobs.readBlob(sha256)) !== null;
    expect(await kept(unused)).toBe(false);
    expect(await kept(sha256Hex('artifact'))).toBe(true);
    expect(await kept(sha256Hex('solution'))).toBe(true);
    expect(await kept(published.implementations[0]?.packageSha256 ?? '')).toBe(true);
    await expect(submit(problemId, unused)).rejects.toMatchObject({ code: 'DB_BLOB_UNKNOWN' });
  });

  it('are found by the problems of one owner that share them', async () => {
    const published = await publish(await packageOf('k', '1'));
    const one = await openProblem(published.contract.id);
    const two = await openProblem(published.contract.id);
    const { reads } = stores.checkers;
    expect(await reads.problemsThatBind(one, [sha256Hex('solution')])).toContain(two);
    expect(await reads.problemsThatBind(one, [sha256Hex('nothing')])).toEqual([]);
  });
});

describe('pages', () => {
  it('of problems show a viewer neither drafts nor what it is not invited to', async () => {
    const published = await publish(await packageOf('l', '1'));
    const open = await openProblem(published.contract.id);
    const { reads, commands } = stores.checkers;
    const draft = Promise.withResolvers<string>();
    const input = {
      contractId: published.contract.id,
      title: 'Later',
      statement: 'Later.',
      sealing: null,
      invited: [],
    };
    await commands.createProblem(callOf(ownerId), input, ({ id }) => {
      draft.resolve(id);
      return { status: 201, body: '' };
    });
    const guestId = await stores.bench.addPrincipal();
    const closed = await openProblem(published.contract.id, [guestId]);
    const seen = async (viewer: Parameters<typeof reads.listProblems>[0]) => {
      const { items } = await reads.listProblems(viewer, { limit: 3, after: null });
      return items.map(({ id }) => id);
    };
    const by = (id: string, seesInviteOnly = false) => seen({ id, seesInviteOnly });
    const all = [closed, await draft.promise, open];
    expect(await seen(null)).toEqual(all);
    expect(await by(ownerId)).toEqual(all);
    expect(await by(guestId)).toEqual(expect.arrayContaining([closed, open]));
    expect(await by(guestId)).not.toContain(await draft.promise);
    expect(await by(solverId)).toContain(open);
    expect(await by(solverId)).not.toContain(closed);
    expect(await by(solverId, true)).toEqual(expect.arrayContaining([closed, open]));
    expect(await by(solverId, true)).not.toContain(await draft.promise);
  });

  it('of problems come without participants, who may be many; of single ones only those asked for', async () => {
    const published = await publish(await packageOf('q', '1'));
    const id = await openProblem(published.contract.id);
    await submit(id, await blobOf('x'));
    const { reads } = stores.checkers;
    const { items } = await reads.listProblems(
      { id: solverId, seesInviteOnly: false },
      { limit: 1, after: null },
    );
    expect(items).toMatchObject([{ id, facts: { state: 'OPEN' } }]);
    expect(items[0]?.facts).not.toHaveProperty('entrants');
    const entrantsFor = async (...participantIds: string[]) =>
      (await reads.problemsFor([id], participantIds)).map(({ facts }) => facts.entrants);
    expect(await entrantsFor(ownerId)).toEqual([{}]);
    expect(await entrantsFor(ownerId, solverId)).toEqual([
      { [solverId]: { entries: 1, nominated: null } },
    ]);
    expect(await reads.problemsFor([], [solverId])).toEqual([]);
  });

  it('of checks leave out whoever has a part in them', async () => {
    const published = await publish(await packageOf('m', '1'));
    const checkId = await submit(await openProblem(published.contract.id), await blobOf('x'));
    const other = await stores.bench.addPrincipal();
    const seen = async (notOf: string) =>
      (
        await stores.checkers.reads.listChecks(
          { states: ['WAITING_SANDBOX'], problemId: null, notOf },
          { limit: 200, after: null },
        )
      ).items.map(({ id }) => id);
    expect(await seen(other)).toContain(checkId);
    expect(await seen(solverId)).not.toContain(checkId);
    expect(await seen(ownerId)).not.toContain(checkId);
  });
});
