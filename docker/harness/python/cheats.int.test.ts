import { sha256Hex } from '@kervyxa/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEngineBench } from '../../../packages/sandbox/src/testing/engine.ts';
import { runOnce } from '../../../packages/sandbox/src/testing/harness.ts';
import { ANSWER, PROGRAMS, REFUSED } from './testing/attacks.ts';
import { type Counter, openCounter, type Reading } from './testing/counter.ts';

const OPCODES = 'python_opcode_count';
const SOURCES = [OPCODES, 'python_peak_bytes', 'instructions'];

let counter: Counter;
let honest: Readonly<Record<string, Reading>>;
beforeAll(async () => {
  const files = Object.entries(PROGRAMS).map(([name, text]) => [`try-${name}.py`, text]);
  counter = await openCounter(
    {
      ...Object.fromEntries(files),
      '.valgrindrc': '--tool=none\n--toggle-collect=nothing\n',
      'sitecustomize.py': 'import os\nos._exit(0)\n',
      'usercustomize.py': 'import os\nos._exit(0)\n',
      'piped.sh': { script: '#!/bin/sh\npython3 try-honest.py\n' },
      'became.sh': { script: '#!/bin/sh\nexec python3 try-honest.py\n' },
    },
    `cp /usr/lib/python3.11/lib-dynload/_queue.*.so evil.so &&
     python3 -c 'import py_compile as p; p.compile("try-honest.py", "sourceless.pyc"); p.compile("try-honest.py", "try-compiled.py")'`,
  );
  const readings = SOURCES.map(async (source) => [
    source,
    await counter.count(source, 'python3 try-honest.py'),
  ]);
  honest = Object.fromEntries(await Promise.all(readings));
});
afterAll(() => counter.close());

const attack = (name: string, source = OPCODES): Promise<Reading> =>
  counter.count(source, `python3 try-${name}.py`);
const rightAnswer = { stdoutSha256: sha256Hex(ANSWER), exitCode: 0, signal: null };

// Keeps R-COUNT-NO-LESS.
describe.concurrent('a program that wants to be counted less', { timeout: 600_000 }, () => {
  it.each([
    ['stops the tracers that Python has', 'tracer'],
    ['does the work in a thread', 'thread'],
    ['does the work when a value dies', 'finalizer'],
    ['does the work when a signal comes', 'handler'],
    ['does the work at its end', 'atexit'],
  ])('%s: as much is counted as of honest work', async (_, name) => {
    const reading = await attack(name);
    expect(reading).toMatchObject(rightAnswer);
    expect(reading.count).toBeGreaterThan(honest[OPCODES]?.count ?? Infinity);
  });

  it('wants native code, bytecode of its own, children, or others’ memory and output: gets none, and is counted', async () => {
    const { stdout, stderr } = await counter.run(OPCODES, 'python3 try-refused.py');
    const tried = Buffer.from(stderr.head).toString().split('\n');
    expect(tried.filter((line) => /^(refused|DONE) /.test(line))).toEqual(
      Object.keys(REFUSED).map((name) => `refused ${name}`),
    );
    expect(Buffer.from(stdout.head).toString()).toContain(rightAnswer.stdoutSha256);
  });

  it.each(SOURCES)('becomes another program: %s is not known', async (source) => {
    expect(await attack('exec', source)).toEqual({ ...rightAnswer, count: null });
    expect(await attack('forged_log', source)).toMatchObject({ count: null });
  });

  it.each(SOURCES)('replaces or locks the report: %s is not known', async (source) => {
    expect(await attack('linked_report', source)).toMatchObject({ count: null });
    expect(await attack('locked_report', source)).toMatchObject({ count: null });
  });

  it.each(SOURCES)('fills the disk or forbids large files: %s is not less', async (source) => {
    for (const name of ['full_disk', 'file_limit']) {
      const { count } = await attack(name, source);
      // What is not known (null) fails.
      expect(count ?? Infinity).toBeGreaterThan(honest[source]?.count ?? 0);
    }
  });

  it('leaves a report that ends in half a line: nothing is known, and the harness ends well', async () => {
    const lines = String.raw`['totals: 3\n', '0x1 1\n', '0x2']`;
    const look = `import sys; sys.path.insert(0, '/usr/local/lib/kervyxa/python'); import dispatches`;
    const asked = `${look}; print(dispatches.count_dispatches(${lines}))`;
    const { stdout } = await runOnce(await openEngineBench(), `python3 -I -c "${asked}"`);
    expect(Buffer.from(stdout.head).toString()).toBe('None\n');
  });

  it.each([
    ['keeps work for when the guard is gone: the end comes before', 'late', 0],
    [
      'makes Python end in its own way, when the guard is gone: the end comes before',
      'late_by_force',
      125,
    ],
  ])('%s', async (_, name, exitCode) => {
    const { stdout, stderr } = await counter.run(OPCODES, `python3 try-${name}.py`);
    expect(Buffer.from(stderr.head).toString()).not.toContain('DONE');
    expect(Buffer.from(stdout.head).toString()).toContain(`"exitCode":${exitCode},`);
  });

  it('holds what it writes until its end: it is written', async () => {
    expect(await attack('held')).toMatchObject(rightAnswer);
  });

  it('is compiled already: does not run', async () => {
    expect(await attack('compiled')).toMatchObject({ exitCode: 1 });
  });

  it('prints a count of its own, wherever it can write: one line comes out, and the answer is wrong', async () => {
    const reading = await attack('forged_line');
    expect(reading.count).not.toBe(1);
    expect(reading.stdoutSha256).not.toBe(sha256Hex(ANSWER));
  });

  it('leaves at once with the whole answer: the work is counted, Python’s own end is not', async () => {
    const [reading, nothing] = await Promise.all([attack('early_with_answer'), attack('prepared')]);
    expect(reading).toMatchObject(rightAnswer);
    expect(nothing).toMatchObject(rightAnswer);
    // Beside the work only a few dozen instructions make the difference.
    const work = 20_000 * 7;
    expect((reading.count ?? 0) - (nothing.count ?? 0)).toBeGreaterThan(work);
  });

  it('leaves early, aborts or fails: the reading says so', async () => {
    expect((await attack('early')).stdoutSha256).toBe(sha256Hex('3\n'));
    expect(await attack('abort')).toMatchObject({ exitCode: null, signal: 'SIGABRT' });
    expect(await attack('failing')).toMatchObject({ exitCode: 3, signal: null });
  });

  it('kills the harness: there is no reading, and the container fails', async () => {
    const { exitCode, stdout } = await counter.run(OPCODES, 'python3 try-kill.py');
    expect(exitCode).toBe(137);
    expect(stdout.bytesTotal).toBe(0);
  });

  it('is a shell script that starts or becomes a program: it can not, or is not counted', async () => {
    const piped = await counter.count('instructions', './piped.sh');
    expect(piped).toMatchObject({ stdoutSha256: sha256Hex(''), exitCode: 2 });
    expect(await counter.count('instructions', './became.sh')).toEqual({
      ...rightAnswer,
      count: null,
    });
  });
});
