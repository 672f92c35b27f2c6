import { assert, asyncProperty } from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChallengeKind } from '../case.ts';
import type { Command } from '../command.ts';
import { available, bond, escrow, treasury } from '../ledger/accounts.ts';
import { type CaseBench, CURRENCY, type OpenCaseBench } from './case-bench.ts';
import { histories } from './histories.ts';
import { problemsOfLedger } from './invariants.ts';
import { playHistory, playToTheEnd } from './play-history.ts';
import { beginStory, DAY_MS, FAIL, HOUR_MS, PASS, POLICY, type Story, TERMS } from './story.ts';

export type { CaseBench, ContractTerms, OpenCaseBench } from './case-bench.ts';
export { CURRENCY } from './case-bench.ts';

const AT_ONCE = 10;
/** Of 1,001 at 250 basis points; the fee is rounded down. */
const FEE = 25n;
const NET = TERMS.rewardMinor - FEE;

// Keeps R-SETTLE-ONCE, R-SETTLE-ORDER, R-SETTLE-WINDOW, R-SETTLE-FENCE, R-LEDGER-ZERO.
/** What every implementation of `CaseStore` does alike. `historyCount` random histories are played besides. */
export function describeCaseStore(
  name: string,
  open: OpenCaseBench,
  { historyCount, timeoutMs }: { readonly historyCount: number; readonly timeoutMs: number },
): void {
  describe(`${name}`, () => {
    let bench: CaseBench;
    beforeEach(async () => {
      bench = await open(POLICY);
    });
    afterEach(async () => {
      expect(await bench.checkLedger()).toBeNull();
      expect(problemsOfLedger(await bench.trialBalance())).toEqual([]);
      await bench.close();
    });
    itKeepsOrder(() => bench);
    itMovesMoneyOnce(() => bench);
    itSerialisesChallenges(() => bench);
    itTellsWhatIsDue(() => bench);

    it(
      `keeps every promise in ${historyCount} random histories with things done at once`,
      { timeout: timeoutMs },
      async () => {
        const property = asyncProperty(histories(), async (history) => {
          const own = await open(POLICY);
          const { story, problems } = await playHistory(own, history);
          expect(problems).toEqual([]);
          expect(await playToTheEnd(story)).toEqual([]);
          await own.close();
        });
        await assert(property, { numRuns: historyCount, endOnFailure: true });
      },
    );
  });
}

function itKeepsOrder(bench: () => CaseBench): void {
  it('gives everybody who submits at once a place of their own, by which the first to pass is found', async () => {
    const story = await beginStory(bench());
    await Promise.all(Array.from({ length: AT_ONCE }, () => story.submit()));
    const { submissions } = await story.read();
    expect(new Set(submissions.map(({ seq }) => seq)).size).toBe(AT_ONCE);
    // The last to be received passes first.
    for (const { id } of submissions.toReversed()) await story.seal(id, PASS);
    const after = (await story.read()).submissions;
    const bySeq = after.toSorted((a, b) => (a.seq < b.seq ? -1 : 1)).map(({ state }) => state);
    expect(bySeq).toEqual(['PASSED', ...Array.from({ length: AT_ONCE - 1 }, () => 'DEFERRED')]);
  });

  it('S27 BUG-56 a late result of an older attempt changes nothing, also when it comes at the same time', async () => {
    const story = await beginStory(bench());
    const id = await story.submit();
    const { id: runId } = await story.run(id);
    await story.do({ kind: 'start', runId });
    await story.do({ kind: 'start', runId });
    const codes = await Promise.all([
      story.try({ kind: 'seal', runId, attempt: 1, verdict: PASS }),
      story.try({ kind: 'seal', runId, attempt: 2, verdict: FAIL }),
      story.try({ kind: 'fail', runId, attempt: 1, reason: 'WORKER_LOST' }),
    ]);
    const stale = 'SETTLEMENT_RUN_ATTEMPT_STALE';
    expect(codes).toEqual([stale, null, stale]);
    expect((await story.submission(id)).state).toBe('FAILED');
    expect(await story.run(id)).toMatchObject({ state: 'SEALED', attempt: 2, tries: 1 });
  });

  it('throws for a contract that is not there', async () => {
    const unknown = bench().newId('contract');
    await expect(bench().store.execute(unknown, { kind: 'advance' })).rejects.toMatchObject({
      code: 'SETTLEMENT_CONTRACT_UNKNOWN',
    });
  });
}

