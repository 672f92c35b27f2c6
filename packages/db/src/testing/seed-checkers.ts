import type { Pool, PoolClient } from 'pg';

const DIGEST = `'sha256:' || repeat('a', 64)`;
const HEX = `repeat('a', 64)`;
const DOCUMENT = JSON.stringify({
  stages: [
    { key: 'run', kind: 'sandbox' },
    { key: 'judge', kind: 'review' },
  ],
});

/**
 * Right rows of checkers for `seedWorld`: the published contract `vct` of the family `vfr` with the implementations
 * `vim_ok`, `vim_failed` and, waiting, `vim`; the problems `prb_draft` and `prb`; of `prb` the entries `ent`, whose check
 * `chk` waits, and `ent_over`, whose check `chk_over` has ended.
 */
export async function seedCheckers(sql: Pool | PoolClient): Promise<void> {
  await sql.query(`
    INSERT INTO verifiers (id, owner_id, name) VALUES ('vfr', 'req', 'family');
    INSERT INTO verifier_contracts (id, verifier_id, version_number, created_by_id, document, digest)
      VALUES ('vct', 'vfr', 1, 'req', '${DOCUMENT}', ${DIGEST});
    INSERT INTO review_protocols (id, created_by_id, document, digest) VALUES ('rpt', 'req', '{}', ${DIGEST});
    INSERT INTO partner_keys (fingerprint, external_system, public_key) VALUES (${HEX}, 'system', 'pem')`);
  await addImplementation(sql, 'vim_ok', `state = 'CONFORMANT', report = '{}', ended_at = now()`);
  await addImplementation(
    sql,
    'vim_failed',
    `state = 'FAILED', problem = 'no engine', ended_at = now()`,
  );
  await addImplementation(sql, 'vim');
  for (const id of ['prb_draft', 'prb']) {
    await sql.query(`
      INSERT INTO problems (id, owner_id, contract_id, title, statement, state, facts)
        VALUES ('${id}', 'req', 'vct', 'title', 'statement', 'DRAFT', '${JSON.stringify({
          id,
          ownerId: 'req',
          contractId: 'vct',
          state: 'DRAFT',
          slots: [],
          bindings: {},
          sealing: null,
          invited: null,
          releasedAt: null,
        })}');
      INSERT INTO problem_inputs VALUES ('${id}', 'key', ${HEX})`);
  }
  await sql.query(
    `UPDATE problems SET state = 'OPEN', facts = facts || '{"state": "OPEN"}', version = 2 WHERE id = 'prb'`,
  );
  await addEntry(sql, 'ent', 'chk', 'WAITING_SANDBOX');
  await addEntry(sql, 'ent_over', 'chk_over', 'VERIFIED');
}

async function addImplementation(sql: Pool | PoolClient, id: string, end?: string): Promise<void> {
  await sql.query(
    `INSERT INTO implementations (id, contract_id, stage_key, published_by_id, package_sha256, program_digest)
     VALUES ('${id}', 'vct', 'run', 'req', ${HEX}, ${DIGEST})`,
  );
  if (end !== undefined) await sql.query(`UPDATE implementations SET ${end} WHERE id = '${id}'`);
}

async function addEntry(
  sql: Pool | PoolClient,
  id: string,
  checkId: string,
  state: string,
): Promise<void> {
  const facts = { id: checkId, entryId: id, problemId: 'prb', state };
  await sql.query(`
    INSERT INTO entries (id, problem_id, solver_id, summary_text) VALUES ('${id}', 'prb', 'sol', 'text');
    INSERT INTO entry_artifacts (entry_id, role, filename, size_bytes, blob)
      VALUES ('${id}', 'answer', 'answer.txt', 1, ${HEX});
    INSERT INTO checks (id, entry_id, problem_id, state, facts, ended_at)
      VALUES ('${checkId}', '${id}', 'prb', '${state}', '${JSON.stringify(facts)}',
        ${state === 'VERIFIED' ? 'now()' : 'NULL'})`);
}
