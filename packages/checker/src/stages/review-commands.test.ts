import { describe, expect, it } from 'vitest';
import type { Judge } from './check-command.ts';
import { decideCheck } from './decide-check.ts';
import { DEFAULT_STAGE_POLICY } from './policy.ts';
import { claimableNode } from './review-commands.ts';
import {
  createStageBench,
  DAY_MS,
  HOUR_MS,
  JUDGES,
  newId,
  OWNER,
  SANDBOX,
  SOLVER,
  type StageBench,
  toJudge,
  toProtocol,
  toReview,
  toSealing,
  TWO_OF_THREE,
  VERIFIED,
  at,
} from './testing/stage-bench.ts';

const [anna = toJudge('prn_a'), ben = toJudge('prn_b'), cora = toJudge('prn_c')] = JUDGES;

const openReview = (nodes?: readonly unknown[]) => createStageBench([toReview(toProtocol(nodes))]);
const tryClaim = (bench: StageBench, judge: Judge, node = 'readers') =>
  bench.try({ kind: 'claim', seatId: newId('seat'), node, judge });

describe('a review', () => {
  it.each([
    ['accept', 'VERIFIED', null],
    ['reject', 'REFUTED', 'REFUTED'],
    ['unresolved', 'INCONCLUSIVE', 'CHECK_INCONCLUSIVE'],
  ] as const)('with the outcome %s leaves the check %s', (judgment, state, reason) => {
    const bench = openReview();
    bench.judge(anna, judgment);
    expect(bench.judge(ben, judgment)).toMatchObject({
      state,
      results: [
        { reason, decidedBy: { kind: 'judges' }, evidence: { nodes: [{ key: 'readers' }] } },
      ],
    });
  });

  it('keeps every judgment, with its statement, in the order in which they came', () => {
    const bench = openReview();
    const seatId = bench.claim(ben);
    bench.judge(anna, 'accept');
    bench.do({ kind: 'judge', seatId, judge: ben, judgment: 'accept', statement: 'Faithful.' });
    expect(bench.check().results[0]?.seats).toMatchObject([
      { judgeId: anna.id, judged: { judgment: 'accept' } },
      { judgeId: ben.id, judged: { statement: 'Faithful.' } },
    ]);
  });

  it('goes on to the next stage once it is accepted', () => {
    const bench = createStageBench([toReview(toProtocol()), SANDBOX]);
    bench.judge(anna, 'accept');
    expect(bench.judge(ben, 'accept')).toMatchObject({ state: 'WAITING_SANDBOX', review: null });
  });

  it('that nobody takes ends inconclusive at its deadline, and says who was missing', () => {
    const bench = openReview();
    expect(bench.nextDue()?.toISOString()).toBe(at(DAY_MS));
    expect(bench.advance(DAY_MS - 1).state).toBe('WAITING_REVIEW');
    expect(bench.advance(1)).toMatchObject({
      state: 'INCONCLUSIVE',
      results: [
        { reason: 'STAGE_UNAVAILABLE', mechanism: expect.stringMatching(/^review by rpt_/) },
      ],
    });
  });

  it('ends at its deadline with what there is', () => {
    const bench = openReview();
    bench.judge(anna, 'accept');
    expect(bench.advance(DAY_MS)).toMatchObject({
      state: 'INCONCLUSIVE',
      results: [{ reason: 'CHECK_INCONCLUSIVE', seats: [{ judgeId: anna.id }] }],
    });
  });

  it('takes no judgment at the deadline itself', () => {
    const bench = openReview();
    bench.elapse(DAY_MS - HOUR_MS);
    const seatId = bench.claim(anna);
    bench.elapse(HOUR_MS);
    const late = {
      kind: 'judge',
      seatId,
      judge: anna,
      judgment: 'accept',
      statement: 'x',
    } as const;
    expect(bench.try(late)).toBe('CHECKER_CHECK_NOT_WAITING');
  });

  it('by a protocol that is not published here is not there', () => {
    const bench = createStageBench([toReview(null)]);
    expect(bench.check()).toMatchObject({
      state: 'INCONCLUSIVE',
      results: [{ mechanism: expect.stringMatching(/^review protocol rpt_/) }],
    });
  });

  it('asks the next of ordered nodes where the first is unresolved, and takes back its idle seats', () => {
    const bench = openReview([
      { key: 'all', reducer: { kind: 'coalesce', nodes: ['readers', 'expert'] } },
      TWO_OF_THREE,
      { key: 'expert', reducer: { kind: 'k_of_n', k: 1, n: 1 } },
    ]);
    expect(tryClaim(bench, cora, 'expert')).toBe('CHECKER_SEATS_FULL');
    const idle = bench.claim(cora);
    bench.judge(anna, 'unresolved');
    bench.judge(ben, 'unresolved');
    expect(bench.check().review?.seats).toHaveLength(2);
    expect(bench.try({ kind: 'release_seat', seatId: idle, judgeId: cora.id })).toBe(
      'CHECKER_SEAT_UNKNOWN',
    );
    expect(bench.judge(cora, 'accept', 'expert').state).toBe('VERIFIED');
  });
});

