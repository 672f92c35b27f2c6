import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld, type World } from '../testing/open-world.ts';

const LONG = (length: number) => `repeat('x', ${length + 1})`;
const DIGEST = `'sha256:' || repeat('b', 64)`;
const HEX = `repeat('a', 64)`;

type Change = Readonly<Record<string, string>>;

/** Another row of the table, like one that is there but for these columns. */
function another(table: string, like: string, change: Change): string {
  const changes = Object.entries({ ...(table !== 'partner_keys' && { seq: '99' }), ...change });
  return `CREATE TEMP TABLE one ON COMMIT DROP AS SELECT * FROM ${table} WHERE ${like};
    UPDATE one SET ${changes.map(([column, value]) => `${column} = ${value}`).join(', ')};
    INSERT INTO ${table} SELECT * FROM one`;
}
const NEW = { id: `'new'` };
const verifier = (change: Change) =>
  another('verifiers', `id = 'vfr'`, { ...NEW, name: `'new'`, ...change });
const contract = (change: Change = {}) =>
  another('verifier_contracts', `id = 'vct'`, {
    ...NEW,
    version_number: '2',
    digest: DIGEST,
    ...change,
  });
const implementation = (change: Change = {}) =>
  another('implementations', `id = 'vim'`, { ...NEW, ...change });
const protocol = (change: Change) =>
  another('review_protocols', `id = 'rpt'`, { ...NEW, digest: DIGEST, ...change });
/** Another problem, which says of itself what its columns say. */
const problem = (change: Change = {}, said: object = {}) =>
  another('problems', `id = 'prb_draft'`, {
    ...NEW,
    facts: `facts || '${JSON.stringify({ id: 'new', ...said })}'`,
    ...change,
  });
const entry = (change: Change = {}) => another('entries', `id = 'ent'`, { ...NEW, ...change });
const partnerKey = (change: Change) =>
  another('partner_keys', 'true', { fingerprint: `repeat('b', 64)`, ...change });
const check = (change: string) => `UPDATE checks SET ${change} WHERE id = 'chk'`;
const facts = (column: string, change: object) =>
  `facts = ${column} || '${JSON.stringify(change)}', version = version + 1`;

const WRONG: readonly (readonly [rule: string, script: string])[] = [
  ['verifiers_id_form', verifier({ id: `''` })],
  ['verifiers_name_length', verifier({ name: `''` })],
  ['verifier_contracts_id_form', contract({ id: `''` })],
  ['verifier_contracts_document_length', contract({ document: `'1'` })],
  ['verifier_contracts_digest_form', contract({ digest: `'x'` })],
  ['implementations_id_form', implementation({ id: `''` })],
  ['implementations_program_form', implementation({ program_digest: `'x'` })],
  [
    'implementations_state_known',
    `SET LOCAL session_replication_role = replica;
     UPDATE implementations SET state = 'GOOD', ended_at = now() WHERE id = 'vim'`,
  ],
  ['implementations_ended', `UPDATE implementations SET ended_at = now() WHERE id = 'vim'`],
  ['review_protocols_id_form', protocol({ id: `''` })],
  ['review_protocols_document_length', protocol({ document: `'1'` })],
  ['review_protocols_digest_form', protocol({ digest: `'x'` })],
  ['problems_id_form', problem({ id: `''` }, { id: '' })],
  ['problems_title_length', problem({ title: `''` })],
  ['problems_statement_length', problem({ statement: `${LONG(1_000_000)}` })],
  ['problems_state_known', problem({ state: `'LOST'` }, { state: 'LOST' })],
  ['entries_id_form', entry({ id: `''` })],
  ['entries_summary_length', entry({ summary_text: `${LONG(1_000_000)}` })],
  [
    'entry_artifacts_filename_length',
    `${entry()}; INSERT INTO entry_artifacts VALUES ('new', 'a', '', NULL, 1, ${HEX})`,
  ],
  [
    'entry_artifacts_size_range',
    `${entry()}; INSERT INTO entry_artifacts VALUES ('new', 'a', 'f', NULL, -1, ${HEX})`,
  ],
  [
    'checks_id_form',
    `${entry()}; INSERT INTO checks (id, entry_id, problem_id, state, facts) VALUES ('', 'new', 'prb',
       'HELD', '{"id": "", "entryId": "new", "problemId": "prb", "state": "HELD"}')`,
  ],
  ['checks_state_known', check(`state = 'LOST', ${facts('facts', { state: 'LOST' })}`)],
  ['checks_ended', check(`state = 'REFUTED', ${facts('facts', { state: 'REFUTED' })}`)],
  ['partner_keys_fingerprint_form', partnerKey({ fingerprint: `'x'` })],
  ['partner_keys_system_length', partnerKey({ external_system: `''` })],
  ['partner_keys_key_length', partnerKey({ public_key: `''` })],
];

