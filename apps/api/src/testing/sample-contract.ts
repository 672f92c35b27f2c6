import { ContractSchema, type Contract } from '@kervyxa/contract';

/** For tests: what a hidden criterion must never be told by. */
export const SECRET = 'SECRET-judge';

/** For tests: a contract with a public and a hidden criterion; a title makes it another one. */
export function sampleContract(overrides: Record<string, unknown> = {}): Contract {
  return ContractSchema.parse({
    schemaVersion: 'kervyxa.contract.v1',
    title: 'Reject invalid entries in parseNumbers',
    kind: 'bug_fix',
    objective:
      'parseNumbers(input) must throw TypeError for each of "12,abc", "1,,2" and "x". Valid input gives what it gave.',
    repository: {
      url: 'https://git.example.org/fixtures/parse-numbers.git',
      baseCommit: 'a'.repeat(40),
    },
    environment: {
      image: 'kervyxa-runtime/node:22',
      memoryMB: 512,
      cpuCount: 1,
      pidsLimit: 128,
      workspaceMB: 128,
      outputKB: 1024,
    },
    constraints: {
      protectedPaths: ['package.json', '**/.npmrc', 'test/', 'check.js'],
      maxChangedFiles: 2,
      allowedLanguages: ['javascript'],
    },
    criteria: [
      {
        id: 'tests-pass',
        title: 'The existing suite passes',
        type: 'exit_code',
        visibility: 'public',
        command: 'npm test',
        timeoutSeconds: 60,
      },
      {
        id: 'unchanged',
        title: 'Valid input still gives the same numbers',
        type: 'judge_probe',
        visibility: 'hidden',
        probe: { command: 'node "$KERVYXA_PROBE/probe.js"', outputs: ['out.json'] },
        judge: { command: `node "$KERVYXA_VERIFIER_PACKAGE/${SECRET}.js" "$KERVYXA_PROBE_OUTPUT"` },
        timeoutSeconds: 60,
      },
    ],
    submission: {
      policy: 'PUBLIC',
      privacy: 'PUBLIC_WITH_HIDDEN_VERIFIER',
      claim: 'trailer',
      closesAt: '2999-01-01T00:00:00.000Z',
    },
    settlement: {
      rule: 'FIRST_VERIFIED_PASS',
      reward: { amountMinor: '50000', currency: 'USD' },
      feeBps: 250,
      challengeWindowSeconds: 86_400,
      challengeBondMinor: '5000',
      responseWindowSeconds: 3_600,
    },
    proof: [{ commit: 'd'.repeat(40), expected: 'PASS' }],
    ...overrides,
  });
}
