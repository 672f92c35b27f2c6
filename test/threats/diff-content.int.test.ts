import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openAttackBench, type AttackBench, type AttackEnd } from './attack-bench.ts';

/** Prints the SHA-256 of every file, and what each link holds. */
const CHECK = `find . -type f -exec sha256sum {} +\nfind . -type l -printf '%l  %p\\n'\n`;
const BASE = { 'check.sh': CHECK, 'kept/v.sh': '#!/bin/sh\nexit 0\n', 'kept/id.txt': '$Id$\n' };
const ATTRIBUTES =
  '*.sh text eol=crlf\n*.txt ident working-tree-encoding=UTF-16LE\nkept export-ignore\n' +
  'kept/v.sh export-ignore\nkept/id.txt export-subst\n* diff=evil merge=evil filter=lfs\n';
const SOLVED = { 'hello.sh': 'exit 0\n' };
/** Names that some program, system or terminal stumbles over, and Linux does not. */
const ODD = Object.fromEntries(
  ['-rf', '--help', 'CON', 'aux.txt', 'a:b', '"q"', "it's", '$(id)', '*', '?', '~', '#x', '&|;']
    .concat([
      'a  b',
      ' lead',
      'ｆull',
      '👩\u200d🔬',
      'é',
      'ﬁ',
      '\u05d0\u200f',
      '.hidden',
      '..x',
      '__proto__',
      'constructor',
    ])
    .map((name, index) => [`odd/${name}`, `${index}\n`]),
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
  const parents = ['base'] as const;
  return bench.build('content', [
    { name: 'base', files: BASE },
    { name: 'attributes', parents, files: { ...SOLVED, '.gitattributes': ATTRIBUTES } },
    { name: 'odd', parents, files: { ...SOLVED, ...ODD } },
    { name: 'slow', parents, files: { 'out.txt': `${'a'.repeat(200_000)}!` } },
  ]);
}

function submit(
  commit: string,
  change: Parameters<AttackBench['attack']>[2]['contract'] = () => undefined,
): Promise<AttackEnd> {
  return bench.attack('content', ids.base, {
    commit,
    contract: (contract) => {
      contract.constraints.protectedPaths = ['check.sh', 'kept/'];
      contract.constraints.allowedLanguages = [];
      contract.constraints.maxChangedFiles = 50;
      change(contract);
    },
  });
}

const found = ({ output }: AttackEnd) =>
  (output.get('criterion:says-hello') ?? '').trimEnd().split('\n').toSorted();

function sums(files: Readonly<Record<string, string>>): string[] {
  return Object.entries(files)
    .map(([path, text]) => `${createHash('sha256').update(text).digest('hex')}  ./${path}`)
    .toSorted();
}

it('D10 D11 D12 rewrites, hides and expands protected files by .gitattributes: PASS, on the very bytes of the commit', async () => {
  const end = await submit(ids.attributes);
  expect(end.said).toBe('PASS');
  expect(found(end)).toEqual(sums({ ...BASE, ...SOLVED, '.gitattributes': ATTRIBUTES }));
});

it('D10 adds .gitattributes where the contract protects it: FAIL PROTECTED_PATH_CHANGED', async () => {
  const end = await submit(ids.attributes, ({ constraints }) => {
    constraints.protectedPaths.push('**/.gitattributes');
  });
  expect(end.said).toBe('FAIL PROTECTED_PATH_CHANGED');
});

it('D13 brings names like options, devices, globs, commands and emoji: PASS, each file arrives as it is', async () => {
  const end = await submit(ids.odd);
  expect(end.said).toBe('PASS');
  expect(found(end)).toEqual(sums({ ...BASE, ...SOLVED, ...ODD }));
});

it('D18 writes what makes a backtracking expression hang into the asserted file: FAIL ASSERTION_FAILED', async () => {
  const end = await submit(ids.slow, (contract) => {
    contract.criteria = [
      {
        id: 'says-hello',
        title: 'Only letters',
        type: 'file_assertion',
        visibility: 'public',
        command: 'true',
        path: 'out.txt',
        assertion: { op: 'matches', value: '^(a+)+(a|a)*(a|aa)+$' },
        timeoutSeconds: 20,
      },
    ];
  });
  expect(end.said).toBe('FAIL ASSERTION_FAILED');
});