const BROKEN: readonly (readonly [attack: string, rule: string, script: string])[] = [
  [
    'says that a program conforms without a report of its fixtures',
    'implementations_reported',
    `UPDATE implementations SET state = 'CONFORMANT', ended_at = now() WHERE id = 'vim'`,
  ],
  [
    'publishes a program that conforms already',
    'implementations_begin_pending',
    implementation({ state: `'CONFORMANT'`, report: `'{}'`, ended_at: `now()` }),
  ],
  [
    'makes a program conformant that missed a fixture',
    'implementations_moves',
    `UPDATE implementations SET state = 'NONCONFORMANT', report = '{}', ended_at = now() WHERE id = 'vim';
     UPDATE implementations SET state = 'CONFORMANT' WHERE id = 'vim'`,
  ],
  [
    'puts another program in the place of one that conforms',
    'implementations_frozen',
    `UPDATE implementations SET program_digest = ${DIGEST} WHERE id = 'vim_ok'`,
  ],
  [
    'edits the report of a program',
    'implementations_frozen',
    `UPDATE implementations SET report = '[]' WHERE id = 'vim_ok'`,
  ],
  ['drops the history of a stage', 'implementations_kept', `DELETE FROM implementations`],
  ['has the same package tried twice at once', 'implementations_one_pending', implementation()],
  [
    'publishes a program for a review',
    'implementations_belong',
    implementation({ stage_key: `'judge'` }),
  ],
  [
    'publishes a program for a contract of somebody else',
    'implementations_belong',
    `INSERT INTO packages (sha256, owner_id, entry_count, size_bytes) VALUES (${HEX}, 'sol', 1, 1);
     ${implementation({ published_by_id: `'sol'` })}`,
  ],
  ['leaves a version out', 'verifier_contracts_sequence', contract({ version_number: `3` })],
  ['publishes a version again', 'verifier_contracts_sequence', contract({ version_number: `1` })],
  [
    'publishes into a family of somebody else',
    'verifier_contracts_own',
    contract({ created_by_id: `'sol'` }),
  ],
  [
    'changes what a published contract says',
    'verifier_contracts_frozen',
    `UPDATE verifier_contracts SET document = '{"stages": []}'`,
  ],
  [
    'takes a withdrawal back',
    'verifier_contracts_frozen',
    `UPDATE verifier_contracts SET yanked_at = now(); UPDATE verifier_contracts SET yanked_at = NULL`,
  ],
  ['drops a published contract', 'verifier_contracts_kept', `TRUNCATE verifier_contracts CASCADE`],
  ['hands a family over', 'verifiers_frozen', `UPDATE verifiers SET owner_id = 'sol'`],
  [
    'changes who may judge',
    'review_protocols_append_only',
    `UPDATE review_protocols SET document = '[]'`,
  ],
  [
    'poses a problem under a contract that was withdrawn',
    'problems_not_yanked',
    `UPDATE verifier_contracts SET yanked_at = now(); ${problem()}`,
  ],
  [
    'has facts that say another state than the row',
    'problems_facts',
    `UPDATE problems SET ${facts('facts', { state: 'CLOSED' })} WHERE id = 'prb'`,
  ],
  [
    'moves the release of sealed bytes after the first entry',
    'problems_frozen',
    `UPDATE problems SET ${facts('facts', { sealing: {} })} WHERE id = 'prb'`,
  ],
  [
    'takes an early release back',
    'problems_frozen',
    `UPDATE problems SET ${facts('facts', { releasedAt: '2026-01-01T00:00:00Z' })} WHERE id = 'prb';
     UPDATE problems SET ${facts('facts', { releasedAt: null })} WHERE id = 'prb'`,
  ],
  [
    'makes an open problem a draft again',
    'problems_frozen',
    `UPDATE problems SET state = 'DRAFT', ${facts('facts', { state: 'DRAFT' })} WHERE id = 'prb'`,
  ],
  [
    'rewords an open problem',
    'problems_frozen',
    `UPDATE problems SET statement = 'other' WHERE id = 'prb'`,
  ],
  [
    'decides on facts that have changed meanwhile',
    'problems_versions',
    `UPDATE problems SET facts = facts || '{"actedIds": ["oth"]}' WHERE id = 'prb'`,
  ],
  [
    'binds other bytes once the problem is open',
    'problem_inputs_draft',
    `UPDATE problem_inputs SET blob = NULL WHERE problem_id = 'prb'`,
  ],
  [
    'unbinds a slot of an open problem',
    'problem_inputs_draft',
    `DELETE FROM problem_inputs WHERE problem_id = 'prb'`,
  ],
  ['submits to a draft', 'entries_open', entry({ problem_id: `'prb_draft'` })],
  [
    'rewrites an entry',
    'entries_append_only',
    `UPDATE entries SET summary_text = 'better' WHERE id = 'ent'`,
  ],
  ['swaps an artifact', 'entry_artifacts_append_only', `UPDATE entry_artifacts SET filename = 'b'`],
  [
    'adds an artifact to an entry that is in',
    'entry_artifacts_late',
    `INSERT INTO entry_artifacts VALUES ('ent', 'more', 'f', NULL, 1, ${HEX})`,
  ],
  [
    'gives an entry a second check',
    'checks_entry_id_problem_id_key',
    another('checks', `id = 'chk'`, { ...NEW, facts: `facts || '{"id": "new"}'` }),
  ],
  ['has facts of another entry', 'checks_facts', check(facts('facts', { entryId: 'ent_over' }))],
  ['writes a record before the end', 'checks_recorded', check(`evaluation = '{}'`)],
  [
    'changes how a check ended',
    'checks_frozen',
    `UPDATE checks SET state = 'REFUTED', ${facts('facts', { state: 'REFUTED' })} WHERE id = 'chk_over'`,
  ],
  [
    'replaces a record',
    'checks_frozen',
    `UPDATE checks SET evaluation = '{}' WHERE id = 'chk_over'; UPDATE checks SET evaluation = '[]' WHERE id = 'chk_over'`,
  ],
  [
    'stores what an older reader decided',
    'checks_versions',
    `UPDATE checks SET state = 'HELD', facts = facts || '{"state": "HELD"}' WHERE id = 'chk'`,
  ],
  [
    'gives a system another key under an old fingerprint',
    'partner_keys_frozen',
    `UPDATE partner_keys SET public_key = 'other'`,
  ],
  [
    'revives a retired key',
    'partner_keys_frozen',
    `UPDATE partner_keys SET retired_at = now(); UPDATE partner_keys SET retired_at = NULL`,
  ],
];

