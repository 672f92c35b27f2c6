import type { CheckerPackage } from '@kervyxa/checker';
import { contractDigest, type ContractInput } from '@kervyxa/contract';
import { systemClock } from '@kervyxa/core';
import { createFakeIntake, fakeCommitId, type FakeTree } from '@kervyxa/intake/fake';
import { createFakeSandbox, type FakeCommand, type FakeView } from '@kervyxa/sandbox/fake';
import { proveContract, type ProvingEvent } from '../prove/prove.ts';
import { type ProvingReport, ProvingReportSchema } from '../prove/report.ts';
import { PYTHON_IMAGE } from './checker-package.ts';
import { contractWith, criterion } from './contract.ts';

export interface ProvingStory {
  /** What changes against the plain story, in which everything is as it should be. */
  readonly contract?: Parameters<typeof contractWith>[0];
  readonly commands?: Readonly<Record<string, FakeCommand>>;
  /** By name; parents are `base`. */
  readonly trees?: Readonly<Record<string, FakeTree>>;
  readonly checkers?: readonly CheckerPackage[];
  readonly replays?: number;
  readonly outcomes?: Parameters<typeof createFakeIntake>[0]['outcomes'];
  readonly signal?: AbortSignal;
}

const BASE = 'export const answer = 0;\n';
const GOOD = 'export const answer = 42;\n';
export const TREES = {
  base: { 'answer.js': BASE, 'test/answer.test.js': 'test\n', 'README.md': 'Read me\n' },
  good: { 'answer.js': GOOD, 'test/answer.test.js': 'test\n', 'README.md': 'Read me\n' },
  bad: {
    'answer.js': 'export const answer = 41;\n',
    'test/answer.test.js': 'test\n',
    'README.md': 'Read me\n',
  },
} satisfies Record<string, FakeTree>;

/** Text of a file of the workspace, as a command sees it. */
export function textIn({ workspace }: FakeView, path: string): string {
  const entry = workspace.get(path);
  return entry === undefined ? '' : String(entry);
}

/** The command `tests` of the plain story: right exactly for the known-good program with its tests. */
export const tellsAnswer: FakeCommand = (view) =>
  textIn(view, 'answer.js') === GOOD && textIn(view, 'test/answer.test.js') !== ''
    ? { stdout: 'ok\n' }
    : { exitCode: 1, stderr: 'not the answer\n' };

export const proof = (name: string, expected: 'PASS' | 'FAIL', failing?: string) => ({
  commit: fakeCommitId(name),
  expected,
  ...(failing !== undefined && { failing }),
});

export const REGRESSION = criterion('works', { type: 'regression' });

/** Proves the plain contract, changed as the story says. */
export async function proveStory(
  story: ProvingStory = {},
): Promise<{ readonly report: ProvingReport; readonly events: ProvingEvent[] }> {
  const url = 'https://git.kervyxa.example/base.git';
  const trees: Readonly<Record<string, FakeTree>> = { ...TREES, ...story.trees };
  const contract = contractWith({
    repository: { url, baseCommit: fakeCommitId('base') },
    criteria: [criterion('tests'), REGRESSION] satisfies ContractInput['criteria'],
    proof: [proof('good', 'PASS'), proof('bad', 'FAIL')],
    ...story.contract,
    constraints: { protectedPaths: ['test/'], ...story.contract?.constraints },
  });
  const events: ProvingEvent[] = [];
  const report = await proveContract(
    {
      intake: createFakeIntake({
        commits: Object.fromEntries(
          Object.entries(trees).map(([name, tree]) => [
            fakeCommitId(name),
            { tree, ...(name !== 'base' && { parents: [fakeCommitId('base')] }) },
          ]),
        ),
        ...(story.outcomes && { outcomes: story.outcomes }),
      }),
      sandbox: createFakeSandbox({
        commands: { tests: tellsAnswer, works: {}, ...story.commands },
      }),
      clock: systemClock,
      runtimes: new Map([
        ['kervyxa-runtime/node:22', `sha256:${'1'.repeat(64)}`],
        ['kervyxa-runtime/python:1', PYTHON_IMAGE],
      ]),
      coreCount: 2,
    },
    {
      contract,
      contractDigest: contractDigest(contract),
      verifierPackage: null,
      dependencies: null,
      checkers: new Map(story.checkers?.map((checker) => [checker.digest, checker])),
      replays: story.replays ?? 3,
    },
    {
      signal: story.signal ?? new AbortController().signal,
      onEvent: (event) => events.push(event),
    },
  );
  ProvingReportSchema.parse(report);
  return { report, events };
}
