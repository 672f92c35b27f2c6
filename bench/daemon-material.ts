import type { ContractInput } from '@kervyxa/contract';
import { helloContract } from '@kervyxa/contract/testing';
import { fakeCommitId, type FakeCommit } from '@kervyxa/intake/fake';

export const BENCH_RUNTIME = 'kervyxa-runtime/node:22';
const BASE = fakeCommitId('base');
/** A commit that fails, so that its contract stays open for the next. */
export const BENCH_COMMIT = fakeCommitId('submitted');

export const BENCH_COMMITS: Readonly<Record<string, FakeCommit>> = {
  [BASE]: { tree: { 'check.sh': 'sh hello.sh\n', 'hello.sh': 'echo bye\n' } },
  [BENCH_COMMIT]: {
    tree: { 'check.sh': 'sh hello.sh\n', 'hello.sh': 'echo hello\n' },
    parents: [BASE],
  },
};

export function benchContract(title: string): ContractInput {
  return { ...helloContract(BASE), title };
}
