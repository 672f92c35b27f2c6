import type { ContractInput } from '@kervyxa/contract';
import { provableHelloContract } from '@kervyxa/contract/testing';
import { fakeCommitId, type FakeCommit } from '@kervyxa/intake/fake';
import type { FakeCommand } from '@kervyxa/sandbox/fake';

export const BENCH_RUNTIME = 'kervyxa-runtime/node:22';
const BASE = fakeCommitId('base');
const GOOD = fakeCommitId('good');
/** A commit that fails, so that its contract stays open for the next. */
export const BENCH_COMMIT = fakeCommitId('submitted');

const HELLO = 'echo hello\n';
const commitOf = (script: string, ...parents: string[]): FakeCommit => ({
  tree: { 'check.sh': 'sh hello.sh\n', 'hello.sh': script },
  parents,
});

export const BENCH_COMMITS: Readonly<Record<string, FakeCommit>> = {
  [BASE]: commitOf('echo bye\n'),
  [GOOD]: commitOf(HELLO, BASE),
  [BENCH_COMMIT]: commitOf('echo hallo\n', BASE),
};

export const BENCH_COMMANDS: Readonly<Record<string, FakeCommand>> = {
  'sh check.sh runs': {},
  'sh check.sh': ({ workspace }) => {
    const script = Buffer.from(workspace.get('hello.sh') as Uint8Array).toString();
    return { exitCode: script === HELLO ? 0 : 1 };
  },
};

export function benchContract(title: string): ContractInput {
  return { ...provableHelloContract(BASE, { good: GOOD, bad: BENCH_COMMIT }), title };
}
