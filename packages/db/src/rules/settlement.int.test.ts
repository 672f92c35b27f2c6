import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld, type World } from '../testing/open-world.ts';
import { addTransfer, HEX } from '../testing/seed-world.ts';

const DIGEST = `'sha256:' || repeat('a', 64)`;
const PROVE_DRAFT = `UPDATE contracts SET state = 'PROVED', approval_state = 'DONE', base_blob = '${HEX}',
  proving_blob = '${HEX}' WHERE id = 'con_draft'`;
/** As settlement does it, but for the state. */
const FUND_DRAFT = `INSERT INTO escrows VALUES ('con_draft', 100, 'USD', 'deposit');`;
/** The money of `con_over` has gone to the solver, and the contract is at its end. */
const PAY_OVER = `
  INSERT INTO escrow_resolutions VALUES ('con_over', 'PAYOUT', 'pay_over');
  UPDATE contracts SET state = 'SETTLED', ended_at = now() WHERE id = 'con_over';
  UPDATE submissions SET state = 'PAID' WHERE id = 'sub_over'`;

describe('settlement in the database', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());

  // Keeps R-SETTLE-ONCE.
  it.each([
    [
      'a second winner of one contract',
      'submissions_one_winner',
      `INSERT INTO submissions (id, contract_id, solver_id, repository_url, commit, capture_by, state, verdict,
         result_digest, window_opens_at, window_closes_at)
       VALUES ('s', 'con_won', 'oth', 'u', repeat('d', 40), now(), 'PASSED', 'PASS', ${DIGEST}, now(), now() + interval '1 h')`,
    ],
    [
      'a pass that no run gave',
      'submissions_proved',
      `UPDATE submissions SET state = 'QUEUED' WHERE id = 'sub_new';
       UPDATE submissions SET state = 'RUNNING' WHERE id = 'sub_new';
       UPDATE submissions SET state = 'VERIFIED', verdict = 'PASS', result_digest = ${DIGEST} WHERE id = 'sub_new';
       UPDATE submissions SET state = 'PASSED', window_opens_at = now(), window_closes_at = now() + interval '1 h'
         WHERE id = 'sub_new'`,
    ],
    [
      'a second run of one submission at the same time',
      'runs_one_live_verify',
      `INSERT INTO runs (id, submission_id, contract_id, purpose) VALUES ('r1', 'sub_new', 'con_open', 'VERIFY'),
         ('r2', 'sub_new', 'con_open', 'VERIFY')`,
    ],
    [
      'the same draft twice',
      'contracts_requester_draft_key',
      `CREATE TEMP TABLE one ON COMMIT DROP AS SELECT * FROM contracts WHERE id = 'con_draft';
       UPDATE one SET id = 'con_new', seq = 99; INSERT INTO contracts SELECT * FROM one`,
    ],
    [
      'the same commit of the same solver twice',
      'submissions_commit_key',
      `INSERT INTO submissions (id, contract_id, solver_id, repository_url, commit, capture_by)
       SELECT 's', contract_id, solver_id, 'another', commit, capture_by FROM submissions WHERE id = 'sub_new'`,
    ],
    [
      'a second resolution of one escrow',
      'escrow_resolutions_pkey',
      `INSERT INTO escrow_resolutions VALUES ('con_over', 'PAYOUT', 'deposit'), ('con_over', 'REFUND', 'fund_over')`,
    ],
    [
      'an escrow of another amount than the reward',
      'escrows_amount',
      `INSERT INTO escrows VALUES ('con_draft', 99, 'USD', 'deposit')`,
    ],
    [
      'an escrow in another currency than the reward',
      'escrows_amount',
      `INSERT INTO escrows VALUES ('con_draft', 100, 'EUR', 'deposit')`,
    ],
    [
      'money in escrow for a draft',
      'escrows_settlement',
      `INSERT INTO escrows VALUES ('con_draft', 100, 'USD', 'deposit')`,
    ],
    [
      'an open contract without money (BUG-62)',
      'contracts_settlement',
      `${PROVE_DRAFT}; UPDATE contracts SET state = 'OPEN' WHERE id = 'con_draft'`,
    ],
    [
      'an ended contract whose escrow is kept (BUG-64)',
      'contracts_settlement',
      `UPDATE contracts SET state = 'EXPIRED', ended_at = now() WHERE id = 'con_open'`,
    ],
    [
      'a payout while the contract goes on (BUG-59)',
      'escrow_resolutions_settlement',
      `INSERT INTO escrow_resolutions VALUES ('con_over', 'PAYOUT', 'deposit')`,
    ],
    [
      'a refund of a settled contract (BUG-58)',
      'escrow_resolutions_settlement',
      `INSERT INTO escrow_resolutions VALUES ('con_over', 'REFUND', 'deposit');
       UPDATE contracts SET state = 'SETTLED', ended_at = now() WHERE id = 'con_over'`,
    ],
    [
      'a payout of more than the escrow',
      'payouts_belong',
      `INSERT INTO payouts (id, contract_id, submission_id, solver_id, amount_minor, currency)
       VALUES ('p', 'con_won', 'sub_won', 'sol', 101, 'USD')`,
    ],
    [
      'a payout to another than the solver',
      'payouts_belong',
      `INSERT INTO payouts (id, contract_id, submission_id, solver_id, amount_minor, currency)
       VALUES ('p', 'con_won', 'sub_won', 'oth', 90, 'USD')`,
    ],
    ['a change of a payout', 'payouts_frozen', `UPDATE payouts SET solver_id = 'oth'`],
    [
      'a payout that is sent again after it was confirmed',
      'payouts_frozen',
      `UPDATE payouts SET state = 'CONFIRMED', confirmed_at = now();
       UPDATE payouts SET state = 'DUE', confirmed_at = NULL`,
    ],
  ])('refuses %s', async (_, rule, script) => {
    expect(await world.refusalOf(script)).toBe(rule);
  });

  // Keeps R-SETTLE-WINDOW.
  it.each([
    [
      'BUG-65 pay while the window is open',
      'submissions_paid',
      `INSERT INTO escrow_resolutions VALUES ('con_won', 'PAYOUT', 'deposit');
       UPDATE contracts SET state = 'SETTLED', ended_at = now() WHERE id = 'con_won';
       UPDATE submissions SET state = 'PAID' WHERE id = 'sub_won'`,
    ],
    [
      'S01 pay while a challenge is open, though the window is over',
      'submissions_paid',
      `UPDATE submissions SET window_opens_at = now() - interval '2 h', window_closes_at = now() - interval '1 h'
         WHERE id = 'sub_won';
       INSERT INTO escrow_resolutions VALUES ('con_won', 'PAYOUT', 'deposit');
       UPDATE contracts SET state = 'SETTLED', ended_at = now() WHERE id = 'con_won';
       UPDATE submissions SET state = 'PAID' WHERE id = 'sub_won'`,
    ],
    [
      'pay without a payout of the escrow',
      'submissions_paid',
      `UPDATE submissions SET state = 'PAID' WHERE id = 'sub_over'`,
    ],
    [
      'S01 challenge after the window',
      'challenges_in_window',
      challenge('con_over', 'sub_over', 'cha'),
    ],
    [
      'challenge what has no window',
      'challenges_in_window',
      challenge('con_open', 'sub_new', 'cha'),
    ],
    [
      'S23 challenge one’s own submission',
      'challenges_not_own',
      challenge('con_won', 'sub_won', 'sol'),
    ],
    [
      'answer a challenge by a run of another submission',
      'challenges_own_runs',
      `UPDATE challenges SET run_ids = '{run_over}' WHERE id = 'chl_won'`,
    ],
    [
      'challenge a submission under another contract',
      'challenges_submission_id_contract_id_fkey',
      challenge('con_over', 'sub_won', 'cha'),
    ],
    [
      'run a submission under another contract',
      'runs_submission_id_contract_id_fkey',
      `INSERT INTO runs (id, submission_id, contract_id, purpose) VALUES ('r', 'sub_new', 'con_won', 'RERUN')`,
    ],
    [
      'name a hidden package of somebody else',
      'contracts_package_sha256_requester_id_fkey',
      `UPDATE contracts SET requester_id = 'arb' WHERE id = 'con_draft'`,
    ],
    [
      'name a dependency bundle of somebody else',
      'contracts_dependencies_sha256_requester_id_fkey',
      `UPDATE contracts SET requester_id = 'arb', package_sha256 = NULL, dependencies_sha256 = '${HEX}' WHERE id = 'con_draft'`,
    ],
  ])('refuses to %s', async (_, rule, script) => {
    expect(await world.refusalOf(script)).toBe(rule);
  });

  it.each([
    ['contracts_frozen', `UPDATE contracts SET document = '{"reward":0}' WHERE id = 'con_open'`],
    [
      'contracts_frozen',
      `UPDATE contracts SET dependencies_sha256 = '${HEX}' WHERE id = 'con_open'`,
    ],
    ['contracts_frozen', `UPDATE contracts SET reward_minor = 1 WHERE id = 'con_open'`],
    ['contracts_frozen', `UPDATE contracts SET closes_at = now() WHERE id = 'con_open'`],
    ['contracts_frozen', `UPDATE contracts SET invited_ids = '{sol}' WHERE id = 'con_open'`],
    ['submissions_frozen', `UPDATE submissions SET seq = 0 WHERE id = 'sub_new'`],
    ['submissions_frozen', `UPDATE submissions SET commit = repeat('e', 40) WHERE id = 'sub_new'`],
    ['submissions_frozen', `UPDATE submissions SET tree = repeat('e', 40) WHERE id = 'sub_won'`],
    ['submissions_frozen', `UPDATE submissions SET source_blob = NULL WHERE id = 'sub_won'`],
    ['challenges_frozen', `UPDATE challenges SET bond_minor = 6 WHERE id = 'chl_won'`],
    ['blobs_frozen', `UPDATE blobs SET size_bytes = 2 WHERE id = 1`],
    ['blob_chunks_open', `INSERT INTO blob_chunks VALUES (1, 1, 'y')`],
    ['blob_chunks_frozen', `UPDATE blob_chunks SET bytes = 'y'`],
  ])('%s refuses to change what is agreed: %s', async (rule, script) => {
    expect(await world.refusalOf(script)).toBe(rule);
  });

  // Keeps R-SETTLE-FENCE.
  it.each([
    ['an older attempt', `UPDATE runs SET attempt = 0 WHERE id = 'run_lost'`],
    ['fewer tries', `UPDATE runs SET tries = 0 WHERE id = 'run_lost'`],
    [
      'another verdict',
      `UPDATE runs SET verdict = 'FAIL', reason = 'CRASHED' WHERE id = 'run_won'`,
    ],
    ['another result', `UPDATE runs SET result = '[]' WHERE id = 'run_won'`],
  ])('BUG-56 refuses %s of a run', async (_, script) => {
    const lost = `INSERT INTO runs (id, submission_id, contract_id, purpose, attempt, tries)
      VALUES ('run_lost', 'sub_new', 'con_open', 'VERIFY', 2, 1)`;
    expect(await world.refusalOf(`${lost}; ${script}`)).toBe('runs_frozen');
  });

  it('takes the frozen document and its digest in the update that proves the draft', async () => {
    expect(
      await world.refusalOf(`UPDATE contracts SET state = 'PROVED', approval_state = 'DONE', document = '{"image":"x"}',
         digest = 'sha256:' || repeat('b', 64), base_blob = '${HEX}', proving_blob = '${HEX}' WHERE id = 'con_draft'`),
    ).toBe('accepted');
  });

  // Keeps R-PROVED-FIRST.
  it.each([
    [
      'a contract that begins as PROVED',
      'contracts_begin_draft',
      `CREATE TEMP TABLE one ON COMMIT DROP AS SELECT * FROM contracts WHERE id = 'con_draft';
       UPDATE one SET id = 'con_new', seq = 99, state = 'PROVED', draft_digest = 'sha256:' || repeat('9', 64);
       INSERT INTO contracts SELECT * FROM one`,
    ],
    [
      'money for a draft',
      'contracts_proved',
      `${FUND_DRAFT} UPDATE contracts SET state = 'OPEN' WHERE id = 'con_draft'`,
    ],
    [
      'a contract that is PROVED without a report',
      'contracts_proved',
      `UPDATE contracts SET state = 'PROVED', approval_state = 'DONE', base_blob = '${HEX}' WHERE id = 'con_draft'`,
    ],
    [
      'a contract that is PROVED without its base',
      'contracts_proved',
      `UPDATE contracts SET state = 'PROVED', approval_state = 'DONE', proving_blob = '${HEX}' WHERE id = 'con_draft'`,
    ],
    [
      'a contract that is PROVED though its approval was refused',
      'contracts_proved',
      `UPDATE contracts SET state = 'PROVED', approval_state = 'REFUSED', base_blob = '${HEX}',
         proving_blob = '${HEX}' WHERE id = 'con_draft'`,
    ],
    [
      'an edit of what is PROVED that leaves it PROVED',
      'contracts_frozen',
      `${PROVE_DRAFT}; UPDATE contracts SET document = '{"reward":0}' WHERE id = 'con_draft'`,
    ],
    [
      'an edit that keeps the report of the document before',
      'contracts_edited',
      `UPDATE contracts SET proving_blob = '${HEX}', document = '{"reward":0}' WHERE id = 'con_draft'`,
    ],
    [
      'an edit under an approval that goes on',
      'contracts_edited',
      `UPDATE contracts SET approval_state = 'RUNNING' WHERE id = 'con_draft';
       UPDATE contracts SET document = '{"reward":0}' WHERE id = 'con_draft'`,
    ],
    [
      'a draft again that is taken for approved',
      'contracts_edited',
      `${PROVE_DRAFT}; UPDATE contracts SET state = 'DRAFT' WHERE id = 'con_draft'`,
    ],
    [
      'another report',
      'contracts_frozen',
      `UPDATE contracts SET proving_blob = NULL WHERE id = 'con_open'`,
    ],
    [
      'other findings',
      'contracts_frozen',
      `UPDATE contracts SET findings = '[{}]' WHERE id = 'con_open'`,
    ],
    [
      'a contract under money that is a draft again',
      'contracts_moves',
      `UPDATE contracts SET state = 'DRAFT', approval_state = 'NONE', proving_blob = NULL WHERE id = 'con_open'`,
    ],
  ])('refuses %s', async (_, rule, script) => {
    expect(await world.refusalOf(script)).toBe(rule);
  });

  it('takes the edit that makes what is PROVED a draft again', async () => {
    expect(
      await world.refusalOf(`${PROVE_DRAFT};
        UPDATE contracts SET state = 'DRAFT', approval_state = 'NONE', proving_blob = NULL WHERE id = 'con_draft';
        UPDATE contracts SET document = '{"reward":1}', base_blob = NULL WHERE id = 'con_draft'`),
    ).toBe('accepted');
  });

  it('takes a payout after the window, and a challenge in it', async () => {
    const paid = await world.inVain(async (sql) => {
      await addTransfer(sql, 'pay_over', [['escrow/con_over', 'principal/sol/USD', 100]]);
      await sql.query(PAY_OVER);
      await sql.query(challenge('con_won', 'sub_won', 'oth'));
      await sql.query('SET CONSTRAINTS ALL IMMEDIATE');
      return (await sql.query(`SELECT state FROM submissions WHERE id = 'sub_over'`)).rows;
    });
    expect(paid).toEqual([{ state: 'PAID' }]);
  });
});

function challenge(contract: string, submission: string, challenger: string): string {
  return `INSERT INTO challenges (id, contract_id, submission_id, challenger_id, kind, state, bond_minor, evidence,
      respond_by, decide_by)
    VALUES ('chl_new', '${contract}', '${submission}', '${challenger}', 'RERUN_VERIFICATION', 'RERUNNING', 5, '', now(), now())`;
}