// Keeps R-REVIEW-PARTIES.
describe('no seat', () => {
  it.each<[string, (bench: StageBench) => Judge]>([
    ['the solver', () => toJudge(SOLVER)],
    ["the problem's owner", () => toJudge(OWNER)],
    [
      'somebody whom the solver brought in',
      () => toJudge(newId('principal'), { invitedBy: SOLVER }),
    ],
    ['somebody whom the owner brought in', () => toJudge(newId('principal'), { invitedBy: OWNER })],
    [
      'somebody whom the owner invited to the problem',
      (bench) => {
        bench.setProblem({ invited: [anna.id] });
        return anna;
      },
    ],
    [
      'an operator who acted for the owner',
      (bench) => {
        bench.decideProblem({ kind: 'close', actorId: anna.id });
        return anna;
      },
    ],
    [
      'a participant, who would judge a rival',
      (bench) => {
        bench.setProblem({ entrants: { [anna.id]: { entries: 1, nominated: null } } });
        return anna;
      },
    ],
  ])('is for %s', (_, toExcluded) => {
    const bench = openReview();
    const judge = toExcluded(bench);
    expect(tryClaim(bench, judge)).toBe('CHECKER_JUDGE_PARTIAL');
    expect(claimableNode(bench.check(), judge, bench.context())).toBeNull();
  });

  it('keeps its right where its holder becomes a party after the claim', () => {
    const bench = openReview();
    const seatId = bench.claim(anna);
    bench.decideProblem({ kind: 'close', actorId: anna.id });
    const late = {
      kind: 'judge',
      seatId,
      judge: anna,
      judgment: 'accept',
      statement: 'x',
    } as const;
    expect(bench.try(late)).toBe('CHECKER_JUDGE_PARTIAL');
  });

  it('is for somebody whom the protocol does not call', () => {
    const bench = openReview();
    expect(tryClaim(bench, toJudge(newId('principal'), { roles: ['solver'] }))).toBe(
      'CHECKER_JUDGE_NOT_CALLED',
    );
  });

  it('is for those whom the protocol calls, where a node calls others', () => {
    const node = { ...TWO_OF_THREE, judges: { roles: [], people: [anna.id] } };
    const bench = openReview([node]);
    expect(tryClaim(bench, ben)).toBe('CHECKER_JUDGE_NOT_CALLED');
    expect(tryClaim(bench, toJudge(anna.id, { roles: [] }))).toBeNull();
  });
});

