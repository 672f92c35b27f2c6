import { describe, expect, it } from 'vitest';
import { toBalances } from './balances.ts';
import { CHAIN_START, checkChain, inputHashOf, linkTransfer } from './chain.ts';
import { planDeposit, planEscrowFunding, planRefund } from './plans.ts';
import type { RecordedTransfer } from './transfer.ts';

const currency = 'USD';
const reward = { contractId: 'con_1', requesterId: 'prn_r', currency, amountMinor: 40n };
const PLANS = [
  planDeposit({ principalId: 'prn_r', reference: 'wire-7', currency, amountMinor: 100n }),
  planEscrowFunding(reward),
  planRefund(reward),
] as const;

const CHAIN: readonly RecordedTransfer[] = PLANS.reduce<readonly RecordedTransfer[]>(
  (links, planned, index) => [
    ...links,
    linkTransfer(links.at(-1) ?? CHAIN_START, planned, {
      id: `tfr_${index}`,
      recordedAt: new Date(Date.UTC(2026, 0, 1 + index)),
    }),
  ],
  [],
);

/** The chain with one link changed. */
const tamper = (index: number, change: Partial<RecordedTransfer>): RecordedTransfer[] =>
  CHAIN.map((link, at) => (at === index ? { ...link, ...change } : link));

// Keeps R-LEDGER-ZERO.
describe('a chain of transfers', () => {
  it('holds, counts without a gap, and can be walked page by page', () => {
    expect(CHAIN.map(({ seq }) => seq)).toEqual([1n, 2n, 3n]);
    expect(CHAIN[0]?.prevHash).toBe('0'.repeat(64));
    const whole = checkChain(CHAIN);
    expect(whole.problem).toBeNull();
    const first = checkChain(CHAIN.slice(0, 2));
    expect(checkChain(CHAIN.slice(2), first.head)).toEqual(whole);
  });

  const posting = PLANS[1].postings[0];
  it.each<[string, readonly RecordedTransfer[], string]>([
    [
      'an amount was changed',
      tamper(1, { postings: [{ ...posting, amountMinor: 41n }] }),
      'its postings were changed',
    ],
    [
      'an account was changed, with a hash that fits',
      tamper(1, {
        postings: [{ ...posting, destination: 'principal/prn_x/USD' }],
        inputHash: inputHashOf({
          ...PLANS[1],
          postings: [{ ...posting, destination: 'principal/prn_x/USD' }],
        }),
      }),
      'its record was changed',
    ],
    ['its time was changed', tamper(1, { recordedAt: new Date(0) }), 'its record was changed'],
    ['its id was changed', tamper(0, { id: 'tfr_x' }), 'its record was changed'],
    ['a link is missing', CHAIN.filter((_, at) => at !== 1), 'expected number 2, got 3'],
    ['the first is missing', CHAIN.slice(1), 'expected number 1, got 2'],
    ['a link was put twice', [...CHAIN, ...CHAIN.slice(2)], 'expected number 4, got 3'],
    [
      'a link was replaced and all hashes of it made new',
      [
        linkTransfer(
          CHAIN_START,
          { ...PLANS[0], idempotencyKey: 'deposit/other' },
          {
            id: 'tfr_0',
            recordedAt: new Date(Date.UTC(2026, 0, 1)),
          },
        ),
        ...CHAIN.slice(1),
      ],
      'does not follow',
    ],
  ])('tells that %s', (_, links, problem) => {
    expect(checkChain(links).problem).toContain(problem);
  });

  it('refuses a link that no ledger may record', () => {
    const nothing = [{ ...posting, amountMinor: 0n }] as const;
    const link = { id: 'tfr_x', recordedAt: new Date(0) };
    expect(() => linkTransfer(CHAIN_START, { ...PLANS[1], postings: nothing }, link)).toThrow(
      expect.objectContaining({ code: 'SETTLEMENT_TRANSFER_INVALID' }),
    );
  });

  it('replayed gives the balances, which add up to zero', () => {
    expect(toBalances(CHAIN.slice(0, 2))).toEqual([
      { account: 'escrow/con_1', currency, balanceMinor: 40n },
      { account: 'outside/deposits/USD', currency, balanceMinor: -100n },
      { account: 'principal/prn_r/USD', currency, balanceMinor: 60n },
    ]);
    const sum = toBalances(CHAIN).reduce((total, { balanceMinor }) => total + balanceMinor, 0n);
    expect(sum).toBe(0n);
  });
});

describe('the hash of what is recorded for a key', () => {
  it('is another for another kind, currency, account or amount', () => {
    const [, plan] = PLANS;
    const [first] = plan.postings;
    const others = [
      plan,
      { ...plan, kind: 'payout' as const },
      { ...plan, currency: 'EUR' },
      { ...plan, postings: [{ ...first, source: 'principal/prn_x/USD' }] as const },
      { ...plan, postings: [{ ...first, amountMinor: 41n }] as const },
      { ...plan, postings: [first, first] as const },
    ];
    expect(new Set(others.map(inputHashOf)).size).toBe(others.length);
  });
});
