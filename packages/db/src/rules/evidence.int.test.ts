import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld, type World } from '../testing/open-world.ts';
import { HEX, PUBLIC_KEY, toEntry, toEvidence } from '../testing/seed-world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const NEXT = toEntry('key_added', 'x', `'{}'`);
/** A run that runs, of a submission that waits. */
const RUN = `
  INSERT INTO runs (id, submission_id, contract_id, purpose) VALUES ('r', 'sub_new', 'con_open', 'RERUN');
  UPDATE runs SET state = 'RUNNING', attempt = 1 WHERE id = 'r';`;
const SEAL = `UPDATE runs SET state = 'SEALED', verdict = 'PASS', result_digest = digest_of('{}'), result = '{}'
  WHERE id = 'r';`;
const RETIRE = `UPDATE signing_keys SET retired_at = now() + interval '1 hour' WHERE keyid = '${HEX}'`;
const ADD_KEY = (keyid: string, pem: string, retired = 'NULL') =>
  `INSERT INTO signing_keys (keyid, public_key, retired_at) VALUES (${keyid}, ${pem}, ${retired})`;
const OTHER = `repeat('b', 64)`;
const PEM = `'${PUBLIC_KEY}'`;

// Keeps R-AUDIT-CHAIN.
describe('the audit log', () => {
  it.each([
    ['leaves out a number', NEXT.replace('seq + 1', 'seq + 2')],
    ['takes a number again', NEXT.replace('seq + 1', 'seq')],
    ['follows another than the last', NEXT.replace(' hash,', ` repeat('0', 64),`)],
  ])('refuses an entry that %s: the chain has one end', async (_, script) => {
    expect(await world.refusalOf(script)).toBe('audit_log_chain');
  });

  it('takes the next one', async () => {
    expect(await world.refusalOf(NEXT)).toBe('accepted');
  });

  it.each([
    ['audit_log_append_only', `UPDATE audit_log SET subject = '' WHERE false`],
    ['audit_log_append_only', 'DELETE FROM audit_log WHERE false'],
    ['audit_log_append_only', 'TRUNCATE audit_log CASCADE'],
    ['audit_head_moves', `UPDATE audit_head SET seq = 0, hash = repeat('0', 64)`],
    ['audit_head_kept', 'DELETE FROM audit_head'],
    ['audit_head_kept', 'TRUNCATE audit_head'],
    ['audit_head_single', `INSERT INTO audit_head VALUES (2, 0, repeat('0', 64))`],
    ['audit_head_hash_form', `INSERT INTO audit_head VALUES (1, 0, 'x')`],
    ['audit_log_kind_known', toEntry('forgotten', 'x', `'{}'`)],
    ['audit_log_subject_length', toEntry('key_added', '', `'{}'`)],
    ['audit_log_digest_form', toEntry('key_added', 'x', `'{}'`, `'x'`)],
    ['audit_log_facts_form', toEntry('key_added', 'x', `'[]'`)],
    ['audit_log_hashes_form', NEXT.replace(`repeat('0', 32)`, `'salt'`)],
  ])('%s refuses history by hand', async (rule, script) => {
    expect(await world.refusalOf(script)).toBe(rule);
  });
});

// Keeps R-EVIDENCE-KEYS.
describe('signing keys', () => {
  it.each([
    ['signing_keys_keyid_form', ADD_KEY(`'x'`, PEM)],
    ['signing_keys_public_form', ADD_KEY(OTHER, `replace(${PEM}, 'PUBLIC', 'PRIVATE')`)],
    ['signing_keys_life_order', ADD_KEY(OTHER, PEM, `now() - interval '1 day'`)],
    ['signing_keys_frozen', `UPDATE signing_keys SET public_key = public_key || ' '`],
    ['signing_keys_frozen', `${RETIRE}; UPDATE signing_keys SET retired_at = NULL`],
    [
      'signing_keys_frozen',
      `${RETIRE}; UPDATE signing_keys SET retired_at = retired_at + interval '1 day'`,
    ],
    ['signing_keys_kept', 'DELETE FROM signing_keys WHERE false'],
    ['signing_keys_kept', 'TRUNCATE signing_keys CASCADE'],
  ])('%s refuses another key or life', async (rule, script) => {
    expect(await world.refusalOf(script)).toBe(rule);
  });
});

// Keeps R-EVIDENCE-SEALED.
describe('the evidence of a run', () => {
  it('is kept with its result and its entry in the audit log', async () => {
    expect(await world.refusalOf(`${RUN} ${SEAL} ${toEvidence('r')}`)).toBe('accepted');
  });

  it.each([
    ['missing', 'runs_with_evidence', `${RUN} ${SEAL}`],
    ['of a run that is not sealed', 'run_evidence_of_result', `${RUN} ${toEvidence('r')}`],
    [
      'of another result than its digest says',
      'run_evidence_of_result',
      `${RUN} ${SEAL.replace(`result = '{}'`, `result = '[]'`)} ${toEvidence('r')}`,
    ],
    [
      'of another run than its entry',
      'run_evidence_audited',
      `${RUN} ${SEAL} ${toEvidence('r').replace(`'verdict_sealed', 'r'`, `'verdict_sealed', 'run_won'`)}`,
    ],
    [
      'other than its entry says, by a byte',
      'run_evidence_audited',
      `${RUN} ${SEAL} ${toEvidence('r').replace(`'publicAttestation', digest_of('{}')`, `'publicAttestation', digest_of('{ }')`)}`,
    ],
    [
      'signed with a key that is retired',
      'run_evidence_key_in_use',
      `${RETIRE}; ${RUN} ${SEAL} ${toEvidence('r')}`,
    ],
    ['changed', 'run_evidence_append_only', `UPDATE run_evidence SET request = '' WHERE false`],
    ['deleted', 'run_evidence_append_only', 'DELETE FROM run_evidence WHERE false'],
    ['emptied', 'run_evidence_append_only', 'TRUNCATE run_evidence'],
  ])('is refused where it is %s', async (_, rule, script) => {
    expect(await world.refusalOf(script)).toBe(rule);
  });
});
