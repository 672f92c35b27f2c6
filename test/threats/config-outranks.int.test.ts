import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { type ContractInput, lintContract } from '@kervyxa/contract';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { testTree } from '../../packages/sandbox/src/testing/trees.ts';
import { type AttackBench, openAttackBench } from './attack-bench.ts';
import { type ConfigAttack, submitConfig } from './config-bench.ts';

let bench: AttackBench;
beforeAll(async () => {
  bench = await openAttackBench();
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

const NODE_JUDGE = `process.exitCode = require('fs').readFileSync('solution.txt', 'utf8') === 'right\\n' ? 0 : 1;\n`;
const PYTHON_JUDGE = `import subprocess, sys\nsys.exit(open('solution.txt').read() != 'right\\n')\n`;
const LEAVES = 'import os\nos._exit(0)\n';
const SHIM = { content: '#!/bin/sh\nexit 0\n', mode: '100755' } as const;
const MANIFEST = '{"name": "a", "version": "1.0.0", "scripts": {"test": "node judge.js"}}\n';
const npmBase = { 'package.json': MANIFEST, 'judge.js': NODE_JUDGE };

// Each makes the public criterion pass where nothing but the judging script is protected, as is shown first.
const ATTACKS: Readonly<Record<string, ConfigAttack>> = {
  'H06 BUG-3 adds .npmrc with another script-shell': {
    command: 'npm test',
    base: npmBase,
    files: { '.npmrc': 'script-shell=/workspace/fake.sh\n', 'fake.sh': SHIM },
  },
  'H06 adds .npmrc with node-options that leave before the script begins': {
    command: 'npm test',
    base: npmBase,
    files: {
      '.npmrc': 'node-options=--require /workspace/pre.js\n',
      'pre.js': 'process.exit(0);\n',
    },
  },
  'H06 adds .npmrc with a globalconfig of its own': {
    command: 'npm test',
    base: npmBase,
    files: {
      '.npmrc': 'globalconfig=/workspace/all.ini\n',
      'all.ini': 'script-shell=/workspace/fake.sh\n',
      'fake.sh': SHIM,
    },
  },
  'H06 adds .npmrc before npx runs a committed tool': {
    command: 'npx --no-install judge',
    base: {
      'package.json': MANIFEST,
      'node_modules/.bin/judge': { content: '#!/bin/sh\nexit 1\n', mode: '100755' },
    },
    files: { '.npmrc': 'script-shell=/workspace/fake.sh\n', 'fake.sh': SHIM },
  },
  'H09 BUG-3 edits the test script': {
    command: 'npm test',
    base: npmBase,
    files: { 'package.json': MANIFEST.replace('node judge.js', 'exit 0') },
  },
  'H09 adds a pretest that changes what the test reads': {
    command: 'npm test',
    base: npmBase,
    files: {
      'package.json': MANIFEST.replace(
        '{"test"',
        '{"pretest": "echo right > solution.txt", "test"',
      ),
    },
  },
  'H22 commits node_modules/.bin/node, a shim that npm puts first on PATH': {
    command: 'npm test',
    base: npmBase,
    files: { 'node_modules/.bin/node': SHIM },
  },
  'H22 commits the shim for node --run': {
    command: 'node --run test',
    base: npmBase,
    files: { 'node_modules/.bin/node': SHIM },
  },
  'H11 BUG-3 adds sitecustomize.py to a folder of PYTHONPATH': {
    command: 'PYTHONPATH=lib python3 tools/judge.py',
    base: { 'tools/judge.py': PYTHON_JUDGE },
    files: { 'lib/sitecustomize.py': LEAVES },
  },
  'H11 adds usercustomize.py to the home that the command names': {
    command: 'HOME=/workspace python3 tools/judge.py',
    base: { 'tools/judge.py': PYTHON_JUDGE },
    files: { '.local/lib/python3.11/site-packages/usercustomize.py': LEAVES },
  },
  'H08 adds subprocess.py beside a judge that imports the standard one': {
    command: 'python3 tools/judge.py',
    base: { 'tools/judge.py': PYTHON_JUDGE },
    files: { 'tools/subprocess.py': LEAVES },
  },
  'H08 adds a package subprocess beside the judge': {
    command: 'python3 tools/judge.py',
    base: { 'tools/judge.py': PYTHON_JUDGE },
    files: { 'tools/subprocess/__init__.py': LEAVES },
  },
  'H08 adds a .pth file to an environment that set-up makes': {
    command: 'env/bin/python -I tools/judge.py',
    setup: ['python3 -m venv --without-pip env'],
    base: { 'tools/judge.py': PYTHON_JUDGE },
    files: { 'env/lib/python3.11/site-packages/x.pth': 'import os; os._exit(0)\n' },
  },
  'H08 adds a program to a folder that the command puts on PATH': {
    command: 'PATH=./bin:$PATH node judge.js',
    base: { 'judge.js': NODE_JUDGE, 'bin/README.md': 'Programs.\n' },
    files: { 'bin/node': SHIM },
  },
  'H08 adds what NODE_OPTIONS of the command requires': {
    command: 'NODE_OPTIONS="--require ./hooks/first.js" node judge.js',
    base: { 'judge.js': NODE_JUDGE, 'hooks/first.js': '' },
    files: { 'hooks/first.js': 'process.exit(0);\n' },
  },
};

// Keeps R-POLICY-DIFF.
it.each(Object.entries(ATTACKS))(
  '%s: approval asks for it, and then FAIL PROTECTED_PATH_CHANGED; before, the hidden check says FAIL',
  async (_title, attack) => {
    const { open, asked, closed, left } = await submitConfig(bench, attack);
    expect(open.criteria.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'judged pass',
      'hidden fail',
    ]);
    expect(open.said).toBe('FAIL EXIT_CODE_MISMATCH');
    expect(asked.size).toBeGreaterThan(0);
    expect(left).toEqual(new Set());
    expect(closed.verdict).toBe('FAIL');
    expect(closed.reasons[0]?.code).toBe('PROTECTED_PATH_CHANGED');
  },
);

it('H09 H22 adds npm-shrinkwrap.json, in which a package brings a program called node: FAIL PROTECTED_PATH_CHANGED', async () => {
  const tar = await buffer(
    Readable.from(
      testTree({
        'package/package.json': '{"name": "dep", "version": "1.0.0"}\n',
        'package/yes.js': '#!/bin/true\n',
      }).open(new AbortController().signal),
    ),
  );
  const archive = gzipSync(tar);
  const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
  const dependencies = { dep: 'file:dep.tgz' };
  const manifest = { name: 'a', version: '1.0.0', dependencies };
  const lock = (extra: object): string =>
    JSON.stringify({
      name: 'a',
      version: '1.0.0',
      lockfileVersion: 3,
      requires: true,
      packages: {
        '': manifest,
        'node_modules/dep': { version: '1.0.0', resolved: 'file:dep.tgz', integrity, ...extra },
      },
    });
  const { open, asked, closed, left } = await submitConfig(bench, {
    command: 'npm test',
    setup: ['npm ci --offline --ignore-scripts'],
    base: {
      'package.json': JSON.stringify({ ...manifest, scripts: { test: 'node judge.js' } }),
      'package-lock.json': lock({}),
      'judge.js': NODE_JUDGE,
      'dep.tgz': { content: archive },
    },
    files: { 'npm-shrinkwrap.json': lock({ bin: { node: 'yes.js' } }) },
  });
  expect(open.criteria.map(({ id, status }) => `${id} ${status}`)).toEqual([
    'judged pass',
    'hidden fail',
  ]);
  expect(asked).toEqual(new Set(['CONFIG_NOT_PROTECTED']));
  expect([closed.said, left]).toEqual(['FAIL PROTECTED_PATH_CHANGED', new Set()]);
});

it('H12 writes usercustomize.py to its home for the next criterion: FAIL EXIT_CODE_MISMATCH, as homes are new', async () => {
  const plant =
    'p=$(python3 -m site --user-site) && mkdir -p $p && echo "import os; os._exit(0)" > $p/usercustomize.py';
  const { base, cheat } = await bench.build('home', [
    {
      name: 'base',
      files: { 'run.sh': '', 'tools/judge.py': PYTHON_JUDGE, 'solution.txt': 'wrong\n' },
    },
    { name: 'cheat', parents: ['base'], files: { 'run.sh': `${plant}\npython3 tools/judge.py\n` } },
  ]);
  const { said, criteria } = await bench.attack('home', base, {
    commit: cheat,
    contract: (contract) => {
      contract.constraints.protectedPaths = ['tools/'];
      contract.environment.setup = [{ command: 'sh run.sh; true', timeoutSeconds: 20 }];
      contract.criteria = ['sh run.sh', 'python3 tools/judge.py'].map((command, at) => ({
        id: `step-${at}`,
        title: command,
        type: 'exit_code',
        visibility: 'public',
        command,
        timeoutSeconds: 20,
      }));
    },
  });
  // Within one container it works, which is why nothing of one reaches another.
  expect(criteria.map(({ status }) => status)).toEqual(['pass', 'fail']);
  expect(said).toBe('FAIL EXIT_CODE_MISMATCH');
});

it('G29 H08 commits a bare repository at the root, so that git diff finds one where there is none: it passes, and approval refuses the command as EXIT_CODE_MASKED', async () => {
  const bare = {
    HEAD: 'ref: refs/heads/main\n',
    config: '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = /workspace\n',
    'objects/any': '',
    'refs/any': '',
  };
  const command = 'sh generate.sh && git diff --exit-code';
  const { base, cheat } = await bench.build('bare', [
    { name: 'base', files: { 'generate.sh': 'echo new > table.txt\n', 'table.txt': 'old\n' } },
    { name: 'cheat', parents: ['base'], files: bare },
  ]);
  const change = (contract: ContractInput): void => {
    contract.constraints = {
      protectedPaths: ['generate.sh'],
      maxChangedFiles: 4,
      allowedLanguages: [],
    };
    Object.assign(contract.criteria[0] ?? {}, { command });
  };
  const { criteria } = await bench.attack('bare', base, { commit: cheat, contract: change });
  // git takes the index of the made-up repository, which is empty, for the truth: nothing differs.
  expect(criteria[0]?.status).toBe('pass');
  const document = bench.plainContract(base);
  change(document);
  expect(lintContract(document, null).map(({ code }) => code)).toContain('EXIT_CODE_MASKED');
});
