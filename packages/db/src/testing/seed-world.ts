import { createHash } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { seedCheckers } from './seed-checkers.ts';
import { TEST_KEY } from './sealed-as.ts';

type Sql = Pool | PoolClient;

export const HEX = 'a'.repeat(64);
export const DIGEST = `sha256:${HEX}`;
export const SHA = 'c'.repeat(40);

export const PUBLIC_KEY = TEST_KEY.publicKey;

/** An entry by hand: the next link. */
export function toEntry(kind: string, subject: string, facts: string, digest = 'NULL'): string {
  return `INSERT INTO audit_log (seq, at, kind, subject, digest, facts, salt, prev_hash, hash)
    SELECT seq + 1, now(), '${kind}', '${subject}', ${digest}, ${facts}, repeat('0', 32), hash,
      encode(sha256(hash::bytea), 'hex') FROM audit_head`;
}

/** What a sealed run whose result is `{}` leaves, all texts of it `{}`. */
export function toEvidence(runId: string): string {
  const facts = ['evaluation', 'publicEvaluation', 'attestation', 'publicAttestation'].map(
    (name) => `'${name}', digest_of('{}')`,
  );
  const entry = toEntry(
    'verdict_sealed',
    runId,
    `jsonb_build_object(${facts.join(', ')})`,
    `digest_of('{}')`,
  );
  return `${entry};
    INSERT INTO run_evidence (run_id, audit_seq, keyid, evaluation, public_evaluation, attestation,
      public_attestation, manifest, public_manifest, request, public_result, public_contract_blob)
    SELECT '${runId}', seq, '${HEX}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '${HEX}' FROM audit_head`;
}

/** A transfer by hand: the next link, and its postings as `[source, destination, amount]`. */
export async function addTransfer(
  sql: Sql,
  id: string,
  postings: readonly (readonly [string, string, number])[],
): Promise<void> {
  await sql.query(
    `INSERT INTO ledger_transfers (id, seq, kind, idempotency_key, input_hash, currency, prev_hash, hash, recorded_at)
     SELECT $1, seq + 1, 'deposit', $1, $2, 'USD', hash, $2, now() FROM ledger_head`,
    [id, createHash('sha256').update(id).digest('hex')],
  );
  for (const [index, [source, destination, amount]] of postings.entries()) {
    await sql.query('INSERT INTO ledger_postings VALUES ($1, $2, $3, $4, $5)', [
      id,
      index,
      source,
      destination,
      amount,
    ]);
  }
}

/**
 * A little world of right rows, for tests that add a wrong one: `con_draft`; `con_open` with money and, in line,
 * `sub_new` and `sub_lost`; `con_won`, whose window is open for `sub_won`, with the run `run_won` and the challenge
 * `chl_won`; `con_over`, whose window is over for `sub_over`.
 */
export async function seedWorld(pool: Pool): Promise<void> {
  const sql = await pool.connect();
  try {
    await sql.query('BEGIN');
    await sql.query(`
      INSERT INTO principals (id, name, roles) VALUES
        ('req', 'requester', '{requester}'), ('sol', 'solver', '{solver}'), ('oth', 'other solver', '{solver}'),
        ('cha', 'challenger', '{challenger}'), ('arb', 'arbiter', '{arbiter}');
      INSERT INTO api_keys (id, principal_id, hash, label) VALUES ('key', 'req', '${HEX}', '');
      INSERT INTO idempotency_keys (principal_id, key, input_hash, status, body) VALUES ('req', 'k', '${HEX}', 201, '{}');
      INSERT INTO blobs (id) VALUES (1), (2);
      INSERT INTO blob_chunks VALUES (1, 0, 'x');
      UPDATE blobs SET sha256 = '${HEX}', size_bytes = 1 WHERE id = 1;
      INSERT INTO packages (sha256, owner_id, entry_count, size_bytes) VALUES ('${HEX}', 'req', 1, 1);
      INSERT INTO workers (id, host, version, slots, state) VALUES ('wrk', 'host', '1', 1, 'READY');
      INSERT INTO ledger_accounts (name, currency, may_overdraw) VALUES
        ('outside/deposits/USD', 'USD', true), ('principal/req/USD', 'USD', false),
        ('principal/sol/USD', 'USD', false), ('principal/sol/EUR', 'EUR', false);
      INSERT INTO signing_keys (keyid, public_key) VALUES ('${HEX}', '${PUBLIC_KEY}')`);
    await addTransfer(sql, 'deposit', [['outside/deposits/USD', 'principal/req/USD', 1_000]]);
    for (const name of ['draft', 'open', 'won', 'over']) await addContract(sql, name);
    for (const name of ['open', 'won', 'over']) await openContract(sql, name);
    await addSubmission(sql, 'new', 'open', 'sol');
    await addSubmission(sql, 'lost', 'open', 'oth');
    await addWinner(sql, 'won', `now() - interval '1 hour'`, `now() + interval '1 hour'`);
    await addWinner(sql, 'over', `now() - interval '2 hours'`, `now() - interval '1 hour'`);
    await sql.query(`
      INSERT INTO claim_tokens VALUES ('con_open', 'sol', 'a token of sixteen');
      INSERT INTO attempts (run_id, number, worker_id) VALUES ('run_won', 1, 'wrk');
      INSERT INTO criterion_results (run_id, criterion_id, position, visibility, status)
        VALUES ('run_won', 'tests', 0, 'public', 'passed');
      INSERT INTO challenges (id, contract_id, submission_id, challenger_id, kind, state, bond_minor, evidence,
          respond_by, decide_by, run_ids)
        VALUES ('chl_won', 'con_won', 'sub_won', 'cha', 'OVERTURN_PASS', 'AWAITING_ARBITER', 5, '', now(), now(), '{}');
      INSERT INTO resolutions (challenge_id, number, arbiter_id, decision, statement)
        VALUES ('chl_won', 1, 'arb', 'RERUN_VERIFICATION', '');
      INSERT INTO payouts (id, contract_id, submission_id, solver_id, amount_minor, currency)
        VALUES ('pay_over', 'con_over', 'sub_over', 'sol', 90, 'USD');
      INSERT INTO events (name, contract_id, run_id, audience, data)
        VALUES ('run_sealed', 'con_won', 'run_won', 'PUBLIC', '{}')`);
    await seedCheckers(sql);
    await sql.query('COMMIT');
  } finally {
    // Where something failed, closing the session undoes the rest.
    sql.release(true);
  }
}

