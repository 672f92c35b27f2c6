import type { ContractInput } from '../schema.ts';

/** For tests and benches: a small contract that approval has nothing against; hello.sh must print hello. */
export function helloContract(baseCommit: string): ContractInput {
  return {
    schemaVersion: 'kervyxa.contract.v1',
    title: 'Say hello',
    kind: 'bug_fix',
    objective: 'hello.sh prints hello and exits with status 0.',
    repository: { url: 'https://git.example.org/hello.git', baseCommit },
    environment: {
      image: 'kervyxa-runtime/node:22',
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

/** For tests and benches: the same, with what proving wants; `sh check.sh runs` must pass at the base too. */
export function provableHelloContract(
  baseCommit: string,
  { good, bad }: { readonly good: string; readonly bad: string },
): ContractInput {
  return {
    ...helloContract(baseCommit),
    criteria: [
      {
        id: 'says-hello',
        title: 'The script says hello',
        type: 'exit_code',
        visibility: 'public',
        command: 'sh check.sh',
        timeoutSeconds: 20,
      },
      {
        id: 'still-runs',
        title: 'The script still runs',
        type: 'regression',
        visibility: 'public',
        command: 'sh check.sh runs',
        timeoutSeconds: 20,
      },
    ],
    proof: [
      { commit: good, expected: 'PASS' },
      { commit: bad, expected: 'FAIL', failing: 'says-hello' },
    ],
  };
}
