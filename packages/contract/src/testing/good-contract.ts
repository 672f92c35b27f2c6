import { valueAt } from '../draft.ts';
import { pointerKeys } from '../pointer.ts';
import type { BaseFacts, OperatorSettings } from '../facts.ts';
import type { ContractInput } from '../schema.ts';

const SHA256 = '5'.repeat(64);

/** For tests: a contract that lint has nothing against, with or without the facts of `goodFacts`. */
export function goodContract(): ContractInput {
  return {
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
      setup: [{ command: 'npm ci --offline --ignore-scripts', timeoutSeconds: 120 }],
    },
    constraints: {
      protectedPaths: ['package.json', 'package-lock.json', '**/.npmrc', 'test/', 'check.js'],
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
        id: 'rejects',
        title: 'Every pinned input is rejected',
        type: 'exit_code',
        visibility: 'public',
        command: 'node check.js',
        timeoutSeconds: 60,
      },
      goodJudgeProbe(),
    ],
    verifierPackage: { sha256: SHA256 },
    submission: {
      policy: 'PUBLIC',
      privacy: 'PUBLIC_WITH_HIDDEN_VERIFIER',
      claim: 'none',
      closesAt: '2027-06-30T00:00:00.000Z',
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

export type CriterionInput = ContractInput['criteria'][number];

export function goodJudgeProbe(): CriterionInput {
  return {
    id: 'unchanged',
    title: 'Valid input still gives the same numbers',
    type: 'judge_probe',
    visibility: 'hidden',
    probe: { command: 'node "$KERVYXA_PROBE/probe.js"', outputs: ['out.json'] },
    judge: { command: 'node "$KERVYXA_VERIFIER_PACKAGE/judge.js" "$KERVYXA_PROBE_OUTPUT"' },
    timeoutSeconds: 60,
  };
}

/** For tests: an exit_code criterion, other fields as given. */
export function exitCode(command: string, id = 'extra'): CriterionInput {
  return {
    id,
    title: 'Extra',
    type: 'exit_code',
    visibility: 'public',
    command,
    timeoutSeconds: 60,
  };
}

/** For tests: a benchmark over the protected harness of `goodContract`, other fields as given. */
export function benchmark(
  metric: Partial<{ name: string; unit: string; threshold: number }> = {},
  command = 'node check.js',
): CriterionInput {
  return {
    id: 'measure',
    title: 'Small enough',
    type: 'benchmark',
    visibility: 'public',
    command,
    metric: { name: 'peak_heap', unit: 'bytes', op: 'lt', threshold: 60_000_000, ...metric },
    timeoutSeconds: 60,
  };
}

/** For tests: a file_assertion, by default behind a command that does nothing. */
export function fileAssertion(
  path: string,
  assertion: Extract<CriterionInput, { type: 'file_assertion' }>['assertion'],
  command = 'true',
): CriterionInput {
  return {
    id: 'file',
    title: 'A file',
    type: 'file_assertion',
    visibility: 'public',
    command,
    path,
    assertion,
    timeoutSeconds: 10,
  };
}

/** For tests: a checker criterion over the file that `goodContract` lets solvers edit, other fields as given. */
export function checker(
  fields: Partial<Omit<Extract<CriterionInput, { type: 'checker' }>, 'type'>> = {},
): CriterionInput {
  return {
    id: 'check',
    title: 'The checker is content',
    type: 'checker',
    visibility: 'hidden',
    checker: { sha256: SHA256 },
    stage: 'structure',
    artifacts: [{ role: 'module', path: 'parseNumbers.js' }],
    timeoutSeconds: 60,
    ...fields,
  };
}

/** For tests: the operator of a machine that has run its set-up. */
export const GOOD_SETTINGS: OperatorSettings = {
  allowedOrigins: [],
  catalogue: ['kervyxa-runtime/node:22', 'kervyxa-runtime/python:1'],
};

/** For tests: the base tree that `goodContract` speaks of, other facts as given. */
export function goodFacts(overrides: Partial<BaseFacts> = {}): BaseFacts {
  return {
    commit: 'a'.repeat(40),
    paths: [
      'check.js',
      'package-lock.json',
      'package.json',
      'parseNumbers.js',
      'test/parse.test.js',
    ],
    files: new Map([['package.json', '{"scripts": {"test": "node --test"}}']]),
    lfsPointers: [],
    ...overrides,
  };
}

/** One edit of a document: the value at a JSON Pointer, `REMOVE` to take it out. */
export type Edit = readonly [pointer: string, value: unknown];
export const REMOVE = Symbol('remove');

/** For tests: `goodContract` with edits that no type would let through. */
export function editedContract(edits: readonly Edit[]): unknown {
  const document: unknown = goodContract();
  for (const [pointer, value] of edits) {
    const keys = pointerKeys(pointer);
    const owner = valueAt(document, keys.slice(0, -1));
    const key = keys.at(-1);
    if (typeof owner !== 'object' || owner === null || key === undefined) {
      throw new TypeError(`expected an object above ${pointer}`);
    }
    if (value === REMOVE) Reflect.deleteProperty(owner, key);
    else Reflect.set(owner, key, value);
  }
  return document;
}