async function addContract(sql: Sql, name: string): Promise<void> {
  await sql.query(
    `INSERT INTO contracts (id, requester_id, document, digest, draft_digest, title, contract_kind, repository_url,
       base_commit, package_sha256, closes_at, reward_minor, currency, fee_bps, window_seconds, response_seconds,
       bond_minor, invited_ids, invite_only, needs_claim)
     VALUES ('con_' || $1, 'req', '{}', $2, $3, 'title', 'bug_fix', 'https://example.org/r.git', $4, $5,
       now() + interval '1 day', 100, 'USD', 250, 3600, 3600, 5, '{}', false, false)`,
    [name, DIGEST, `sha256:${createHash('sha256').update(name).digest('hex')}`, SHA, HEX],
  );
}

async function openContract(sql: Sql, name: string): Promise<void> {
  await sql.query(
    `INSERT INTO ledger_accounts (name, currency) VALUES ('escrow/con_${name}', 'USD')`,
  );
  await addTransfer(sql, `fund_${name}`, [['principal/req/USD', `escrow/con_${name}`, 100]]);
  await sql.query(`
    UPDATE contracts SET state = 'PROVED', approval_state = 'DONE', base_blob = '${HEX}', proving_blob = '${HEX}'
      WHERE id = 'con_${name}';
    INSERT INTO escrows (contract_id, amount_minor, currency, transfer_id) VALUES ('con_${name}', 100, 'USD', 'fund_${name}');
    UPDATE contracts SET state = 'OPEN' WHERE id = 'con_${name}'`);
}

async function addSubmission(sql: Sql, name: string, contract: string, solver: string) {
  await sql.query(
    `INSERT INTO submissions (id, contract_id, solver_id, repository_url, commit, capture_by)
     VALUES ('sub_' || $1, 'con_' || $2, $3, 'https://example.org/s.git', $4, now())`,
    [name, contract, solver, SHA],
  );
}

async function addWinner(sql: Sql, name: string, opensAt: string, closesAt: string): Promise<void> {
  await addSubmission(sql, name, name, 'sol');
  await sql.query(`
    UPDATE submissions SET state = 'QUEUED', source_blob = '${HEX}', tree = '${SHA}' WHERE id = 'sub_${name}';
    INSERT INTO runs (id, submission_id, contract_id, purpose) VALUES ('run_${name}', 'sub_${name}', 'con_${name}', 'VERIFY');
    UPDATE runs SET state = 'RUNNING', attempt = 1 WHERE id = 'run_${name}';
    UPDATE submissions SET state = 'RUNNING' WHERE id = 'sub_${name}';
    UPDATE runs SET state = 'SEALED', verdict = 'PASS', result_digest = digest_of('{}'), result = '{}'
      WHERE id = 'run_${name}';
    ${toEvidence(`run_${name}`)};
    UPDATE submissions SET state = 'VERIFIED', verdict = 'PASS', result_digest = digest_of('{}') WHERE id = 'sub_${name}';
    UPDATE submissions SET state = 'PASSED', window_opens_at = ${opensAt}, window_closes_at = ${closesAt}
      WHERE id = 'sub_${name}';
    UPDATE contracts SET state = 'IN_CHALLENGE' WHERE id = 'con_${name}'`);
}
