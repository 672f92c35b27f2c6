import { sha256Hex } from '@kervyxa/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QUEUES } from '../ports.ts';
import { ANSWER, callOf, openStores, type Stores, TERMS } from '../testing/open-stores.ts';
import { toDraft } from '../testing/open-case-bench.ts';

const WEEK_MS = 7 * 86_400_000;

let stores: Stores;
beforeAll(async () => {
  stores = await openStores();
});
afterAll(() => stores.close());

describe('the operator', () => {
  it('has one first key, however many first starts there are at once', async () => {
    const hashes = Array.from({ length: 8 }, (_, index) => sha256Hex(`first ${index}`));
    const answers = await Promise.all(
      hashes.map((hash) => stores.upkeep.addOperatorKey(hash, { onlyFirst: true })),
    );
    expect(answers.filter(Boolean)).toHaveLength(1);
    const known = await Promise.all(hashes.map((hash) => stores.reads.principalByKey(hash)));
    expect(known.map((row) => row !== null)).toEqual(answers);
    const added = sha256Hex('one more');
    expect(await stores.upkeep.addOperatorKey(added, { onlyFirst: false })).toBe(true);
    expect((await stores.reads.principalByKey(added))?.roles).toEqual(['operator']);
  });
});

describe('an answer', () => {
  it('is kept for its time, and then forgotten', async () => {
    const requesterId = await stores.bench.addPrincipal();
    const draft = toDraft('kept', { ...TERMS, requesterId }, await stores.now());
    const post = () =>
      stores.commands.createContract(callOf(requesterId, 'k'), draft, ({ id }) => {
        return { status: 201, body: id };
      });
    const { body } = await post();
    expect(await stores.upkeep.forgetAnswers(WEEK_MS, 100)).toBe(0);
    expect((await post()).body).toBe(body);
    await stores.test.pool.query(
      `UPDATE idempotency_keys SET created_at = created_at - interval '8 days'`,
    );
    expect(await stores.upkeep.forgetAnswers(WEEK_MS, 100)).toBe(1);
    await expect(post()).rejects.toMatchObject({ code: 'DB_CONTRACT_DUPLICATE' });
  });
});

// Keeps R-WORKER-CRASH.
describe('a job that the queue lost, such as in a restore of a backup without it', () => {
  it('is sent again: every approval, capture and run that waits has one, once', async () => {
    const { contractId } = await stores.openContract();
    const { runId } = await stores.submitCaptured(contractId);
    const waiting = stores.newId('submission');
    await stores.bench.submit(contractId, waiting, await stores.bench.addPrincipal());
    const requesterId = await stores.bench.addPrincipal();
    const draftId = await stores.bench.seedContract({ ...TERMS, requesterId });
    await stores.commands.startApproval(callOf(requesterId), draftId, () => ANSWER);
    expect(await stores.upkeep.resendLost(100)).toBe(0);

    await stores.test.pool.query('DELETE FROM queue.job');
    expect(await stores.upkeep.resendLost(100)).toBe(3);
    expect(await stores.upkeep.resendLost(100)).toBe(0);

    const taken = await Promise.all(QUEUES.map((name) => stores.queue.take(name)));
    expect(taken.map((job) => job?.subjectId).filter(Boolean)).toEqual([draftId, waiting, runId]);
    // Being worked on, they are not lost.
    expect(await stores.upkeep.resendLost(100)).toBe(0);
  });
});