describe('a seat', () => {
  it('is one a person', () => {
    const bench = openReview();
    bench.claim(anna);
    expect(tryClaim(bench, anna)).toBe('CHECKER_SEAT_DUPLICATE');
    bench.judge(ben, 'accept');
    expect(tryClaim(bench, ben)).toBe('CHECKER_SEAT_DUPLICATE');
  });

  it('is to be had as often as the node has seats', () => {
    const bench = openReview();
    for (const judge of [anna, ben, cora]) bench.claim(judge);
    expect(tryClaim(bench, JUDGES[3] ?? anna)).toBe('CHECKER_SEATS_FULL');
    expect(claimableNode(bench.check(), JUDGES[3] ?? anna, bench.context())).toBeNull();
  });

  it('goes back when its time is over, to whoever comes next', () => {
    const bench = openReview();
    const seatId = bench.claim(anna);
    bench.claim(ben);
    bench.claim(cora);
    bench.elapse(HOUR_MS);
    const late = {
      kind: 'judge',
      seatId,
      judge: anna,
      judgment: 'accept',
      statement: 'x',
    } as const;
    expect(bench.try(late)).toBe('CHECKER_SEAT_UNKNOWN');
    expect(tryClaim(bench, JUDGES[3] ?? anna)).toBeNull();
  });

  it('that is judged does not go back', () => {
    const bench = openReview();
    bench.judge(anna, 'accept');
    expect(bench.advance(2 * HOUR_MS).review?.seats).toHaveLength(1);
  });

  it('that is released is free at once', () => {
    const bench = openReview([{ key: 'readers', reducer: { kind: 'k_of_n', k: 1, n: 1 } }]);
    const seatId = bench.claim(anna);
    expect(bench.try({ kind: 'release_seat', seatId, judgeId: ben.id })).toBe(
      'CHECKER_SEAT_UNKNOWN',
    );
    bench.do({ kind: 'release_seat', seatId, judgeId: anna.id });
    expect(tryClaim(bench, ben)).toBeNull();
  });

  it('is not held for ever by one who claims it again and again', () => {
    const bench = openReview();
    for (let count = 0; count < DEFAULT_STAGE_POLICY.claimsMax; count += 1) {
      bench.claim(anna);
      bench.elapse(HOUR_MS);
    }
    expect(tryClaim(bench, anna)).toBe('CHECKER_CLAIMS_USED');
    expect(tryClaim(bench, ben)).toBeNull();
  });

  it('is judged once, and for good', () => {
    const bench = openReview();
    const seatId = bench.claim(anna);
    const judge = { kind: 'judge', seatId, judge: anna, statement: 'x' } as const;
    bench.do({ ...judge, judgment: 'accept' });
    expect(bench.try({ ...judge, judgment: 'reject' })).toBe('CHECKER_SEAT_UNKNOWN');
    expect(bench.try({ kind: 'release_seat', seatId, judgeId: anna.id })).toBe(
      'CHECKER_SEAT_UNKNOWN',
    );
  });

  it('is judged by its holder alone', () => {
    const bench = openReview();
    const seatId = bench.claim(anna);
    const theft = {
      kind: 'judge',
      seatId,
      judge: ben,
      judgment: 'accept',
      statement: 'x',
    } as const;
    expect(bench.try(theft)).toBe('CHECKER_SEAT_UNKNOWN');
  });

  it('is not to be had by whoever could not decide in the node before', () => {
    const bench = openReview([
      { key: 'verdict', reducer: { kind: 'coalesce', nodes: ['reader', 'expert'] } },
      { key: 'reader', reducer: { kind: 'k_of_n', k: 1, n: 1 } },
      { key: 'expert', reducer: { kind: 'k_of_n', k: 1, n: 1 } },
    ]);
    bench.judge(anna, 'unresolved', 'reader');
    expect(tryClaim(bench, anna, 'expert')).toBe('CHECKER_SEAT_DUPLICATE');
    expect(bench.judge(ben, 'accept', 'expert').state).toBe('VERIFIED');
  });

  it('of a node that is not there is not to be had', () => {
    const bench = openReview();
    expect(tryClaim(bench, anna, 'ghosts')).toBe('CHECKER_NODE_UNKNOWN');
    const command = { kind: 'claim', seatId: newId('seat'), node: 'ghosts', judge: anna } as const;
    expect(decideCheck(bench.check(), command, bench.context())).toMatchObject({
      error: { message: 'expected the key of a node with seats (readers), got "ghosts"' },
    });
  });
});

// Keeps R-SEALED-ENTRIES.
describe('a review of independent entries', () => {
  const sealing = toSealing({ entries: 'independent', cutoff: at(5 * DAY_MS) });
  const entryId = newId('entry');
  const open = (nominated: string | null) =>
    createStageBench(
      [toReview(toProtocol())],
      { sealing, entrants: { [SOLVER]: { entries: 1, nominated } } },
      entryId,
    );

  it('starts after the cutoff, and has its whole time from then on', () => {
    const bench = open(entryId);
    bench.elapse(5 * DAY_MS - 1);
    expect(tryClaim(bench, anna)).toBe('CHECKER_CHECK_NOT_WAITING');
    bench.elapse(1);
    expect(tryClaim(bench, anna)).toBeNull();
    expect(bench.check().review?.closesAt).toBe(at(6 * DAY_MS));
  });

  it('starts no earlier where the sealed bytes are released before', () => {
    const bench = open(entryId);
    bench.setProblem({ releasedAt: at(DAY_MS) });
    bench.elapse(2 * DAY_MS);
    expect(tryClaim(bench, anna)).toBe('CHECKER_CHECK_NOT_WAITING');
  });

  it('never starts for an entry that was not nominated', () => {
    const bench = open(newId('entry'));
    expect(bench.nextDue()?.toISOString()).toBe(at(5 * DAY_MS));
    expect(bench.advance(5 * DAY_MS)).toMatchObject({
      state: 'INCONCLUSIVE',
      results: [{ mechanism: 'a nomination of the entry' }],
    });
  });

  // Else an entry whose program runs beyond the cutoff would be judged besides the nominated one.
  it('never starts for such an entry either where the stage before it ends after the cutoff', () => {
    const bench = createStageBench(
      [SANDBOX, toReview(toProtocol())],
      { sealing, entrants: { [SOLVER]: { entries: 2, nominated: newId('entry') } } },
      entryId,
    );
    bench.elapse(5 * DAY_MS);
    expect(bench.run(VERIFIED)).toMatchObject({
      state: 'INCONCLUSIVE',
      results: [{ outcome: 'verified' }, { mechanism: 'a nomination of the entry' }],
    });
  });

  it('starts for a nominated one at once where the stage before it ends after the cutoff', () => {
    const bench = createStageBench(
      [SANDBOX, toReview(toProtocol())],
      { sealing, entrants: { [SOLVER]: { entries: 2, nominated: entryId } } },
      entryId,
    );
    bench.elapse(5 * DAY_MS);
    bench.run(VERIFIED);
    expect(tryClaim(bench, anna)).toBeNull();
  });
});
