import type { IdKind, IdSource } from '@kervyxa/core';
import { ID_PREFIXES } from '@kervyxa/core';
import { createFakeCaseStore, type FakeCaseStore } from '../fake/index.ts';
import type { SettlementPolicy } from '../policy.ts';
import { type CaseBench, CURRENCY } from './case-bench.ts';

export interface FakeBench extends CaseBench {
  readonly store: FakeCaseStore;
}

export async function openFakeBench(policy: SettlementPolicy): Promise<FakeBench> {
  const newId = countingIds();
  const startsAt = new Date('2026-01-01T00:00:00.000Z');
  const store = createFakeCaseStore({ policy, newId, startsAt });
  let deposits = 0;
  return {
    store,
    newId,
    addPrincipal: async () => newId('principal'),
    deposit: async (principalId, amountMinor) => {
      deposits += 1;
      store.deposit({ principalId, amountMinor, currency: CURRENCY, reference: `in-${deposits}` });
    },
    seedContract: async ({ closesInMs, bondMinor, ...terms }) => {
      const id = newId('contract');
      store.addContract({
        ...terms,
        id,
        state: 'DRAFT',
        currency: CURRENCY,
        challengeBondMinor: bondMinor,
        closesAt: new Date(store.now().getTime() + closesInMs),
      });
      return id;
    },
    submit: (contractId, submissionId, solverId) =>
      store.execute(contractId, { kind: 'submit', submissionId, solverId }),
    elapse: async (ms) => store.elapse(ms),
    now: async () => store.now(),
    readCase: async (contractId) => store.readCase(contractId),
    trialBalance: async () => store.ledger.balances(),
    checkLedger: async () => store.ledger.check(),
    close: async () => {},
  };
}

/** `sub_1`, `run_2`, …: readable where a test fails. */
function countingIds(): IdSource {
  let count = 0;
  return (kind: IdKind) => {
    count += 1;
    return `${ID_PREFIXES[kind]}_${count}`;
  };
}