function itMovesMoneyOnce(bench: () => CaseBench): void {
  it('BUG-62 a contract whose reward is not there is not opened, and nothing changes', async () => {
    const story = await beginStory(bench(), {}, { open: false });
    await bench().deposit(story.requesterId, TERMS.rewardMinor - 1n);
    await story.do({ kind: 'prove' });
    expect(await story.try({ kind: 'fund' })).toBe('SETTLEMENT_FUNDS_INSUFFICIENT');
    expect((await story.read()).contract.state).toBe('PROVED');
    expect(await story.balance(escrow(story.contractId))).toBe(0n);
  });

  it('funds once, however many ask at once, and has nothing left for a second contract', async () => {
    const story = await beginStory(bench(), {}, { open: false });
    const second = await beginStory(bench(), { requesterId: story.requesterId }, { open: false });
    await bench().deposit(story.requesterId, TERMS.rewardMinor);
    await story.do({ kind: 'prove' });
    await second.do({ kind: 'prove' });
    const codes = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) =>
        (index % 2 === 0 ? story : second).try({ kind: 'fund' }),
      ),
    );
    expect(codes.filter((code) => code === null)).toHaveLength(1);
    expect(await story.balance(available(story.requesterId, CURRENCY))).toBe(0n);
  });

  it('S03 BUG-58 many settlers, a cancel and an arbiter at once move the reward once', async () => {
    for (let round = 0; round < AT_ONCE; round += 1) {
      const story = await beginStory(bench());
      const id = await pass(story);
      const { solverId } = await story.submission(id);
      const challengeId = await story.challenge(id, 'OVERTURN_PASS');
      const overturn = await story.resolution(challengeId, 'OVERTURN_PASS');
      // In every other round the arbiter’s time is over.
      await story.elapse(TERMS.responseWindowMs + POLICY.arbitrationMs - (round % 2) * HOUR_MS);
      await Promise.all([
        ...Array.from({ length: AT_ONCE }, () => story.try({ kind: 'advance' })),
        story.try(overturn),
        story.try({ kind: 'cancel' }),
      ]);
      await story.advance(TERMS.closesInMs);
      const { contract } = await story.read();
      const paid = await story.balance(available(solverId, CURRENCY));
      const refunded = await story.balance(available(story.requesterId, CURRENCY));
      expect([contract.state, paid, refunded]).toEqual(
        contract.state === 'SETTLED'
          ? ['SETTLED', NET, 0n]
          : [contract.state, 0n, TERMS.rewardMinor],
      );
      expect(await story.balance(escrow(story.contractId))).toBe(0n);
      expect(await story.balance(bond(challengeId))).toBe(0n);
    }
  });

  it('tells the whole story: overturned, promoted, paid, with every unit accounted for', async () => {
    const story = await beginStory(bench());
    const feesBefore = await story.balance(treasury(CURRENCY));
    const first = await story.submit();
    const second = await story.submit();
    await story.seal(first, PASS);
    const wrong = await story.challenge(first, 'RERUN_VERIFICATION');
    await story.seal(first, PASS, 'RERUN');
    expect((await story.challengeOf(wrong)).state).toBe('UPHELD');
    const right = await story.challenge(first, 'OVERTURN_PASS');
    await story.elapse(TERMS.responseWindowMs);
    await story.do(await story.resolution(right, 'OVERTURN_PASS'));
    await story.seal(second, PASS);
    await story.advance(TERMS.challengeWindowMs);

    const { contract, submissions } = await story.read();
    expect(contract.state).toBe('SETTLED');
    expect(submissions.map(({ state }) => state)).toEqual(['OVERTURNED', 'PAID']);
    const of = async (account: Promise<string>) => story.balance(await account);
    const solver = async (id: string) => available((await story.submission(id)).solverId, CURRENCY);
    const challenger = async (id: string) =>
      available((await story.challengeOf(id)).challengerId, CURRENCY);
    // A bond of 101: 50 to the solver, the odd unit with the treasury's 51.
    expect(await of(solver(first))).toBe(50n);
    expect(await of(solver(second))).toBe(NET);
    expect(await of(challenger(wrong))).toBe(0n);
    expect(await of(challenger(right))).toBe(TERMS.bondMinor);
    expect((await story.balance(treasury(CURRENCY))) - feesBefore).toBe(FEE + 51n);
    expect(await story.balance(available(story.requesterId, CURRENCY))).toBe(0n);
  });
}

