import { randomBytes } from 'node:crypto';
import { createIdSource } from '@kervyxa/core';
import { openDatabase } from '@kervyxa/db';
import { available, DEFAULT_POLICY } from '@kervyxa/settlement';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LONG_MS, openDueContracts, type DueContracts } from '../testing/due-contracts.ts';
import { recordingLog } from '../testing/recording-log.ts';
import { advanceDue } from './advance-due.ts';
import { startScheduler } from './scheduler.ts';

const { signal } = new AbortController();
let due: DueContracts;
beforeEach(async () => {
  due = await openDueContracts();
});
afterEach(() => due.close());

// Keeps R-SCHEDULE-HARMLESS.
describe('the scheduler', () => {
  it('S03 two settlers tick at the same time: each contract is settled or refunded once', async () => {
    const { stores } = due;
    const passed = await due.openPassed();
    const expiring = await due.openExpiring();
    await stores.bench.elapse(LONG_MS);
    const newId = createIdSource(randomBytes);
    const other = await openDatabase(stores.test.url, { policy: DEFAULT_POLICY, newId });
    const log = recordingLog();
    const schedulers = [stores, other].map((database) =>
      startScheduler({ database, rail: null, log }),
    );
    await due.reaches(passed.contractId, 'SETTLED');
    await due.reaches(expiring.contractId, 'EXPIRED');
    await Promise.all(schedulers.map((each) => each.stop()));
    await other.close();
    expect(await due.transfersOf(passed.contractId)).toEqual(['escrow_funded', 'payout']);
    expect(await due.transfersOf(expiring.contractId)).toEqual([
      'escrow_funded',
      'escrow_refunded',
    ]);
    const balances = await stores.reads.balances(expiring.requesterId);
    expect(balances.get('USD')).toBe(1_000n);
    expect(log.lines.filter((line) => !line.startsWith('info'))).toEqual([]);
  });

  it('ticks early, and again: nothing is paid before the window has closed, and nothing twice', async () => {
    const { stores } = due;
    const { contractId, solverId } = await due.openPassed();
    const tick = () => advanceDue(stores.cases, { log: recordingLog(), signal });
    await Promise.all([tick(), tick(), tick()]);
    expect(await due.stateOf(contractId)).toBe('IN_CHALLENGE');
    await stores.bench.elapse(LONG_MS);
    await Promise.all([tick(), tick(), tick()]);
    expect(await due.stateOf(contractId)).toBe('SETTLED');
    const account = (await stores.bench.trialBalance()).find(
      (each) => each.account === available(solverId, 'USD'),
    );
    // 1,000 less 2.5 %.
    expect(account?.balanceMinor).toBe(975n);
  });

  it('has a contract that can’t be advanced: it holds up no other', async () => {
    const { stores } = due;
    const broken = await due.openExpiring();
    const well = await due.openExpiring();
    await stores.bench.elapse(LONG_MS);
    const log = recordingLog();
    const cases: typeof stores.cases = {
      ...stores.cases,
      execute: async (contractId, command) => {
        if (contractId === broken.contractId) throw new Error('no');
        return stores.cases.execute(contractId, command);
      },
    };
    await advanceDue(cases, { log, signal });
    expect(await due.stateOf(well.contractId)).toBe('EXPIRED');
    expect(log.lines).toContain('error: a contract could not be advanced');
  });
});
