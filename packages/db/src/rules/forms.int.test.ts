import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld, type World } from '../testing/open-world.ts';

// Each row: a rule, and a statement that breaks it and no other.
const UPPER = `repeat('A', 64)`;
const LONG = (length: number) => `repeat('x', ${length + 1})`;
const WRONG: readonly (readonly [rule: string, script: string])[] = [
  ['principals_id_form', `INSERT INTO principals VALUES ('', 'x', '{solver}')`],
  ['principals_name_length', `UPDATE principals SET name = '' WHERE id = 'req'`],
  ['principals_roles_known', `UPDATE principals SET roles = '{admin}' WHERE id = 'req'`],
  ['principals_roles_known', `UPDATE principals SET roles = '{}' WHERE id = 'req'`],
  ['api_keys_id_form', `UPDATE api_keys SET id = ''`],
  ['api_keys_hash_form', `UPDATE api_keys SET hash = ${UPPER}`],
  ['api_keys_label_length', `UPDATE api_keys SET label = ${LONG(200)}`],
  ['idempotency_keys_key_length', `UPDATE idempotency_keys SET key = ''`],
  ['idempotency_keys_input_form', `UPDATE idempotency_keys SET input_hash = 'x'`],
  ['idempotency_keys_status_known', `UPDATE idempotency_keys SET status = 0`],
  ['blobs_sha256_form', `UPDATE blobs SET sha256 = ${UPPER}, size_bytes = 0 WHERE id = 2`],
  ['blobs_complete', `UPDATE blobs SET sha256 = repeat('b', 64) WHERE id = 2`],
  ['blobs_size_range', `UPDATE blobs SET sha256 = repeat('b', 64), size_bytes = -1 WHERE id = 2`],
  ['blob_chunks_index_range', `INSERT INTO blob_chunks VALUES (2, -1, 'x')`],
  ['blob_chunks_size_range', `INSERT INTO blob_chunks VALUES (2, 0, '')`],
  ['packages_counts_range', `UPDATE packages SET entry_count = -1`],
  ['contracts_id_form', `UPDATE contracts SET id = '' WHERE id = 'con_draft'`],
  [
    'contracts_state_known',
    copyOf(
      'contracts',
      `id = 'c', seq = 99, draft_digest = 'sha256:' || repeat('9', 64), state = 'PAUSED'`,
      `id = 'con_draft'`,
    ),
  ],
  [
    'contracts_approval_state_known',
    `UPDATE contracts SET approval_state = 'YES' WHERE id = 'con_draft'`,
  ],
  ['contracts_document_length', `UPDATE contracts SET document = '' WHERE id = 'con_draft'`],
  ['contracts_digest_form', `UPDATE contracts SET digest = 'x' WHERE id = 'con_draft'`],
  ['contracts_draft_digest_form', `UPDATE contracts SET draft_digest = 'x' WHERE id = 'con_draft'`],
  ['contracts_title_length', `UPDATE contracts SET title = ${LONG(200)} WHERE id = 'con_draft'`],
  ['contracts_kind_length', `UPDATE contracts SET contract_kind = '' WHERE id = 'con_draft'`],
  ['contracts_url_length', `UPDATE contracts SET repository_url = '' WHERE id = 'con_draft'`],
  ['contracts_base_form', `UPDATE contracts SET base_commit = 'main' WHERE id = 'con_draft'`],
  ['contracts_currency_form', `UPDATE contracts SET currency = 'usd' WHERE id = 'con_draft'`],
  ['contracts_reward_range', `UPDATE contracts SET reward_minor = 0 WHERE id = 'con_draft'`],
  ['contracts_fee_range', `UPDATE contracts SET fee_bps = 10001 WHERE id = 'con_draft'`],
  ['contracts_windows_range', `UPDATE contracts SET window_seconds = 0 WHERE id = 'con_draft'`],
  ['contracts_bond_range', `UPDATE contracts SET bond_minor = 0 WHERE id = 'con_draft'`],
  [
    'contracts_invited_length',
    `UPDATE contracts SET invited_ids = array_fill('x'::text, ARRAY[1001]) WHERE id = 'con_draft'`,
  ],
  ['contracts_ended', `UPDATE contracts SET state = 'CANCELLED' WHERE id = 'con_draft'`],
  ['claim_tokens_token_length', `UPDATE claim_tokens SET token = 'short'`],
  [
    'submissions_id_form',
    `INSERT INTO submissions (id, contract_id, solver_id, repository_url, commit, capture_by)
     VALUES ('', 'con_open', 'sol', 'u', repeat('d', 40), now())`,
  ],
  [
    'submissions_state_known',
    `INSERT INTO submissions (id, contract_id, solver_id, repository_url, commit, capture_by, state)
     VALUES ('s', 'con_open', 'sol', 'u', repeat('d', 40), now(), 'WON')`,
  ],
  [
    'submissions_url_length',
    `INSERT INTO submissions (id, contract_id, solver_id, repository_url, commit, capture_by)
     VALUES ('s', 'con_open', 'sol', '', repeat('d', 40), now())`,
  ],
  [
    'submissions_commit_form',
    `INSERT INTO submissions (id, contract_id, solver_id, repository_url, commit, capture_by)
     VALUES ('s', 'con_open', 'sol', 'u', repeat('D', 40), now())`,
  ],
  ['submissions_tree_form', `UPDATE submissions SET tree = 'x' WHERE id = 'sub_new'`],
  [
    'submissions_verdict_known',
    `UPDATE submissions SET verdict = 'ERROR', reason = 'INTERNAL', result_digest = 'sha256:' || repeat('a', 64)
     WHERE id = 'sub_new'`,
  ],
  ['submissions_verdict_whole', `UPDATE submissions SET verdict = 'PASS' WHERE id = 'sub_new'`],
  [
    'submissions_verdict_whole',
    `UPDATE submissions SET verdict = 'FAIL', result_digest = 'sha256:' || repeat('a', 64)
     WHERE id = 'sub_new'`,
  ],
  ['submissions_verdict_whole', `UPDATE submissions SET reason = 'CRASHED' WHERE id = 'sub_new'`],
  [
    'submissions_reason_form',
    `UPDATE submissions SET verdict = 'FAIL', reason = 'because', result_digest = 'sha256:' || repeat('a', 64)
     WHERE id = 'sub_new'`,
  ],
  [
    'submissions_result_form',
    `UPDATE submissions SET verdict = 'PASS', result_digest = 'x' WHERE id = 'sub_new'`,
  ],
  [
    'submissions_window_whole',
    `UPDATE submissions SET window_opens_at = now() WHERE id = 'sub_new'`,
  ],
  [
    'submissions_window_whole',
    `UPDATE submissions SET window_closes_at = window_opens_at WHERE id = 'sub_won'`,
  ],
  [
    'submissions_pass_only',
    `UPDATE submissions SET verdict = 'FAIL', reason = 'CRASHED' WHERE id = 'sub_won'`,
  ],
  [
    'submissions_pass_only',
    `UPDATE submissions SET window_opens_at = NULL, window_closes_at = NULL WHERE id = 'sub_won'`,
  ],
  [
    'runs_id_form',
    `INSERT INTO runs (id, submission_id, contract_id, purpose) VALUES ('', 'sub_new', 'con_open', 'RERUN')`,
  ],
  [
    'runs_purpose_known',
    `INSERT INTO runs (id, submission_id, contract_id, purpose) VALUES ('r', 'sub_new', 'con_open', 'TRY')`,
  ],
  [
    'runs_state_known',
    `INSERT INTO runs (id, submission_id, contract_id, purpose, state) VALUES ('r', 'sub_new', 'con_open', 'RERUN', 'LATE')`,
  ],
  ['runs_counts_range', `UPDATE runs SET tries = 2 WHERE id = 'run_won'`],
  [
    'runs_verdict_known',
    `INSERT INTO runs (id, submission_id, contract_id, purpose, state, verdict, reason, result_digest)
     VALUES ('r', 'sub_new', 'con_open', 'RERUN', 'SEALED', 'ERROR', 'INTERNAL', 'sha256:' || repeat('a', 64))`,
  ],
  [
    'runs_verdict_whole',
    `INSERT INTO runs (id, submission_id, contract_id, purpose, state, verdict) VALUES ('r', 'sub_new', 'con_open', 'RERUN', 'SEALED', 'PASS')`,
  ],
  [
    'runs_verdict_whole',
    `INSERT INTO runs (id, submission_id, contract_id, purpose, state, verdict, result_digest)
     VALUES ('r', 'sub_new', 'con_open', 'RERUN', 'SEALED', 'FAIL', 'sha256:' || repeat('a', 64))`,
  ],
  [
    'runs_sealed',
    `INSERT INTO runs (id, submission_id, contract_id, purpose, state) VALUES ('r', 'sub_new', 'con_open', 'RERUN', 'SEALED')`,
  ],
  [
    'runs_reason_form',
    `INSERT INTO runs (id, submission_id, contract_id, purpose, reason) VALUES ('r', 'sub_new', 'con_open', 'RERUN', 'no')`,
  ],
  [
    'runs_result_form',
    `INSERT INTO runs (id, submission_id, contract_id, purpose, state, verdict, result_digest)
     VALUES ('r', 'sub_new', 'con_open', 'RERUN', 'SEALED', 'PASS', 'x')`,
  ],
  ['attempts_number_range', `UPDATE attempts SET number = 0`],
  ['attempts_outcome_known', `UPDATE attempts SET outcome = 'won', finished_at = now()`],
  ['attempts_ended', `UPDATE attempts SET outcome = 'lost'`],
  ['criterion_results_visibility_known', `UPDATE criterion_results SET visibility = 'secret'`],
  ['criterion_results_output_form', `UPDATE criterion_results SET output_sha256 = 'x'`],
  ['criterion_results_counts_range', `UPDATE criterion_results SET duration_ms = -1`],
  ['challenges_id_form', challenge(`id = ''`)],
  ['challenges_kind_known', challenge(`kind = 'APPEAL'`)],
  ['challenges_state_known', challenge(`state = 'LOST'`)],
  ['challenges_answer', challenge(`state = 'NOTED'`)],
  ['challenges_answer', challenge(`kind = 'UPHOLD_PASS', state = 'NOTED'`)],
  ['challenges_answer', challenge('bond_minor = 0')],
  ['challenges_bond_range', challenge('bond_minor = -1')],
  ['challenges_evidence_length', challenge(`evidence = ${LONG(100_000)}`)],
  ['challenges_deadlines_order', `UPDATE challenges SET decide_by = respond_by - interval '1 ms'`],
  [
    'resolutions_number_range',
    `INSERT INTO resolutions VALUES ('chl_won', 3, 'arb', 'UPHOLD_PASS', '')`,
  ],
  [
    'resolutions_decision_known',
    `INSERT INTO resolutions VALUES ('chl_won', 2, 'arb', 'MAYBE', '')`,
  ],
  [
    'resolutions_statement_length',
    `INSERT INTO resolutions VALUES ('chl_won', 2, 'arb', 'UPHOLD_PASS', ${LONG(100_000)})`,
  ],
  [
    'escrow_resolutions_known',
    `INSERT INTO escrow_resolutions VALUES ('con_over', 'KEEP', 'deposit')`,
  ],
  ['ledger_accounts_name_length', `INSERT INTO ledger_accounts VALUES ('', 'USD', 0, false)`],
  ['ledger_accounts_currency_form', `INSERT INTO ledger_accounts VALUES ('x', '$', 0, false)`],
  [
    'ledger_accounts_bottom',
    `INSERT INTO ledger_accounts VALUES ('principal/x/USD', 'USD', 0, true)`,
  ],
  ['ledger_transfers_id_form', transfer({ id: '' })],
  ['ledger_transfers_kind_known', transfer({ kind: 'gift' })],
  ['ledger_transfers_key_length', transfer({ idempotency_key: '' })],
  ['ledger_transfers_currency_form', transfer({ currency: 'usd' })],
  ['ledger_transfers_hashes_form', transfer({ input_hash: 'x' })],
  ['payouts_id_form', payout(`id = ''`)],
  ['payouts_state_known', `UPDATE payouts SET state = 'LOST'`],
  ['payouts_amount_range', payout('amount_minor = 0')],
  ['payouts_tries_range', `UPDATE payouts SET tries = -1`],
  ['payouts_confirmed', `UPDATE payouts SET state = 'CONFIRMED'`],
  ['events_name_length', `INSERT INTO events (name, audience, data) VALUES ('', 'PUBLIC', '{}')`],
  ['events_audience_known', `INSERT INTO events (name, audience, data) VALUES ('x', 'ALL', '{}')`],
  ['workers_id_form', `UPDATE workers SET id = ''`],
  ['workers_slots_range', `UPDATE workers SET slots = 0`],
  ['workers_state_known', `UPDATE workers SET state = 'TIRED'`],
];

