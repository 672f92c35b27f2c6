import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from './decide.ts';
import { nextDueAt } from './due.ts';
import { openFakeBench } from './testing/fake-bench.ts';
import { histories, MOVE_WEIGHTS } from './testing/histories.ts';
import { playHistory, playToTheEnd } from './testing/play-history.ts';
import { POLICY } from './testing/story.ts';

const RUNS = 300;
// Time to play them on a machine that does other things, too.
const TIMEOUT_MS = 60_000;

// Keeps R-SETTLE-EXIT, R-SETTLE-ORDER, R-LEDGER-ZERO.
describe('any history', { timeout: TIMEOUT_MS }, () => {
  it('BUG-69 leads every case to an end, with all bonds and the escrow gone, when nobody asks for more', async () => {
    await fc.assert(
      fc.asyncProperty(histories(), async (history) => {
        const bench = await openFakeBench(POLICY);
        const { story, problems } = await playHistory(bench, history);
        expect(problems).toEqual([]);
        expect(await playToTheEnd(story)).toEqual([]);
        const held = await story.read();
        expect(await story.balance(`escrow/${story.contractId}`)).toBe(0n);
        for (const { id } of held.challenges) expect(await story.balance(`bond/${id}`)).toBe(0n);
      }),
      { numRuns: RUNS },
    );
  });

  it('advances exactly when something is due, and not a second time', async () => {
    await fc.assert(
      fc.asyncProperty(histories(), async (history) => {
        const bench = await openFakeBench(POLICY);
        const { story } = await playHistory(bench, history);
        const held = await story.read();
        const dueAt = nextDueAt(held);
        const advance = (now: Date) =>
          decide(held, { kind: 'advance' }, { now, newId: bench.newId, policy: POLICY });
        if (dueAt === null) return;
        const early = advance(new Date(dueAt.getTime() - 1));
        expect(early).toMatchObject({ kind: 'accepted', effects: [] });
        const decision = advance(dueAt);
        if (decision.kind === 'refused') throw decision.error;
        expect(decision.effects.length).toBeGreaterThan(0);
        const next = nextDueAt(decision.next);
        expect(next === null || next > dueAt).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it('gives no pass to anybody while one received before is undecided, and no retry brings that about', async () => {
    await fc.assert(
      fc.asyncProperty(histories({ ...MOVE_WEIGHTS, retry: 0 }), async (history) => {
        const bench = await openFakeBench(POLICY);
        const { story } = await playHistory(bench, history);
        const { submissions } = await story.read();
        const holder = submissions.find(({ state }) => state === 'PASSED' || state === 'PAID');
        if (holder === undefined) return;
        const before = submissions.filter(({ seq }) => seq < holder.seq);
        for (const { state } of before)
          expect(['FAILED', 'INCONCLUSIVE', 'OVERTURNED', 'HELD']).toContain(state);
      }),
      { numRuns: RUNS },
    );
  });

  it('is decided without changing what was given', async () => {
    await fc.assert(
      fc.asyncProperty(histories(), async (history) => {
        const bench = await openFakeBench(POLICY);
        const { story } = await playHistory(bench, history);
        const held = await story.read();
        const copy = structuredClone(held);
        const now = new Date((await bench.now()).getTime() + 1_000_000_000);
        decide(held, { kind: 'advance' }, { now, newId: bench.newId, policy: POLICY });
        expect(held).toEqual(copy);
      }),
      { numRuns: RUNS / 10 },
    );
  });
});