function itSerialisesChallenges(bench: () => CaseBench): void {
  it('S01 a challenge and a settler at once: never both, whatever the time', async () => {
    for (const sinceOpenedMs of [TERMS.challengeWindowMs - HOUR_MS, TERMS.challengeWindowMs]) {
      const story = await beginStory(bench());
      const id = await pass(story);
      const filing = await challengeOf(story, id, 'OVERTURN_PASS');
      await story.elapse(sinceOpenedMs);
      const [code] = await Promise.all([story.try(filing), story.try({ kind: 'advance' })]);
      const isLate = sinceOpenedMs >= TERMS.challengeWindowMs;
      expect(code === null).toBe(!isLate);
      expect((await story.read()).contract.state).toBe(isLate ? 'SETTLED' : 'IN_CHALLENGE');
    }
  });

  it('BUG-55 two who want a rerun at once get one run, and both are linked to it', async () => {
    const story = await beginStory(bench());
    const id = await pass(story);
    const filings = await Promise.all([
      challengeOf(story, id, 'RERUN_VERIFICATION'),
      challengeOf(story, id, 'RERUN_VERIFICATION'),
    ]);
    expect(await Promise.all(filings.map((filing) => story.try(filing)))).toEqual([null, null]);
    const { runs, challenges } = await story.read();
    const reruns = runs.filter(({ purpose }) => purpose === 'RERUN');
    expect(reruns).toHaveLength(1);
    for (const { runIds } of challenges) expect(runIds).toEqual(reruns.map((run) => run.id));
  });

  it('takes no bond that is not there, and one bond for one challenge', async () => {
    const story = await beginStory(bench());
    const id = await pass(story);
    const filing = await challengeOf(story, id, 'OVERTURN_PASS', TERMS.bondMinor - 1n);
    expect(await story.try(filing)).toBe('SETTLEMENT_FUNDS_INSUFFICIENT');
    expect((await story.read()).challenges).toEqual([]);
    const challengerId = 'challengerId' in filing ? filing.challengerId : '';
    await bench().deposit(challengerId, TERMS.bondMinor);
    const again = Array.from({ length: AT_ONCE }, () => ({
      ...filing,
      challengeId: bench().newId('challenge'),
    }));
    const codes = await Promise.all(again.map((each) => story.try(each)));
    expect(codes.filter((code) => code === null)).toHaveLength(1);
    expect(await story.balance(available(challengerId, CURRENCY))).toBe(TERMS.bondMinor - 1n);
  });
}

function itTellsWhatIsDue(bench: () => CaseBench): void {
  it('lists contracts as soon as time alone changes them, those that wait longest first', async () => {
    const late = await beginStory(bench(), { closesInMs: 2 * DAY_MS });
    const early = await beginStory(bench(), { closesInMs: DAY_MS });
    const own = async (limit: number) =>
      (await bench().store.listDue(limit)).filter((id) =>
        [late.contractId, early.contractId].includes(id),
      );
    await bench().elapse(DAY_MS - HOUR_MS);
    expect(await own(1_000)).toEqual([]);
    await bench().elapse(HOUR_MS);
    expect(await own(1_000)).toEqual([early.contractId]);
    await bench().elapse(DAY_MS);
    expect(await own(1_000)).toEqual([early.contractId, late.contractId]);
    expect((await bench().store.listDue(1)).length).toBe(1);
    await early.do({ kind: 'advance' });
    await early.do({ kind: 'advance' });
    await late.do({ kind: 'advance' });
    expect(await own(1_000)).toEqual([]);
    expect((await early.read()).contract.state).toBe('EXPIRED');
  });

  it('does nothing that is not due, however often it is asked', async () => {
    const story = await beginStory(bench());
    const id = await pass(story);
    const before = await story.read();
    await Promise.all(Array.from({ length: AT_ONCE }, () => story.do({ kind: 'advance' })));
    expect(await story.read()).toEqual(before);
    expect((await story.submission(id)).state).toBe('PASSED');
  });
}

/** A submission that holds the pass. */
async function pass(story: Story): Promise<string> {
  const id = await story.submit();
  await story.seal(id, PASS);
  return id;
}

/** A challenge that is not filed yet, of somebody new who has the bond. */
async function challengeOf(
  { bench }: Story,
  submissionId: string,
  challenge: ChallengeKind,
  purseMinor = TERMS.bondMinor,
): Promise<Command> {
  const challengerId = await bench.addPrincipal();
  await bench.deposit(challengerId, purseMinor);
  const challengeId = bench.newId('challenge');
  return { kind: 'challenge', challengeId, submissionId, challengerId, challenge };
}