/** Another challenge like `chl_won`, with these columns set otherwise. */
function challenge(change: string): string {
  const seq = 'seq = 99';
  return copyOf(
    'challenges',
    change.startsWith('id') ? `${seq}, ${change}` : `id = 'chl_new', ${seq}, ${change}`,
  );
}

/** Another payout like `pay_over`, with these columns set otherwise. */
function payout(change: string): string {
  return copyOf('payouts', change.startsWith('id') ? change : `id = 'pay_new', ${change}`);
}

function copyOf(table: string, change: string, which = 'true'): string {
  return `CREATE TEMP TABLE one ON COMMIT DROP AS SELECT * FROM ${table} WHERE ${which}; UPDATE one SET ${change};
    INSERT INTO ${table} SELECT * FROM one`;
}

function transfer(change: Readonly<Record<string, string>>): string {
  const row = {
    id: 't',
    kind: 'deposit',
    idempotency_key: 't',
    currency: 'USD',
    input_hash: 'b'.repeat(64),
    hash: 'b'.repeat(64),
    ...change,
  };
  return `INSERT INTO ledger_transfers (id, seq, kind, idempotency_key, input_hash, currency, prev_hash, hash, recorded_at)
    SELECT '${row.id}', seq + 1, '${row.kind}', '${row.idempotency_key}', '${row.input_hash}', '${row.currency}', hash,
      '${row.hash}', now() FROM ledger_head`;
}

// Keeps R-DB-RULES.
describe('the form of a row', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());

  it.each(WRONG)('%s refuses %s', async (rule, script) => {
    expect(await world.refusalOf(script)).toBe(rule);
  });

  it('is right in the world that the wrong rows are tried in', async () => {
    expect(
      await world.inVain(async (sql) => (await sql.query('SELECT 1 FROM contracts')).rowCount),
    ).toBe(4);
  });
});
