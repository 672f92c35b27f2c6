import type { ContractInput } from '@kervyxa/contract';
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

/** A contract that approval has nothing against. */
export function benchContract(title: string): ContractInput {
  return {
    schemaVersion: 'kervyxa.contract.v1',
    title,
    kind: 'bug_fix',
    objective: 'hello.sh prints hello and exits with status 0.',
    repository: { url: 'https://git.example.org/hello.git', baseCommit: BASE },
    environment: {
      image: BENCH_RUNTIME,
      memoryMB: 256,
      cpuCount: 1,
      pidsLimit: 64,
      workspaceMB: 16,
      outputKB: 64,
    },
    constraints: { protectedPaths: ['check.sh'], maxChangedFiles: 2, allowedLanguages: ['shell'] },
    criteria: [
      {
        id: 'says-hello',
        title: 'The script says hello',
        type: 'regression',
        visibility: 'public',
        command: 'sh check.sh',
        timeoutSeconds: 20,
      },
    ],
    submission: {
      policy: 'PUBLIC',
      privacy: 'PUBLIC',
      claim: 'none',
      closesAt: '2999-01-01T00:00:00Z',
    },
    settlement: {
      rule: 'FIRST_VERIFIED_PASS',
      reward: { amountMinor: '50000', currency: 'USD' },
      feeBps: 250,
      challengeWindowSeconds: 86_400,
      challengeBondMinor: '5000',
      responseWindowSeconds: 3_600,
    },
  };
}
