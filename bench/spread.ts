import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { packTree, sha256Hex, systemClock, type TreeArchive } from '@kervyxa/core';
import { COUNTED_SOURCES, type CountedSource } from '@kervyxa/contract';
import type { Sandbox, SandboxSession } from '@kervyxa/sandbox';
import { createDockerSandbox } from '@kervyxa/sandbox/docker';
import { ensureReady } from '@kervyxa/setup';
import { median } from './measure.ts';
import { say } from './run.ts';

// node bench/spread.ts [SOURCE…]: one fixed workload per counted source, ten times at rest and ten times beside
// processes that never rest. docs/contracts.md has the numbers.

const RUNS = 10;
const MIB = 1_024 * 1_024;
const LIMITS = {
  memoryBytes: 1_024 * MIB,
  cpuCount: 1,
  pidsMax: 128,
  workspaceBytes: 64 * MIB,
  outputBytes: MIB,
};
const { signal } = new AbortController();

interface Workload {
  readonly runtime: string;
  readonly command: string;
}
const NODE: Workload = { runtime: 'kervyxa-runtime/node:22', command: 'node work.js' };
const PYTHON: Workload = { runtime: 'kervyxa-runtime/python:1', command: 'python3 work.py' };
const WORKLOADS: Readonly<Record<CountedSource, Workload>> = {
  node_block_count: NODE,
  node_peak_heap_bytes: NODE,
  python_opcode_count: PYTHON,
  python_peak_bytes: PYTHON,
  instructions: PYTHON,
};

/** Sorts by swapping, and keeps an index of words: both loops and memory. */
const FILES = {
  'work.js': `let seed = 1;
const next = () => (seed = (seed * 48271) % 2147483647);
const items = Array.from({ length: 2000 }, next);
for (let i = 0; i < items.length; i += 1)
  for (let j = 0; j + 1 < items.length - i; j += 1)
    if (items[j] > items[j + 1]) [items[j], items[j + 1]] = [items[j + 1], items[j]];
const index = new Map();
for (let i = 0; i < 200000; i += 1) {
  const word = 'w' + (next() % 20000);
  index.set(word, [...(index.get(word) ?? []), i]);
}
console.log(items[0], items.at(-1), index.size);
`,
  'work.py': `seed = 1
def following():
    global seed
    seed = seed * 48271 % 2147483647
    return seed
items = [following() for _ in range(300)]
for i in range(len(items)):
    for j in range(len(items) - 1 - i):
        if items[j] > items[j + 1]:
            items[j], items[j + 1] = items[j + 1], items[j]
index = {}
for i in range(20000):
    index.setdefault("w" + str(following() % 2000), []).append(i)
print(items[0], items[-1], len(index))
`,
};

interface Reading {
  readonly count: number;
  readonly durationMs: number;
}

async function main(names: readonly string[]): Promise<void> {
  const sources = COUNTED_SOURCES.filter((name) => names.length === 0 || names.includes(name));
  const { dockerHost, runtimes } = await ensureReady({ log: say, interactive: false });
  const imageOf = (name: string): string => runtimes.get(name)?.imageId ?? '';
  const toolsImage = imageOf(NODE.runtime);
  const sandbox = createDockerSandbox({ dockerHost, toolsImage, clock: systemClock });
  say('source                  count (median)   spread of counts   wall-clock, min to max');
  for (const source of sources) {
    const { runtime, command } = WORKLOADS[source];
    const take = (): Promise<Reading[]> => measure(sandbox, imageOf(runtime), source, command);
    say(rowOf(source, [...(await take()), ...(await besideBusyNeighbours(take))]));
  }
}

async function measure(
  sandbox: Sandbox,
  image: string,
  source: CountedSource,
  command: string,
): Promise<Reading[]> {
  const request = { image, limits: LIMITS, tree: treeOf(FILES), verifierPackage: null };
  const session = await sandbox.openSession({ ...request, runsMax: RUNS }, signal);
  try {
    const readings: Reading[] = [];
    while (readings.length < RUNS) {
      readings.push(await readOnce(session, `exec kervyxa-count ${source} ${command}`));
    }
    return readings;
  } finally {
    await session.close();
  }
}

async function readOnce(session: SandboxSession, command: string): Promise<Reading> {
  const run = { command, timeoutMs: 600_000, package: 'none' as const };
  const staged = await session.stage(run, signal);
  try {
    const { stdout, stderr, durationMs } = await staged.release(signal);
    const text = Buffer.from(stdout.head).toString();
    const count = /^KERVYXA_COUNT=\{"count": ?(\d+),/.exec(text)?.[1];
    if (count !== undefined) return { count: Number(count), durationMs };
    throw new Error(`expected a count, got ${text}${Buffer.from(stderr.head).toString()}`);
  } finally {
    await staged.dispose();
  }
}

async function besideBusyNeighbours<T>(work: () => Promise<T>): Promise<T> {
  const busy: ChildProcess[] = Array.from({ length: 2 * availableParallelism() }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  try {
    return await work();
  } finally {
    const ended = busy.map((child) => once(child, 'exit'));
    for (const child of busy) child.kill('SIGKILL');
    await Promise.all(ended);
  }
}

function rowOf(source: string, readings: readonly Reading[]): string {
  const counts = readings.map(({ count }) => count);
  const times = readings.map(({ durationMs }) => durationMs / 1_000);
  const spread = Math.max(...counts) - Math.min(...counts);
  const percent = ((100 * spread) / median(counts)).toPrecision(2);
  return [
    source.padEnd(22),
    String(median(counts)).padStart(15),
    `${spread} (${percent} %)`.padStart(18),
    `   ${Math.min(...times).toFixed(2)} to ${Math.max(...times).toFixed(2)} s`,
  ].join(' ');
}

function treeOf(files: Readonly<Record<string, string>>): TreeArchive {
  const entries = Object.entries(files).map(([path, text]) => {
    const content = Buffer.from(text);
    return { type: 'file', path, executable: false, size: content.length, content } as const;
  });
  return {
    digest: sha256Hex(JSON.stringify(files)),
    entryCount: entries.length,
    bytesTotal: entries.reduce((sum, { size }) => sum + size, 0),
    open: (abort) => packTree(inOrder(entries), abort),
  };
}

async function* inOrder<T>(entries: readonly T[]): AsyncGenerator<T> {
  yield* entries;
}

await main(process.argv.slice(2));
