import type { SealedVerdict } from '@kervyxa/core';
import { openStores, type Stores } from '@kervyxa/db/testing';

const PASS: SealedVerdict = {
  verdict: 'PASS',
  reason: null,
  resultDigest: `sha256:${'0'.repeat(64)}`,
};
/** Beyond every window and closing time of these contracts. */
export const LONG_MS = 48 * 3_600_000;

export type Policy = Parameters<typeof openStores>[0];

export interface DueContracts {
  readonly stores: Stores;
  /** A contract that holds 1,000 in escrow and was asked for by nobody; once `LONG_MS` have passed it expires. */
  openExpiring(): Promise<{ contractId: string; requesterId: string }>;
  /** A contract whose only submission has the pass; once `LONG_MS` have passed it is settled. */
  openPassed(): Promise<{ contractId: string; solverId: string; submissionId: string }>;
  stateOf(contractId: string): Promise<string>;
  /** Asks until the contract is in the state; the deadline is the test's. */
  reaches(contractId: string, state: string): Promise<void>;
  /** Kinds of the transfers about the contract, in order. */
  transfersOf(contractId: string): Promise<readonly string[]>;
  /** What a lease or a back-off puts off is due at once. */
  hurryPayouts(): Promise<void>;
  /** Throws where the ledger's chain is broken. */
  close(): Promise<void>;
}

/** A real database with contracts for which time brings something. */
export async function openDueContracts(policy: Policy = {}): Promise<DueContracts> {
  const stores = await openStores(policy);
  const stateOf = async (contractId: string): Promise<string> =>
    (await stores.bench.readCase(contractId)).contract.state;
  return {
    stores,
    openExpiring: () => stores.openContract(),
    openPassed: async () => {
      const { contractId } = await stores.openContract();
      const { submissionId, solverId, runId } = await stores.submitCaptured(contractId);
      await stores.cases.execute(contractId, { kind: 'start', runId });
      await stores.cases.execute(contractId, { kind: 'seal', runId, attempt: 1, verdict: PASS });
      return { contractId, solverId, submissionId };
    },
    stateOf,
    reaches: async (contractId, state) => {
      while ((await stateOf(contractId)) !== state) {
        await new Promise((later) => setTimeout(later, 20));
      }
    },
    transfersOf: async (contractId) => {
      const { items } = await stores.reads.listTransfers(null, { limit: 100, after: null });
      return items.filter((item) => item.contractId === contractId).map(({ kind }) => kind);
    },
    hurryPayouts: async () => {
      await stores.test.pool.query(
        `UPDATE payouts SET next_try_at = clock_timestamp() WHERE state = 'DUE'`,
      );
    },
    close: async () => {
      const problem = await stores.bench.checkLedger();
      await stores.close();
      if (problem !== null) throw new Error(problem);
    },
  };
}
