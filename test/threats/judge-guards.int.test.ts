import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { GUARD_STATUS, toJudgeCommand } from '../../packages/verifier/src/judge-guards.ts';
import { toJudgeTree } from '../../packages/verifier/src/probe-output.ts';
import { type EngineBench, openEngineBench } from '../../packages/sandbox/src/testing/engine.ts';
import { testTree } from '../../packages/sandbox/src/testing/trees.ts';

let bench: EngineBench;
const statuses = new Map<string, number>();

/** Programs of a judge by name, and what they end with under the guards. */
const JUDGES: readonly (readonly [name: string, text: string, status: number])[] = [
  ['holds.js', 'process.exitCode = 0;', 0],
  ['refutes.js', 'process.exit(1);', 1],
  ['asserts.js', "require('node:assert').equal(1, 2);", 1],
  ['asserts-later.mjs', "import a from 'node:assert';\nawait null;\na.ok(false);", 1],
  ['throws.js', 'null.answer;', GUARD_STATUS],
  ['throws-later.js', 'setTimeout(() => null.answer, 1);', GUARD_STATUS],
  ['rejects.js', "Promise.reject(new Error('no'));", GUARD_STATUS],
  ['rejects-nothing.js', 'Promise.reject();', GUARD_STATUS],
  ['throws-text.js', "throw 'text';", GUARD_STATUS],
  ['throws-in-module.mjs', 'await null;\nnull.answer;', GUARD_STATUS],
  ['misspelt.js', 'const = 1;', GUARD_STATUS],
  ['misspelt.mjs', 'const = 1;', GUARD_STATUS],
  ['imports-nothing.mjs', "import './not-there.mjs';", GUARD_STATUS],
  ['requires-nothing.js', "require('./not-there.js');", GUARD_STATUS],
  ['sets-status-first.js', 'process.exitCode = 0; null.answer;', GUARD_STATUS],
  ['throws-at-exit.js', "process.on('exit', () => null.answer);", GUARD_STATUS],
  ['too-deep.js', 'const f = () => f() + 1; f();', GUARD_STATUS],
  ['catches.js', "process.on('uncaughtException', () => process.exit(1)); null.answer;", 1],
  ['goes-on.js', "process.on('uncaughtException', () => undefined); null.answer;", 0],
  ['holds.py', 'pass', 0],
  ['refutes.py', 'import sys\nsys.exit(1)', 1],
  ['refutes-with-text.py', "raise SystemExit('wrong')", 1],
  ['asserts.py', 'assert 1 == 2', 1],
  ['throws.py', '{}["answer"]', GUARD_STATUS],
  ['misspelt.py', 'def', GUARD_STATUS],
  ['imports-nothing.py', 'import not_there', GUARD_STATUS],
  ['too-deep.py', 'def f():\n  f()\nf()', GUARD_STATUS],
  ['holds.sh', 'cmp "$KERVYXA_PROBE_OUTPUT/stdout" "$KERVYXA_PROBE_OUTPUT/stdout"', 0],
  ['refutes.sh', 'cmp "$KERVYXA_PROBE_OUTPUT/stdout" "$KERVYXA_VERIFIER_PACKAGE/holds.py"', 1],
  ['compares-nothing.sh', 'cmp -s "$KERVYXA_PROBE_OUTPUT/stdout" not-there', 2],
  ['misspelt.sh', 'if', 2],
  ['not-there.js', '', GUARD_STATUS],
  ['not-there.py', '', 2],
];
const RUNNERS = { js: 'node', mjs: 'node', py: 'python3', sh: 'sh' } as const;

const toCall = (name: string): string => {
  const runner = RUNNERS[name.slice(name.lastIndexOf('.') + 1) as keyof typeof RUNNERS]; // Of JUDGES.
  return `${runner} "$KERVYXA_VERIFIER_PACKAGE/${name}" > /dev/null 2>&1; echo "${name} $?"`;
};

beforeAll(async () => {
  bench = await openEngineBench();
  const signal = new AbortController().signal;
  const there = JUDGES.filter(([name]) => !name.startsWith('not-there'));
  const session = await bench.sandbox.openSession(
    {
      image: bench.image,
      limits: {
        memoryBytes: 256 * 1024 ** 2,
        cpuCount: 1,
        pidsMax: 64,
        workspaceBytes: 2 ** 20,
        outputBytes: 65_536,
      },
      tree: await toJudgeTree(new Map([['stdout', Buffer.from('answer\n')]])),
      verifierPackage: testTree(Object.fromEntries(there.map(([name, text]) => [name, text]))),
      runsMax: 1,
    },
    signal,
  );
  try {
    const command = JUDGES.map(([name]) => toCall(name)).join('\n');
    const request = { command: toJudgeCommand(command), timeoutMs: 60_000 };
    const run = await session.stage({ ...request, package: 'shared' }, signal);
    const { stdout } = await run.release(signal);
    for (const line of Buffer.from(stdout.head).toString().trimEnd().split('\n')) {
      const [name = '', status] = line.split(' ');
      statuses.set(name, Number(status));
    }
  } finally {
    await session.close();
  }
});
afterEach(() => bench.assertNothingLeft());

describe('a judge under the guards, in which only 0 and 1 are answers', () => {
  it.each(JUDGES)('H24 the judge %s, which is %j: ends with %i', (name, _text, status) => {
    expect(statuses.get(name)).toBe(status);
  });
});
