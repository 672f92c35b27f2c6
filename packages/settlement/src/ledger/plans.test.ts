import { AMOUNT_MINOR_MAX } from '@kervyxa/core';
import { assert, bigInt, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertTransfer } from './check-transfer.ts';
import {
  feeOf,
  planBond,
  planBondForfeit,
  planBondReturn,
  planDeposit,
  planEscrowFunding,
  planPayout,
  planPayoutConfirmed,
  planRefund,
} from './plans.ts';
import type { PlannedTransfer } from './transfer.ts';

const currency = 'USD';
const contract = { contractId: 'con_1', requesterId: 'prn_r', currency };
const challenge = { challengeId: 'chl_1', challengerId: 'prn_c', currency };

const ends = ({ postings }: PlannedTransfer): [string, string, bigint][] =>
  postings.map(({ source, destination, amountMinor }) => [source, destination, amountMinor]);

describe('a planned transfer', () => {
  it.each<[PlannedTransfer, string, [string, string, bigint][]]>([
    [
      planDeposit({ principalId: 'prn_r', reference: 'wire-7', currency, amountMinor: 9n }),
      'deposit/wire-7',
      [['outside/deposits/USD', 'principal/prn_r/USD', 9n]],
    ],
    [
      planEscrowFunding({ ...contract, amountMinor: 9n }),
      'contract/con_1/escrow',
      [['principal/prn_r/USD', 'escrow/con_1', 9n]],
    ],
    [
      planRefund({ ...contract, amountMinor: 9n }),
      'contract/con_1/resolution',
      [['escrow/con_1', 'principal/prn_r/USD', 9n]],
    ],
    [
      planPayout({ ...contract, amountMinor: 1_001n, feeBps: 250, to: { solverId: 'prn_s' } }),
      'contract/con_1/resolution',
      [
        ['escrow/con_1', 'principal/prn_s/USD', 976n],
        ['escrow/con_1', 'treasury/USD', 25n],
      ],
    ],
    [
      planPayout({ ...contract, amountMinor: 39n, feeBps: 250, to: { payoutId: 'pay_1' } }),
      'contract/con_1/resolution',
      [['escrow/con_1', 'payable/pay_1', 39n]],
    ],
    [
      planPayoutConfirmed({ payoutId: 'pay_1', currency, amountMinor: 9n }),
      'payout/pay_1/confirmed',
      [['payable/pay_1', 'outside/payouts/USD', 9n]],
    ],
    [
      planBond({ ...challenge, amountMinor: 9n }),
      'challenge/chl_1/bond',
      [['principal/prn_c/USD', 'bond/chl_1', 9n]],
    ],
    [
      planBondReturn({ ...challenge, amountMinor: 9n }),
      'challenge/chl_1/resolution',
      [['bond/chl_1', 'principal/prn_c/USD', 9n]],
    ],
    [
      planBondForfeit({ challengeId: 'chl_1', solverId: 'prn_s', currency, amountMinor: 9n }),
      'challenge/chl_1/resolution',
      [
        ['bond/chl_1', 'principal/prn_s/USD', 4n],
        ['bond/chl_1', 'treasury/USD', 5n],
      ],
    ],
    [
      planBondForfeit({ challengeId: 'chl_1', solverId: 'prn_s', currency, amountMinor: 1n }),
      'challenge/chl_1/resolution',
      [['bond/chl_1', 'treasury/USD', 1n]],
    ],
  ])('%# has one key for its occasion and says where each unit goes', (transfer, key, expected) => {
    expect(transfer.idempotencyKey).toBe(key);
    expect(ends(transfer)).toEqual(expected);
  });

  it('divides a reward without losing or making a unit, whatever the fee', () => {
    assert(
      property(
        bigInt({ min: 1n, max: AMOUNT_MINOR_MAX }),
        integer({ min: 0, max: 5_000 }),
        (amountMinor, feeBps) => {
          const to = { solverId: 'prn_s' };
          const { postings } = planPayout({ ...contract, amountMinor, feeBps, to });
          const sum = postings.reduce((total, posting) => total + posting.amountMinor, 0n);
          expect(sum).toBe(amountMinor);
          expect(feeOf(amountMinor, feeBps) * 10_000n).toBeLessThanOrEqual(
            amountMinor * BigInt(feeBps),
          );
        },
      ),
    );
  });

  it('is never one of nothing', () => {
    expect(() => planBond({ ...challenge, amountMinor: 0n })).toThrow(
      expect.objectContaining({ code: 'SETTLEMENT_TRANSFER_INVALID' }),
    );
  });
});

describe('the check of a transfer', () => {
  const good = planDeposit({ principalId: 'prn_r', reference: 'x', currency, amountMinor: 9n });
  const posting = good.postings[0];
  it.each<[string, PlannedTransfer]>([
    ['an amount of zero', { ...good, postings: [{ ...posting, amountMinor: 0n }] }],
    ['an amount below zero', { ...good, postings: [{ ...posting, amountMinor: -9n }] }],
    [
      'S08 more than 63 bits',
      { ...good, postings: [{ ...posting, amountMinor: AMOUNT_MINOR_MAX + 1n }] },
    ],
    [
      'a transfer to itself',
      { ...good, postings: [posting, { ...posting, destination: posting.source }] },
    ],
    ['an account without a name', { ...good, postings: [{ ...posting, source: '' }] }],
    ['no key', { ...good, idempotencyKey: '' }],
    ['no currency', { ...good, currency: 'us' }],
  ])('refuses %s', (_, transfer) => {
    expect(() => assertTransfer(transfer)).toThrow(
      expect.objectContaining({ code: 'SETTLEMENT_TRANSFER_INVALID' }),
    );
  });

  it('takes the largest amount that 63 bits hold', () => {
    const postings = [{ ...posting, amountMinor: AMOUNT_MINOR_MAX }] as const;
    expect(() => assertTransfer({ ...good, postings })).not.toThrow();
  });
});