// Keeps R-DB-RULES.
describe('checkers in the database', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());

  it.each(WRONG)('%s refuses %s', async (rule, script) => {
    expect(await world.refusalOf(script)).toBe(rule);
  });

  it.each(BROKEN)('somebody %s: refused by %s', async (_attack, rule, script) => {
    expect(await world.refusalOf(script)).toBe(rule);
  });

  it('two publications of one family at once: the second waits for the first, and is the version after it', async () => {
    await world.inVain(async (first) => {
      await first.query(contract());
      const late = world.inVain(async (second) => {
        await second.query(`SET LOCAL lock_timeout = '200ms'`);
        return second.query(contract({ id: `'late'` })).then(
          () => 'published',
          (error: unknown) => (error instanceof Error ? error.message : ''),
        );
      });
      expect(await late).toContain('lock timeout');
    });
  });

  it.each([
    ['a further version', contract()],
    [
      'a corrected program',
      `UPDATE implementations SET state = 'NONCONFORMANT', report = '{}', ended_at = now() WHERE id = 'vim';
      ${implementation({ state: `'PENDING'`, ended_at: `NULL`, report: `NULL` })}`,
    ],
    [
      'another try after our own trouble',
      `UPDATE implementations SET state = 'FAILED', problem = 'x', ended_at = now() WHERE id = 'vim';
      UPDATE implementations SET state = 'PENDING', problem = NULL, ended_at = NULL WHERE id = 'vim'`,
    ],
    [
      'an end, and then its record',
      `${check(`state = 'REFUTED', ended_at = now(), ${facts('facts', { state: 'REFUTED' })}`)};
      ${check(`evaluation = '{}', attestation = '{}'`)}`,
    ],
    ['other bytes in a draft', `DELETE FROM problem_inputs WHERE problem_id = 'prb_draft'`],
  ])('%s is accepted', async (_what, script) => {
    expect(await world.refusalOf(script)).toBe('accepted');
  });
});
