import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECK_STATES, ProblemCaseSchema } from '@kervyxa/checker';
import {
  CHALLENGE_KINDS,
  CHALLENGE_STATES,
  CHALLENGE_TRANSITIONS,
  CONTRACT_STATES,
  CONTRACT_TRANSITIONS,
  RUN_PURPOSES,
  RUN_STATES,
  RUN_TRANSITIONS,
  SUBMISSION_STATES,
  SUBMISSION_TRANSITIONS,
} from '@kervyxa/settlement';
import type { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AUDIT_KINDS } from '../audit/chain.ts';
import { IMPLEMENTATION_STATES } from '../checker-rows.ts';
import { ROLES } from '../ports.ts';
import { openTestDatabase, type TestDatabase } from '../testing/index.ts';

// Keeps R-DB-RULES.
describe('the rules of the database', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());

  it.each([
    ['contracts_state_known', CONTRACT_STATES],
    ['submissions_state_known', SUBMISSION_STATES],
    ['runs_state_known', RUN_STATES],
    ['runs_purpose_known', RUN_PURPOSES],
    ['challenges_kind_known', CHALLENGE_KINDS],
    ['resolutions_decision_known', CHALLENGE_KINDS],
    ['challenges_state_known', CHALLENGE_STATES],
    ['principals_roles_known', ROLES],
    ['implementations_state_known', IMPLEMENTATION_STATES],
    ['problems_state_known', ProblemCaseSchema.shape.state.options],
    ['checks_state_known', CHECK_STATES],
    ['audit_log_kind_known', AUDIT_KINDS],
  ])('know the same values as the program: %s', async (constraint, values) => {
    const { rows } = await database.pool.query<{ definition: string }>(
      'SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE conname = $1',
      [constraint],
    );
    const known = [...(rows[0]?.definition ?? '').matchAll(/'([^']*)'/g)].map(([, value]) => value);
    expect(known.toSorted()).toEqual(values.toSorted());
  });

  it.each([
    ['contracts_moves', CONTRACT_TRANSITIONS],
    ['submissions_moves', SUBMISSION_TRANSITIONS],
    ['runs_moves', RUN_TRANSITIONS],
    ['challenges_moves', CHALLENGE_TRANSITIONS],
  ])('allow the same moves as the program: %s', async (trigger, transitions) => {
    const { rows } = await database.pool.query<{ moves: string[] }>(
      `SELECT string_to_array(encode(tgargs, 'escape'), '\\000') AS moves FROM pg_trigger WHERE tgname = $1`,
      [trigger],
    );
    const moves = Object.entries<readonly string[]>(transitions).flatMap(([from, states]) =>
      // To stay in a state is no move.
      states.filter((to) => to !== from).map((to) => `${from}>${to}`),
    );
    expect(rows[0]?.moves.filter((move) => move !== '').toSorted()).toEqual(moves.toSorted());
  });

  it('keep every id a foreign key: it names a row that is there', async () => {
    // A worker may be forgotten while its attempts are kept; a criterion is in the contract's document.
    const { rows } = await database.pool.query(`
      SELECT c.table_name || '.' || c.column_name AS name FROM information_schema.columns c
      WHERE c.table_schema = 'public' AND (c.column_name LIKE '%\\_id' OR c.column_name LIKE '%\\_blob')
        AND NOT EXISTS (
          SELECT FROM pg_constraint f JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = ANY (f.conkey)
          WHERE f.contype = 'f' AND f.conrelid = c.table_name::regclass AND a.attname = c.column_name
        ) ORDER BY name`);
    expect(rows).toEqual([
      { name: 'attempts.worker_id' },
      { name: 'criterion_results.criterion_id' },
    ]);
  });

  it('write the transaction of an event into it, for readers that must not miss one', async () => {
    const { rows } = await database.pool.query(
      `INSERT INTO events (name, audience, data) VALUES ('x', 'PUBLIC', '{}')
       RETURNING xid = pg_current_xact_id()::text::bigint AS "isOwn"`,
    );
    expect(rows).toEqual([{ isOwn: true }]);
  });

  it('are each broken by a test', async () => {
    const tests = readdirSync(import.meta.dirname)
      .filter((name) => name.endsWith('.int.test.ts'))
      .map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'))
      .join('\n');
    const untested = (await listRules(database.pool)).filter((rule) => !tests.includes(rule));
    expect(untested).toEqual([]);
  });
});

/** These refuse under several other names. */
const NAMELESS = ['challenges_belong', 'ledger_postings_balances', 'run_evidence_belongs'];

/** CHECK constraints, unique indexes with a condition, and triggers of ours. */
async function listRules(pool: Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>(`
    SELECT conname AS name FROM pg_constraint WHERE contype = 'c' AND connamespace = 'public'::regnamespace
    UNION
    SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class c ON c.oid = indrelid
      WHERE indisunique AND indpred IS NOT NULL AND c.relnamespace = 'public'::regnamespace
    UNION
    SELECT tgname FROM pg_trigger WHERE NOT tgisinternal`);
  return rows.map(({ name }) => name).filter((name) => !NAMELESS.includes(name));
}
