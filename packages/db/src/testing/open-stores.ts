import { randomBytes } from 'node:crypto';
import { createIdSource, type IdSource } from '@kervyxa/core';
import { DEFAULT_POLICY, type SettlementPolicy } from '@kervyxa/settlement';
import { type CaseBench, type ContractTerms } from '@kervyxa/settlement/shared-suite';
import { type DatabaseParts, openParts, toDatabase } from '../open-database.ts';
import type { Call, Database } from '../ports.ts';
import { openCaseBench } from './open-case-bench.ts';
import { openTestDatabase, type TestDatabase } from './open-test-database.ts';

export const ANSWER = { status: 200, body: '{}' };
export const HOUR_MS = 3_600_000;
export const TERMS: Omit<ContractTerms, 'requesterId'> = {
  closesInMs: 24 * HOUR_MS,
  rewardMinor: 1_000n,
  feeBps: 250,
  bondMinor: 100n,
  challengeWindowMs: 2 * HOUR_MS,
  responseWindowMs: HOUR_MS,
};

/** All of a database as the apps see it, and what is under it. */
export interface Stores extends Database {
  readonly test: TestDatabase;
  readonly parts: DatabaseParts;
  readonly bench: CaseBench;
  readonly newId: IdSource;
  /** A contract that is OPEN, and its requester. */
  openContract(
    terms?: Partial<ContractTerms>,
  ): Promise<{ readonly contractId: string; readonly requesterId: string }>;
  /** A submission that was captured, and its run. */
  submitCaptured(
    contractId: string,
  ): Promise<{ readonly submissionId: string; readonly solverId: string; readonly runId: string }>;
}

export async function openStores(policy: Partial<SettlementPolicy> = {}): Promise<Stores> {
  const test = await openTestDatabase();
  const newId = createIdSource(randomBytes);
  const parts = await openParts(test.url, { policy: { ...DEFAULT_POLICY, ...policy }, newId });
  const bench = openCaseBench(parts);
  const database = toDatabase(parts);
  return {
    ...database,
    test,
    parts,
    bench,
    newId,
    openContract: async (terms = {}) => {
      const requesterId = await bench.addPrincipal();
      const all = { ...TERMS, requesterId, ...terms };
      await bench.deposit(all.requesterId, all.rewardMinor);
      const contractId = await bench.seedContract(all);
      await database.cases.execute(contractId, { kind: 'prove' });
      await database.cases.execute(contractId, { kind: 'fund' });
      return { contractId, requesterId: all.requesterId };
    },
    submitCaptured: async (contractId) => {
      const submissionId = newId('submission');
      const solverId = await bench.addPrincipal();
      await bench.submit(contractId, submissionId, solverId);
      await database.cases.execute(contractId, { kind: 'capture', submissionId });
      const { runs } = await bench.readCase(contractId);
      const run = runs.find((each) => each.submissionId === submissionId);
      if (run === undefined) throw new Error('expected a run of a captured submission, got none');
      return { submissionId, solverId, runId: run.id };
    },
    close: async () => {
      await database.close();
      await test.close();
    },
  };
}

/** A call with an Idempotency-Key, which names its input too where none is given. */
export function callOf(actorId: string, key: string | null = null, input = key): Call {
  const inputHash = Buffer.from(input ?? '')
    .toString('hex')
    .padEnd(64, '0');
  return { actorId, idempotency: key === null ? null : { key, inputHash } };
}
