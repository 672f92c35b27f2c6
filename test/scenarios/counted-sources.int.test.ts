import { availableParallelism } from 'node:os';
import { contractDigest } from '@kervyxa/contract';
import { sha256Hex, systemClock } from '@kervyxa/core';
import { createFakeIntake, fakeCommitId } from '@kervyxa/intake/fake';
import { createDockerSandbox } from '@kervyxa/sandbox/docker';
import { ensureReady } from '@kervyxa/setup';
import { type CriterionResult, type VerifierDeps, verifyCommit } from '@kervyxa/verifier';
import { beforeAll, describe, expect, it } from 'vitest';
import { contractWith, criterion } from '../../packages/verifier/src/testing/contract.ts';

// The harnesses of the runtime images, asked by the verifier as it asks them for every contract.

const ANSWER = '499500\n';
const [base, head] = [fakeCommitId('base'), fakeCommitId('head')];
let machine: Pick<VerifierDeps, 'sandbox' | 'runtimes'>;

beforeAll(async () => {
  const { dockerHost, runtimes: bound } = await ensureReady();
  const runtimes = new Map([...bound].map(([name, { imageId }]) => [name, imageId]));
  const toolsImage = runtimes.get('kervyxa-runtime/python:1') ?? '';
  machine = { runtimes, sandbox: createDockerSandbox({ dockerHost, toolsImage }) };
});

interface Language {
  readonly image: string;
  readonly source: string;
  readonly file: string;
  /** The command without its arguments. */
  readonly command: string;
  /** Prints the sum of 0 … N − 1, by adding; N is the argument. */
  readonly sum: string;
  /** The same by a formula. */
  readonly formula: string;
  readonly silent: string;
  readonly failing: string;
  /** Adds nothing up, and says that it did. */
  readonly forging: string;
}

const FORGED = `KERVYXA_COUNT={"count":1,"stdoutSha256":"${sha256Hex(ANSWER)}","exitCode":0,"signal":null}`;

const NODE: Language = {
  image: 'kervyxa-runtime/node:22',
  source: 'node_block_count',
  file: 'sum.js',
  command: 'node sum.js',
  sum: `let sum = 0;\nfor (let i = 0; i < Number(process.argv[2]); i += 1) sum += i;\nconsole.log(sum);\n`,
  formula: `const n = Number(process.argv[2]);\nconsole.log((n * (n - 1)) / 2);\n`,
  silent: `process.exit(0);\n`,
  failing: `console.log(499500);\nprocess.exit(1);\n`,
  forging: `console.log(${JSON.stringify(FORGED)});\n`,
};
const PYTHON: Language = {
  image: 'kervyxa-runtime/python:1',
  source: 'python_opcode_count',
  file: 'sum.py',
  command: 'python3 sum.py',
  sum: `import sys\ntotal = 0\nfor i in range(int(sys.argv[1])):\n    total += i\nprint(total)\n`,
  formula: `import sys\nn = int(sys.argv[1])\nprint(n * (n - 1) // 2)\n`,
  silent: `import os\nos._exit(0)\n`,
  failing: `import sys\nprint(499500)\nsys.exit(1)\n`,
  forging: `print(${JSON.stringify(FORGED)})\n`,
};

async function count({ image, source, file, command }: Language, program: string) {
  const contract = contractWith({
    repository: { url: 'https://git.kervyxa.example/base.git', baseCommit: base },
    environment: { image, memoryMB: 1_024 },
    criteria: [
      criterion('work', {
        type: 'benchmark',
        command: `${command} "$(cat n.txt)"`,
        source,
        stdoutSha256: sha256Hex(ANSWER),
        metric: { name: 'work', unit: 'units', op: 'lt', threshold: 1_000_000_000_000 },
        timeoutSeconds: 120,
      }),
    ],
  });
  const tree = { [file]: '', 'n.txt': '1000\n' };
  const commits = {
    [base]: { tree },
    [head]: { tree: { ...tree, [file]: program }, parents: [base] },
  };
  const result = await verifyCommit(
    {
      ...machine,
      intake: createFakeIntake({ commits }),
      clock: systemClock,
      coreCount: availableParallelism(),
    },
    {
      contract,
      contractDigest: contractDigest(contract),
      repositoryUrl: 'https://git.kervyxa.example/solver.git',
      commit: head,
      verifierPackage: null,
    },
    { signal: new AbortController().signal },
  );
  const [counted] = result.criteria;
  if (counted === undefined) throw new Error('the contract has a criterion');
  return counted;
}

const reasonOf = ({ status, reason }: CriterionResult): string => `${status} ${reason}`;

// Keeps R-METRIC-ONE.
describe.each([NODE, PYTHON])('work counted by $source', (language) => {
  it('is less for a program that does less, and comes with the answer that was given', async () => {
    const slow = await count(language, language.sum);
    const fast = await count(language, language.formula);
    for (const each of [slow, fast]) {
      expect(each).toMatchObject({ status: 'pass', exitCode: 0, outputSha256: sha256Hex(ANSWER) });
    }
    // A thousand rounds of a loop that the other has not.
    expect(Number(slow.metric) - Number(fast.metric)).toBeGreaterThanOrEqual(1_000);
  });

  it('leaves early, without the answer: the least work of all does not count', async () => {
    expect(reasonOf(await count(language, language.silent))).toBe('fail ASSERTION_FAILED');
  });

  it('gives the answer and fails: its own status decides', async () => {
    const failed = await count(language, language.failing);
    expect(failed).toMatchObject({ reason: 'EXIT_CODE_MISMATCH', exitCode: 1 });
  });

  it('prints a report of its own: it is output of the program and nothing else (M05)', async () => {
    expect(reasonOf(await count(language, language.forging))).toBe('fail ASSERTION_FAILED');
  });
});
