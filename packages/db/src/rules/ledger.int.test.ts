import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld, type World } from '../testing/open-world.ts';
import { addTransfer } from '../testing/seed-world.ts';

// Keeps R-LEDGER-ZERO.
describe('the ledger', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());

  /** A transfer of that number after that hash, without postings. */
  const insertTransfer = (seq: string, prevHash: string, currency = 'USD') =>
    `INSERT INTO ledger_transfers (id, seq, kind, idempotency_key, input_hash, currency, prev_hash, hash, recorded_at)
     SELECT 't', ${seq}, 'deposit', 't', repeat('b', 64), '${currency}', ${prevHash}, repeat('b', 64), now()
     FROM ledger_head`;
  const insertPosting = (source: string, destination: string, amount = 1, transfer = 't') =>
    `INSERT INTO ledger_postings VALUES ('${transfer}', 0, '${source}', '${destination}', ${amount})`;
  const next = insertTransfer('seq + 1', 'hash');
  const REQUESTER = 'principal/req/USD';
  const SOLVER = 'principal/sol/USD';

  it.each([
    ['leaves out a number', insertTransfer('seq + 2', 'hash')],
    ['takes a number again', insertTransfer('seq', 'hash')],
    ['follows another than the last', insertTransfer('seq + 1', `repeat('0', 64)`)],
  ])('refuses a transfer that %s: the chain has one end', async (_, script) => {
    expect(await world.refusalOf(script)).toBe('ledger_transfers_chain');
  });

  it('refuses a transfer that moves nothing', async () => {
    expect(await world.refusalOf(next)).toBe('ledger_transfers_move');
  });

  it.each([
    ['no positive amount', 'ledger_postings_amount_range', insertPosting(REQUESTER, SOLVER, 0)],
    ['one account twice', 'ledger_postings_two_accounts', insertPosting(SOLVER, SOLVER)],
    [
      'an account of another currency',
      'ledger_postings_accounts',
      insertPosting(REQUESTER, 'principal/sol/EUR'),
    ],
    [
      'an account that nobody opened',
      'ledger_postings_destination_fkey',
      insertPosting(REQUESTER, 'principal/x/USD'),
    ],
    ['more than there is', 'ledger_accounts_no_overdraft', insertPosting(SOLVER, REQUESTER)],
    [
      'a number below zero',
      'ledger_postings_index_range',
      `INSERT INTO ledger_postings VALUES ('t', -1, '${REQUESTER}', '${SOLVER}', 1)`,
    ],
  ])('refuses a posting with %s', async (_, rule, posting) => {
    expect(await world.refusalOf(`${next}; ${posting}`)).toBe(rule);
  });

  it('refuses a posting that is added to a transfer after its transaction', async () => {
    const late = `INSERT INTO ledger_postings VALUES ('deposit', 1, '${REQUESTER}', '${SOLVER}', 1)`;
    expect(await world.refusalOf(late)).toBe('ledger_postings_late');
  });

  it.each([
    ['ledger_transfers_append_only', 'ledger_transfers'],
    ['ledger_postings_append_only', 'ledger_postings'],
    ['escrows_append_only', 'escrows'],
    ['escrow_resolutions_append_only', 'escrow_resolutions'],
    ['resolutions_append_only', 'resolutions'],
    ['events_append_only', 'events'],
  ])(
    '%s refuses to change, delete or empty %s, even where no row is found',
    async (rule, table) => {
      const { [table]: column = 'transfer_id' } = {
        ledger_transfers: 'kind',
        resolutions: 'statement',
        events: 'name',
      } as Record<string, string>;
      expect(await world.refusalOf(`UPDATE ${table} SET ${column} = '' WHERE false`)).toBe(rule);
      expect(await world.refusalOf(`DELETE FROM ${table} WHERE false`)).toBe(rule);
      expect(await world.refusalOf(`TRUNCATE ${table} CASCADE`)).toBe(rule);
    },
  );

  it.each([
    [
      'ledger_accounts_moves',
      `UPDATE ledger_accounts SET balance_minor = 1000000 WHERE name = '${SOLVER}'`,
    ],
    [
      'ledger_accounts_moves',
      `UPDATE ledger_accounts SET may_overdraw = true WHERE name = '${SOLVER}'`,
    ],
    [
      'ledger_accounts_begin_empty',
      `INSERT INTO ledger_accounts VALUES ('principal/x/USD', 'USD', 5, false)`,
    ],
    ['ledger_accounts_kept', 'TRUNCATE ledger_accounts CASCADE'],
    ['ledger_head_moves', `UPDATE ledger_head SET seq = 0, hash = repeat('0', 64)`],
    ['ledger_head_kept', 'DELETE FROM ledger_head'],
    ['ledger_head_single', `INSERT INTO ledger_head VALUES (2, 0, repeat('0', 64))`],
    ['ledger_head_hash_form', `INSERT INTO ledger_head VALUES (1, 0, 'x')`],
  ])('%s refuses money or history by hand: %s', async (rule, script) => {
    expect(await world.refusalOf(script)).toBe(rule);
  });

  it('moves both balances and the head with a right transfer, several postings on one account included', async () => {
    const balances = await world.inVain(async (sql) => {
      await addTransfer(sql, 'split', [
        ['outside/deposits/USD', REQUESTER, 10],
        [REQUESTER, SOLVER, 7],
        [REQUESTER, SOLVER, 2],
      ]);
      await sql.query('SET CONSTRAINTS ALL IMMEDIATE');
      const { rows } = await sql.query(
        `SELECT name, balance_minor AS balance FROM ledger_accounts WHERE currency = 'USD' ORDER BY name`,
      );
      return rows;
    });
    expect(balances).toEqual([
      { name: 'escrow/con_open', balance: '100' },
      { name: 'escrow/con_over', balance: '100' },
      { name: 'escrow/con_won', balance: '100' },
      { name: 'outside/deposits/USD', balance: '-1010' },
      { name: REQUESTER, balance: '701' },
      { name: SOLVER, balance: '9' },
    ]);
  });
});
