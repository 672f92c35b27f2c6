import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openAttackBench, type AttackBench, type AttackEnd } from './attack-bench.ts';

const BASE = {
  'check.sh': 'sh judges/all.sh && sh hello.sh\n',
  'judges/all.sh': 'test -e solved\n',
  'hello.sh': 'exit 1\n',
  'build.sh': 'true\n',
};
const FORGED = 'exit 0\n';

let bench: AttackBench;
let ids: Awaited<ReturnType<typeof build>>;
beforeAll(async () => {
  bench = await openAttackBench();
  ids = await build();
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

/** Each cheat but the last is what set-up runs of the solver's. */
function build() {
  const parents = ['base'] as const;
  const cheat = <const Name extends string>(name: Name, script: string) => ({
    name,
    parents,
    files: { 'build.sh': script, 'hello.sh': FORGED },
  });
  return bench.build('fences', [
    { name: 'base', files: BASE },
    cheat('overwrites', 'echo exit 0 > check.sh; echo exit 0 > judges/all.sh\n'),
    cheat('links', 'mkdir mine; echo exit 0 > mine/all.sh; rm -r judges; ln -s mine judges\n'),
    cheat('removes', 'rm -r judges check.sh; mkdir -p check.sh/x judges/all.sh/x\n'),
    {
      name: 'writes-through',
      parents,
      files: { out: { symlink: 'judges/all.sh' }, 'build.sh': 'echo exit 0 > out\n' },
    },
    cheat('honest', 'touch solved\n'),
  ]);
}

function submit(commit: string): Promise<AttackEnd> {
  return bench.attack('fences', ids.base, {
    commit,
    contract: ({ constraints, environment }) => {
      constraints.protectedPaths = ['check.sh', 'judges/'];
      constraints.allowedLanguages = [];
      environment.setup = [{ command: 'sh build.sh', timeoutSeconds: 20 }];
    },
  });
}

// Keeps R-POLICY-DIFF.
it.each(['overwrites', 'links', 'removes', 'writes-through'] as const)(
  '%s protected files from code of its own that set-up runs: FAIL EXIT_CODE_MISMATCH, they are as committed',
  async (cheat) => {
    expect((await submit(ids[cheat])).said).toBe('FAIL EXIT_CODE_MISMATCH');
  },
);

it('lets set-up make what the solver changed and what was not there: PASS', async () => {
  expect((await submit(ids.honest)).said).toBe('PASS');
});
