import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { sha256Hex } from '@kervyxa/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANSWER, PROGRAMS } from './testing/attacks.ts';
import { type Counter, openCounter } from './testing/counter.ts';

/**
 * Numbers up to 256 are there already in Python, larger ones are made: the kernel's numbers of the file systems, which it
 * reads at its start, are one or the other as the engine has few or many mounts at that time.
 */
const START_BYTES_SPREAD = 1_024;

let counter: Counter;
beforeAll(async () => {
  counter = await openCounter({
    'honest.py': PROGRAMS.honest ?? '',
    'loop.py': 'import sys\nfor i in range(int(sys.argv[1])):\n    i * i\n',
    'hold.py': 'import sys\nblock = bytes(int(sys.argv[1]))\nblock = None\nprint(1)\n',
    'library.py':
      'import collections, csv, dataclasses, datetime, decimal, enum, fractions, functools, hashlib, heapq, itertools\n' +
      'import json, logging, math, pickle, random, re, statistics, string, struct, tempfile, typing, unittest, zlib\n' +
      'import xml.etree.ElementTree as tree, local.part\n' +
      'Point = collections.namedtuple("Point", "x y")\n' +
      'print(Point(1, 2), json.loads("[1]"), tree.fromstring("<a>b</a>").text, decimal.Decimal(1), local.part.NAME)\n' +
      'with tempfile.TemporaryFile() as file: file.write(b"x")\n',
    'local/part.py': 'NAME = __name__\n',
    'run.sh': { script: '#!/bin/sh\necho "$1"\n' },
  });
});
afterAll(() => counter.close());

// Keeps R-COUNT-EXACT.
describe('counted Python', { timeout: 600_000 }, () => {
  it('counts each round of a loop the same, and says what the program printed', async () => {
    const [one, two, three] = await Promise.all(
      [10_000, 20_000, 30_000].map((n) =>
        counter.count('python_opcode_count', `python3 loop.py ${n}`),
      ),
    );
    const round = (two?.count ?? 0) - (one?.count ?? 0);
    expect((three?.count ?? 0) - (two?.count ?? 0)).toBe(round);
    // FOR_ITER, STORE_NAME, two LOAD_NAME, BINARY_OP, POP_TOP, JUMP_BACKWARD; none of them is fused at module level.
    expect(round / 10_000).toBe(7);
    expect(one).toMatchObject({ stdoutSha256: sha256Hex(''), exitCode: 0, signal: null });
  });

  it('takes the highest memory, also of what is free again, as exactly as Python starts', async () => {
    const [one, two] = await Promise.all(
      [3_000_000, 4_000_000].map((n) => counter.count('python_peak_bytes', `python3 hold.py ${n}`)),
    );
    const more = (two?.count ?? 0) - (one?.count ?? 0);
    expect(Math.abs(more - 1_000_000)).toBeLessThanOrEqual(START_BYTES_SPREAD);
    expect(one?.stdoutSha256).toBe(sha256Hex('1\n'));
  });

  it('runs programs that use the standard library and modules beside the script', async () => {
    const reading = await counter.count('python_opcode_count', 'python3 library.py');
    expect(reading.stdoutSha256).toBe(sha256Hex('Point(x=1, y=2) [1] b 1 local.part\n'));
    expect(reading.exitCode).toBe(0);
    expect(reading.count).not.toBeNull();
  });

  it('refuses a command that is no plain script, as the fault of no solver', async () => {
    const outcomes = await Promise.all(
      ['python3', 'python3 -c pass', 'python3 -S honest.py', './run.sh'].map((command) =>
        counter.run('python_opcode_count', command),
      ),
    );
    expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([126, 126, 126, 126]);
  });
});

// Keeps R-COUNT-EXACT.
describe('counted instructions', { timeout: 600_000 }, () => {
  it('counts any program, scripts with an interpreter line too', async () => {
    const [awk, script] = await Promise.all([
      counter.count('instructions', `awk 'BEGIN { for (i = 0; i < 1000; i++) n += i; print n }'`),
      counter.count('instructions', './run.sh 7'),
    ]);
    expect(awk.stdoutSha256).toBe(sha256Hex('499500\n'));
    expect(script.stdoutSha256).toBe(sha256Hex('7\n'));
    expect(awk.count).toBeGreaterThan(100_000);
    expect(script.count).toBeGreaterThan(100_000);
  });

  it('ends as a shell does where the program is not there or can not be run', async () => {
    const outcomes = await Promise.all(
      ['nothing-like-it', './honest.py'].map((command) => counter.run('instructions', command)),
    );
    expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([127, 126]);
  });
});

// Keeps R-COUNT-EXACT.
describe('one program, twenty times, half of them beside busy neighbours', () => {
  it.each([
    ['python_opcode_count', 0],
    ['python_peak_bytes', START_BYTES_SPREAD],
    ['instructions', 10_000],
  ])('has one %s, give or take %i', { timeout: 1_800_000 }, async (source, spread) => {
    const counts: number[] = [];
    const takeFive = async (): Promise<void> => {
      for (let round = 0; round < 5; round += 1) {
        const { count, ...end } = await counter.count(source, 'python3 honest.py');
        expect(end).toEqual({ stdoutSha256: sha256Hex(ANSWER), exitCode: 0, signal: null });
        counts.push(count ?? Number.NaN);
      }
    };
    const takeTen = () => Promise.all([takeFive(), takeFive()]);
    await takeTen();
    await besideBusyNeighbours(takeTen);
    expect(counts).toHaveLength(20);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(spread);
  });
});

async function besideBusyNeighbours(work: () => Promise<unknown>): Promise<void> {
  const busy = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  try {
    await work();
  } finally {
    const ended = busy.map((child) => once(child, 'exit'));
    for (const child of busy) child.kill('SIGKILL');
    await Promise.all(ended);
  }
}
