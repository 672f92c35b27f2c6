import { AMOUNT_MINOR_MAX } from '@kervyxa/core';
import { describe, expect, it } from 'vitest';
import { planDeposit, planEscrowFunding } from '../ledger/plans.ts';
import { createFakeLedger } from './fake-ledger.ts';

const NOW = new Date('2026-01-01T00:00:00.000Z');
const currency = 'USD';
const deposit = (amountMinor: bigint) =>
  planDeposit({ principalId: 'prn_r', reference: 'wire-7', currency, amountMinor });

describe('the fake ledger', () => {
  it('records the same occasion once, and refuses other money for it', () => {
    const ledger = createFakeLedger();
    ledger.record([deposit(9n)], NOW);
    ledger.record([deposit(9n)], NOW);
    expect(ledger.transfers).toHaveLength(1);
    expect(() => ledger.record([deposit(8n)], NOW)).toThrow(
      expect.objectContaining({ code: 'SETTLEMENT_TRANSFER_CONFLICT' }),
    );
  });

  it('overdraws nobody, and then records none of what came with it', () => {
    const ledger = createFakeLedger();
    const reward = { contractId: 'con_1', requesterId: 'prn_r', currency, amountMinor: 10n };
    expect(() => ledger.record([deposit(9n), planEscrowFunding(reward)], NOW)).toThrow(
      expect.objectContaining({ code: 'SETTLEMENT_FUNDS_INSUFFICIENT' }),
    );
    expect(ledger.balances()).toEqual([]);
  });

  it('S08 takes no deposit that makes all of them more than 63 bits hold', () => {
    const ledger = createFakeLedger();
    ledger.record([deposit(AMOUNT_MINOR_MAX)], NOW);
    const more = { principalId: 'prn_s', reference: 'wire-8', currency, amountMinor: 1n };
    expect(() => ledger.record([planDeposit(more)], NOW)).toThrow(
      expect.objectContaining({ code: 'SETTLEMENT_LEDGER_FULL' }),
    );
    expect(ledger.transfers).toHaveLength(1);
    ledger.record([planDeposit({ ...more, currency: 'EUR' })], NOW);
  });
});
