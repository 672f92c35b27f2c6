import { type Contract, type ContractInput, parseContract } from '@kervyxa/contract';

type Overrides = {
  readonly [Key in keyof ContractInput]?: ContractInput[Key] extends readonly unknown[] | undefined
    ? ContractInput[Key]
    : Partial<ContractInput[Key]>;
};

/** A small valid contract with some parts replaced, for tests of what comes after approval. */
export function contractWith(overrides: Overrides): Contract {
  const { environment, constraints, submission, ...others } = overrides;
  return parseContract({
    schemaVersion: 'kervyxa.contract.v1',
    title: 'Reject invalid entries',
    kind: 'bug_fix',
    objective: 'parse(input) must throw TypeError for "x".',
    repository: { url: 'https://git.kervyxa.example/parse.git', baseCommit: 'b'.repeat(40) },
    environment: {
      image: 'kervyxa-runtime/node:22',
      memoryMB: 256,
      cpuCount: 1,
      pidsLimit: 128,
      workspaceMB: 64,
      outputKB: 256,
      ...environment,
    },
    constraints: { protectedPaths: [], maxChangedFiles: 2, allowedLanguages: [], ...constraints },
    criteria: [criterion('tests')],
    submission: {
      policy: 'PUBLIC',
      privacy: 'PUBLIC',
      claim: 'none',
      closesAt: '2027-06-30T00:00:00.000Z',
      ...submission,
    },
    settlement: {
      rule: 'FIRST_VERIFIED_PASS',
      reward: { amountMinor: '50000', currency: 'USD' },
      feeBps: 250,
      challengeWindowSeconds: 86_400,
      challengeBondMinor: '5000',
      responseWindowSeconds: 3_600,
    },
    ...others,
  });
}

type CriterionInput = ContractInput['criteria'][number];

/** An exit_code criterion whose command is its id, with some parts replaced. */
export function criterion(id: string, overrides: Record<string, unknown> = {}): CriterionInput {
  const plain = { id, title: `Criterion ${id}`, type: 'exit_code', visibility: 'public' };
  return { ...plain, command: id, timeoutSeconds: 10, ...overrides } as CriterionInput; // The parser is the judge.
}

/** A checker criterion of the package with that digest over `out/answer.txt`, with some parts replaced. */
export function checkerCriterion(
  id: string,
  sha256: string,
  overrides: Record<string, unknown> = {},
): CriterionInput {
  return {
    id,
    title: `Criterion ${id}`,
    type: 'checker',
    visibility: 'public',
    checker: { sha256 },
    stage: 'answer',
    artifacts: [{ role: 'answer', path: 'out/answer.txt' }],
    timeoutSeconds: 60,
    ...overrides,
  } as CriterionInput; // The parser is the judge.
}
