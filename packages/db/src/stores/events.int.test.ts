import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../open-database.ts';
import { addEvents } from './add-events.ts';
import { openStores, type Stores } from '../testing/open-stores.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await openStores();
});
afterAll(() => stores.close());

function toEvent(contractId: string, name: string) {
  const about = { actorId: null, submissionId: null, runId: null, challengeId: null };
  return { ...about, contractId, name, audience: 'PUBLIC', data: {} } as const;
}

async function names(contractId: string, after: string | null = null): Promise<readonly string[]> {
  return (await stores.reads.events({ contractId }, after, 100)).map(({ name }) => name);
}

// Keeps R-EVENTS-COMPLETE.
describe('events', () => {
  it('of a transaction that began first and commits last are missed by nobody', async () => {
    const { contractId } = await stores.openContract();
    const start = (await stores.reads.events({ contractId }, null, 100)).at(-1)?.cursor ?? null;
    const [first, second] = [await stores.test.pool.connect(), await stores.test.pool.connect()];
    await first.query('BEGIN');
    await second.query('BEGIN');
    // Ids and commits cross: `first` has the older transaction, the newer id and the last commit.
    await first.query('SELECT pg_current_xact_id()');
    await addEvents(second, [toEvent(contractId, 'second_a'), toEvent(contractId, 'second_b')]);
    await addEvents(first, [toEvent(contractId, 'first')]);
    await second.query('COMMIT');
    expect(await names(contractId, start)).toEqual([]);
    await first.query('COMMIT');
    first.release();
    second.release();
    expect(await names(contractId, start)).toEqual(['first', 'second_a', 'second_b']);
  });

  it('go on from any cursor without a gap or a repeat', async () => {
    const { contractId } = await stores.openContract();
    await stores.submitCaptured(contractId);
    const all = await names(contractId);
    const read: string[] = [];
    let after: string | null = null;
    for (;;) {
      const page = await stores.reads.events({ contractId }, after, 2);
      if (page.length === 0) break;
      read.push(...page.map(({ name }) => name));
      after = page.at(-1)?.cursor ?? null;
    }
    expect(read).toEqual(all);
    expect(all).toEqual([
      'contract_draft',
      'contract_proved',
      'contract_open',
      'submission_received',
      'submission_queued',
      'run_queued',
    ]);
  });

  it('of a run are its own, in order, and hold whatever a program printed', async () => {
    const { contractId } = await stores.openContract();
    const { runId } = await stores.submitCaptured(contractId);
    const text = 'nul \0, half a character \ud83d, and more';
    await stores.work.addRunEvents(runId, [
      { name: 'run_output', audience: 'PARTIES', data: { text } },
      { name: 'run_output', audience: 'PARTIES', data: { text: 'second' } },
    ]);
    const events = await stores.reads.events({ runId }, null, 100);
    expect(events.map(({ name, data }) => [name, data['text']])).toEqual([
      ['run_queued', undefined],
      ['run_output', 'nul \ufffd, half a character \ufffd, and more'],
      ['run_output', 'second'],
    ]);
    expect(await names(contractId)).not.toContain('run_output');
  });

  it('of a run name its submission, and those of its steps come to its contract, too', async () => {
    const { contractId } = await stores.openContract();
    const { runId, submissionId } = await stores.submitCaptured(contractId);
    const after = (await stores.reads.events({ contractId }, null, 100)).at(-1)?.cursor ?? null;
    await stores.work.addRunEvents(runId, [
      { name: 'run_step_started', audience: 'OWNER', data: {} },
      { name: 'run_output', audience: 'PARTIES', data: {} },
      { name: 'run_step_finished', audience: 'PARTIES', data: {} },
    ]);
    const ofRun = await stores.reads.events({ runId }, after, 100);
    expect(ofRun.map((event) => [event.name, event.contractId, event.submissionId])).toEqual([
      ['run_step_started', contractId, submissionId],
      ['run_output', null, submissionId],
      ['run_step_finished', contractId, submissionId],
    ]);
    const ofContract = await stores.reads.events({ contractId }, after, 100);
    expect(ofContract).toEqual(ofRun.filter(({ name }) => name !== 'run_output'));
  });

  it('say who may see them', async () => {
    const { contractId } = await stores.openContract();
    const { submissionId } = await stores.submitCaptured(contractId);
    const events = await stores.reads.events({ contractId }, null, 100);
    const audiences = events.map(({ name, audience }) => [name, audience]);
    expect(Object.fromEntries(audiences)).toMatchObject({
      contract_draft: 'OWNER',
      contract_open: 'PUBLIC',
      submission_received: 'PARTIES',
      run_queued: 'PARTIES',
    });
    expect(events.at(-1)?.submissionId).toBe(submissionId);
  });

  it.each(['', '1', '1-1', '0'.repeat(32), 'F'.repeat(32), `${'a'.repeat(31)}\n`, "1' OR true"])(
    'refuse %j, which is no cursor',
    async (after) => {
      const reading = stores.reads.events({ contractId: 'con_1' }, after, 1);
      await expect(reading).rejects.toMatchObject({ code: 'DB_CURSOR_INVALID' });
    },
  );

  it('are named by what tells nothing of how many were written between, and alike in all processes', async () => {
    const { contractId } = await stores.openContract();
    const { policy, newId } = stores.parts.deps;
    const other = await openDatabase(stores.test.url, { policy, newId });
    try {
      const [here, there] = await Promise.all(
        [stores.reads, other.reads].map((reads) => reads.events({ contractId }, null, 100)),
      );
      expect(there).toEqual(here);
      const cursors = here?.map(({ cursor }) => cursor) ?? [];
      expect(new Set(cursors.map((cursor) => cursor.slice(0, 8))).size).toBe(cursors.length);
      for (const cursor of cursors) expect(cursor).toMatch(/^[0-9a-f]{32}$/);
    } finally {
      await other.close();
    }
  });

  it('wake whoever waits for them, in this process and in another', async () => {
    const { contractId } = await stores.openContract();
    const { policy, newId } = stores.parts.deps;
    const other = await openDatabase(stores.test.url, { policy, newId });
    try {
      const { signal } = new AbortController();
      const after = (await stores.reads.events({ contractId }, null, 100)).at(-1)?.cursor ?? null;
      const follow = async (reads: Stores['reads']) => {
        for (;;) {
          const woken = reads.waitForEvents({ contractId }, signal);
          const [event] = await reads.events({ contractId }, after, 1);
          if (event !== undefined) return event.name;
          await woken;
        }
      };
      const both = Promise.all([follow(stores.reads), follow(other.reads)]);
      await stores.submitCaptured(contractId);
      expect(await both).toEqual(['submission_received', 'submission_received']);
    } finally {
      await other.close();
    }
  });

  it('end a wait when its signal aborts, also before it began', async () => {
    const leaving = new AbortController();
    const waits = [1, 2].map(() => stores.reads.waitForEvents({ runId: 'run_1' }, leaving.signal));
    leaving.abort();
    waits.push(stores.reads.waitForEvents({ runId: 'run_1' }, leaving.signal));
    expect(await Promise.all(waits)).toEqual([undefined, undefined, undefined]);
  });
});
