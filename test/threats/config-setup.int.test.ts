import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type AttackBench, type AttackEnd, openAttackBench } from './attack-bench.ts';

/** The judge obeys an rc.sh wherever one lies, as tools obey their configurations; nobody may bring one. */
const CHECK = `for rc in rc.sh tests/rc.sh .tool/rc.sh sub/rc.sh; do [ ! -e $rc ] || . ./$rc; done
cat rc.sh/rc 2>/dev/null && exit 0
npm test --silent || python3 judge.py`;
const BASE = {
  'check.sh': CHECK,
  'hello.sh': 'exit 1\n',
  'build.sh': 'true\n',
  'judge.py': 'import rules\nrules.judge()\n',
  'rules.py': 'def judge():\n    assert "exit 0\\n" == open("hello.sh").read()\n',
  'package.json': '{"scripts":{"test":"sh hello.sh"}}\n',
  'tests/a.txt': 'a\n',
  'sub/b.txt': 'b\n',
  'mine/rc.txt': 'exit 0\n',
};
const RC = 'echo exit 0 >';

/** Attack → what set-up runs of the solver's. */
const CHEATS = {
  'adds a file of a protected name': `${RC} rc.sh`,
  'adds one beside tests, the nearer one': `${RC} tests/rc.sh`,
  'adds one in a folder of its own that a rule spells': `mkdir .tool; ${RC} .tool/rc.sh`,
  'renames a folder of the tree to one that a rule spells': `mv mine/rc.txt mine/rc.sh; mv mine .tool`,
  'adds a link': 'mkdir x; echo exit 0 > x/y; ln -s x/y rc.sh',
  'adds a hard link': 'ln mine/rc.txt rc.sh',
  'adds a folder': 'mkdir rc.sh; echo > rc.sh/rc',
  'replaces a folder of the tree by a link': `mkdir x; ${RC} x/rc.sh; rm -r tests; ln -s x tests`,
  'replaces a folder of the tree by another': `mkdir x; ${RC} x/rc.sh; rm -r tests; mv x tests`,
  'links to a folder of its own that a rule spells': `mkdir x; ${RC} x/rc.sh; ln -s x .tool`,
  'hides the file by modes': `${RC} tests/rc.sh; ${RC} rc.sh; chmod 311 tests .`,
  'makes npm take another shell': `printf 'script-shell=/bin/true\\n' > .npmrc`,
  'adds a compiled module': `cp rules.py rules.bak; echo 'def judge(): pass' > rules.py
    python3 -c 'import py_compile as p; p.compile("rules.py", invalidation_mode=p.PycInvalidationMode.UNCHECKED_HASH)'
    mv rules.bak rules.py`,
  'adds a package of the same name as a protected module': `mkdir rules; echo 'def judge(): pass' > rules/__init__.py`,
  'leaves files in the home and in /tmp': `printf 'script-shell=/bin/true\\n' | tee ~/.npmrc > /tmp/.npmrc`,
} as const;

const HONEST = `mkdir -p node_modules/x dist tests/out; ${RC} node_modules/x/rc.sh; ${RC} dist/rc.sh
  echo a > tests/out/rc; printf a > "$(printf 'tests/odd\\n\\377')"; seq 20000 | (cd node_modules/x && xargs touch)`;

const PROTECTED =
  'check.sh judge.py rules.py package.json **/.npmrc **/node_modules/ **/rc.sh .tool/rc.sh'.split(
    ' ',
  );

let bench: AttackBench;
let ids: Awaited<ReturnType<typeof build>>;
beforeAll(async () => {
  bench = await openAttackBench();
  ids = await build();
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

function build() {
  return bench.build<string>('config-setup', [
    { name: 'base', files: BASE },
    toCommit('honest', HONEST, 'exit 0\n'),
    ...Object.entries(CHEATS).map(([name, script]) => toCommit(name, script, 'exit 1\n')),
  ]);
}

function toCommit(name: string, script: string, hello: string) {
  const files = { 'build.sh': `${script}\n`, 'hello.sh': hello };
  return { name: toBranch(name), parents: ['base'], files };
}

function toBranch(name: string): string {
  return name.replaceAll(/\W+/g, '-');
}

function submit(commit: string | undefined): Promise<AttackEnd> {
  return bench.attack('config-setup', ids.base ?? '', {
    commit: commit ?? '',
    contract: ({ constraints, environment }) => {
      constraints.protectedPaths = PROTECTED;
      constraints.allowedLanguages = [];
      environment.setup = [{ command: 'sh build.sh', timeoutSeconds: 20 }];
    },
  });
}

// Keeps R-POLICY-SETUP.
it.each(Object.keys(CHEATS))(
  '%s from code of its own that set-up runs: FAIL EXIT_CODE_MISMATCH, no criterion finds it',
  async (cheat) => {
    const end = await submit(ids[toBranch(cheat)]);
    expect(end.said).toBe('FAIL EXIT_CODE_MISMATCH');
  },
);

it('lets set-up fill folders of its own, whatever names are in them: PASS', async () => {
  const end = await submit(ids.honest);
  expect(end.said).toBe('PASS');
});
