import type { ContractInput } from '@kervyxa/contract';
import { provableHelloContract } from '@kervyxa/contract/testing';
import { fakeCommitId, type FakeCommit, type FakeTree } from '@kervyxa/intake/fake';
import type { FakeCommand } from '@kervyxa/sandbox/fake';

const CHECK = {
  'check.sh': 'if [ "$1" = runs ]; then sh hello.sh; else sh hello.sh | grep -qx hello; fi\n',
};

/** Commits of a small repository, by name; each but the base is the base with another hello.sh. */
const TREES = {
  base: { ...CHECK, 'hello.sh': 'echo bye\n' },
  good: { ...CHECK, 'hello.sh': 'echo hello\n' },
  alsoGood: { ...CHECK, 'hello.sh': 'printf "hello\\n"\n' },
  bad: { ...CHECK, 'hello.sh': 'echo hallo\n' },
  cheat: { 'check.sh': 'exit 0\n', 'hello.sh': 'echo bye\n' },
  slow: { ...CHECK, 'hello.sh': 'sleep 60\n' },
  poison: { ...CHECK, 'hello.sh': 'echo poison\n' },
} as const satisfies Readonly<Record<string, FakeTree>>;
export type HelloCommit = keyof typeof TREES;

export function commitOf(name: HelloCommit) {
  return fakeCommitId(name);
}

/** What git servers of the fixture hold. */
export const SERVED: Readonly<Record<string, FakeCommit>> = Object.fromEntries(
  Object.entries(TREES).map(([name, tree]) => [
    fakeCommitId(name),
    { tree, parents: name === 'base' ? [] : [fakeCommitId('base')] },
  ]),
);

/** What the check does on each of the commits, which it tells by the content of hello.sh. */
export function checking(more: Partial<Record<HelloCommit, FakeCommand>> = {}): {
  readonly 'sh check.sh': FakeCommand;
  readonly 'sh check.sh runs': FakeCommand;
} {
  const plain: Partial<Record<HelloCommit, FakeCommand>> = {
    good: { stdout: 'hello\n' },
    alsoGood: { stdout: 'hello\n' },
    ...more,
  };
  return {
    'sh check.sh runs': {},
    'sh check.sh': (view) => {
      const script = Buffer.from(view.workspace.get('hello.sh') as Uint8Array).toString();
      const name = (Object.keys(TREES) as HelloCommit[]).find(
        (each) => TREES[each]['hello.sh'] === script,
      );
      const command = (name === undefined ? undefined : plain[name]) ?? { exitCode: 1 };
      return typeof command === 'function' ? command(view) : command;
    },
  };
}

/** A contract on the served base. */
export function helloContract(): ContractInput {
  return provableHelloContract(commitOf('base'), { good: commitOf('good'), bad: commitOf('bad') });
}
