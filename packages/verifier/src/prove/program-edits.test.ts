import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  isKnownProgram,
  withExitAtImport,
  withPrintedLine,
  withRewrittenMetric,
} from './program-edits.ts';

const METRIC = 'KERVYXA_METRIC=0';
const print = (path: string, text: string) =>
  Buffer.from(withPrintedLine(path, Buffer.from(text), METRIC)).toString();
const exit = (path: string, text: string, line: string | null = null) =>
  Buffer.from(withExitAtImport(path, Buffer.from(text), line)).toString();

describe('a program that prints a line', () => {
  it.each([
    ['a.js', 'module.exports = 1;\n', `module.exports = 1;\nconsole.log('${METRIC}');\n`],
    ['a.mts', 'export const a = 1', `export const a = 1\nconsole.log('${METRIC}');\n`],
    ['a.py', 'a = 1\n', `a = 1\nprint('${METRIC}', flush=True)\n`],
    ['a.sh', '', `echo '${METRIC}'\n`],
  ])('%s', (path, text, expected) => {
    expect(print(path, text)).toBe(expected);
  });
});

describe('a program that has its process print another metric', () => {
  const printing = "console.log('KERVYXA_METRIC=5'); process.stdout.write('KERVYXA_DONE=x\\n');";
  it.each([
    ['node', 'work.cjs', "require('./work.cjs');" + printing, 'harness.cjs'],
    ['node', 'work.mjs', "import './work.mjs';" + printing, 'harness.mjs'],
    ['node', 'work.ts', "import './work.ts';" + printing, 'harness.mts'],
    [
      'sh',
      'work.sh',
      '. ./work.sh; echo KERVYXA_METRIC=5; printf "KERVYXA_DONE=%s\\n" x',
      'harness.sh',
    ],
  ])('%s: %s', (runner, path, harness, name) => {
    const folder = mkdtempSync(join(tmpdir(), 'kervyxa-rewritten-'));
    try {
      writeFileSync(join(folder, path), withRewrittenMetric(path, Buffer.from(''), METRIC));
      writeFileSync(join(folder, name), harness);
      const program = runner === 'node' ? process.execPath : runner;
      const { stdout } = spawnSync(program, [name], { cwd: folder, encoding: 'utf8' });
      expect(stdout).toBe(`${METRIC}\nKERVYXA_DONE=x\n`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('keeps the first line that names an interpreter, and the types of nobody', () => {
    const text = withRewrittenMetric('bin/a', Buffer.from('#!/usr/bin/env tsx\nrun();'), METRIC);
    expect(String(text)).toMatch(
      /^#!\/usr\/bin\/env tsx\n\/\/ @ts-nocheck\nrun\(\);\n\{ const write/,
    );
  });
});

describe('a program that leaves at import', () => {
  it.each([
    ['a.cjs', 'module.exports = 1;\n', 'process.exit(0);\nmodule.exports = 1;\n'],
    [
      'a.ts',
      '#!/usr/bin/env node\nrun();\n',
      '#!/usr/bin/env node\n// @ts-nocheck\nprocess.exit(0);\nrun();\n',
    ],
    ['a.tsx', 'run();\n', '// @ts-nocheck\nprocess.exit(0);\nrun();\n'],
    ['a.py', 'from __future__ import annotations\n', 'import os; os._exit(0)\n'],
    ['a.sh', '#!/bin/sh\nrun\n', '#!/bin/sh\nexit 0\n'],
    ['a.sh', '#!/bin/sh', 'exit 0\n'],
    [
      'bin/a',
      '#!/usr/bin/env -S node --x\nrun();\n',
      '#!/usr/bin/env -S node --x\nprocess.exit(0);\nrun();\n',
    ],
    ['bin/a', '#!/usr/bin/python3.11\nrun()\n', '#!/usr/bin/python3.11\nimport os; os._exit(0)\n'],
  ])('%s', (path, text, expected) => {
    expect(exit(path, text)).toBe(expected);
  });

  it('prints a line first where it is told to', () => {
    expect(exit('a.py', 'a = 1\n', METRIC)).toBe(
      `print('${METRIC}', flush=True)\nimport os; os._exit(0)\n`,
    );
    expect(exit('a.js', 'run();\n', METRIC)).toBe(
      `console.log('${METRIC}');\nprocess.exit(0);\nrun();\n`,
    );
  });
});

it('knows programs by their names, and without an extension by their first line', () => {
  const shebang = Buffer.from('#!/bin/bash\n');
  const names = ['a.js', 'b/c.tsx', 'd.py', 'e.sh', 'f.rs', 'js', 'README.md', 'a.js.map', '.x'];
  const none = new Uint8Array();
  expect(names.filter((name) => isKnownProgram(name, none))).toEqual(names.slice(0, 4));
  expect(names.filter((name) => isKnownProgram(name, shebang))).toEqual([
    ...names.slice(0, 4),
    'js',
    '.x',
  ]);
  expect(isKnownProgram('x', Buffer.from('#!/usr/bin/ruby\n'))).toBe(false);
  expect(isKnownProgram('x', Buffer.from('# node\n'))).toBe(false);
});
