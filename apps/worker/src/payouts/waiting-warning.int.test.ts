import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startScheduler } from '../scheduler/scheduler.ts';
import { LONG_MS, openDueContracts, type DueContracts } from '../testing/due-contracts.ts';
import { recordingLog } from '../testing/recording-log.ts';
import { createWaitingWarning } from './waiting-warning.ts';

const WARNING = 'warn: payouts wait for KERVYXA_PAYOUT_URL';

let due: DueContracts;
let log: ReturnType<typeof recordingLog>;
beforeEach(async () => {
  due = await openDueContracts({ rail: 'webhook' });
  log = recordingLog();
});
afterEach(() => due.close());

async function owe(): Promise<void> {
  const { contractId } = await due.openPassed();
  await due.stores.bench.elapse(LONG_MS);
  await due.stores.cases.execute(contractId, { kind: 'advance' });
}

describe('payouts that are due where there is no rail', () => {
  it('are told of once, and again when there are more or fewer, but not when there are none', async () => {
    const { payouts } = due.stores;
    const tick = createWaitingWarning(payouts, log);
    await tick();
    expect(log.lines).toEqual([]);
    await owe();
    await tick();
    await tick();
    expect(log.lines).toEqual([WARNING]);
    await owe();
    await tick();
    await tick();
    expect(log.lines).toEqual([WARNING, WARNING]);
    const [one, other] = await payouts.takeDue(2, LONG_MS);
    await payouts.confirm(one?.id ?? '');
    await tick();
    await tick();
    expect(log.lines).toEqual([WARNING, WARNING, WARNING]);
    await payouts.confirm(other?.id ?? '');
    await tick();
    expect(log.lines).toHaveLength(3);
  });

  it('are left alone by the scheduler: whoever has a rail finds them at once', async () => {
    await owe();
    const { payouts } = due.stores;
    const told = Promise.withResolvers<void>();
    const listening = { ...log, warn: () => told.resolve() };
    const scheduler = startScheduler({ database: due.stores, rail: null, log: listening });
    await told.promise;
    await scheduler.stop();
    expect(await payouts.takeDue(2, LONG_MS)).toMatchObject([{ tries: 0 }]);
  });
});
