import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openAttackBench, type AttackBench, type AttackEnd } from './attack-bench.ts';

const BASE = {
  'check.sh': 'sh judges/all.sh && sh hello.sh\n',
  'judges/all.sh': 'test -e solved\n',
  'hello.sh': 'exit 1\n',
  'build.sh': 'true\n',
};
const FORGED = 'exit 0\n';

const PYTHON = '#!/bin/sh\n# vim: ft=sh\n"exec" "python3" "$0"\nprint(1)\n';
/** None of them is a shell script by its name, and names alone decide. */
const OTHER_LANGUAGES = Object.fromEntries(
  [
    'x.py',
    'x.sh.py',
    'X.PY',
    '.py',
    'a.sh/x.py',
    'vendor/x.py',
    'run',
    'x.ｓh',
    'x.sh\u200b',
    'x.sh;',
  ]
    .concat(['x.pyc', 'x.so', 'x.json.js', 'Makefile', 'sh', 'x.sh.', 'x.sh\n', 'x.sh/__main__.py'])
    .map((path) => [path, PYTHON]),
);
const ALLOWED = {
  'x.SH': PYTHON,
  '.sh': 'x',
  'x.py.sh': PYTHON,
  'data.json': '{}',
  'note.md': PYTHON,
};
const MARKED = {
  '.gitattributes': '* linguist-language=Shell linguist-vendored linguist-generated\n',
};

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
    { name: 'languages', parents, files: { ...OTHER_LANGUAGES, ...ALLOWED, ...MARKED } },
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

// Keeps R-POLICY-SETUP.
it.each(['overwrites', 'links', 'removes', 'writes-through'] as const)(
  '%s protected files from code of its own that set-up runs: FAIL EXIT_CODE_MISMATCH, they are as committed',
  async (cheat) => {
    expect((await submit(ids[cheat])).said).toBe('FAIL EXIT_CODE_MISMATCH');
  },
);

it('lets set-up make what the solver changed and what was not there: PASS', async () => {
  expect((await submit(ids.honest)).said).toBe('PASS');
});

it('names code by other endings, cases, markers and shebangs: FAIL LANGUAGE_NOT_ALLOWED of each', async () => {
  const end = await bench.attack('fences', ids.base, {
    commit: ids.languages,
    contract: ({ constraints }) => {
      constraints.allowedLanguages = ['shell'];
      constraints.editablePaths = [];
      constraints.maxChangedFiles = 50;
    },
  });
  const refused = end.reasons.filter(({ code }) => code === 'LANGUAGE_NOT_ALLOWED');
  expect(refused.map(({ subject }) => subject).toSorted()).toEqual(
    Object.keys(OTHER_LANGUAGES).toSorted(),
  );
  expect(new Set(end.said.split(' '))).toEqual(
    new Set(['FAIL', 'UNSAFE_PATH', 'LANGUAGE_NOT_ALLOWED']),
  );
});
