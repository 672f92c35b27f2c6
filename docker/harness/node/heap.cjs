'use strict';

// How much heap does a program need? The number is not read, it is imposed: the smallest of some limits under which the
// program still ends well and prints the same. V8 does the same work every time, so the number is the same every time.
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const MIB = 1024 * 1024;
/** Steps of 1 MiB below, and of about a thirtieth above. */
const FINE_UP_TO_MIB = 48;
const SMALLEST_MIB = 4;
const LARGEST_MIB = 64 * 1024;
/** What may lie outside of V8's heap, Node's own needs included: Buffers and typed arrays are no way around. */
const OUTSIDE_HEAP_MIB = 64;
/** What this process takes of the container's memory. */
const HARNESS_MIB = 64;

const FLAGS = ['--min-semi-space-size=1', '--max-semi-space-size=1'];

/**
 * @param run runs the program once, see count.cjs
 * @returns {Promise<{ count: number | null, stdoutSha256: string, exitCode: number | null, signal: string | null }>}
 */
async function measureHeap(run, command) {
  const stdin = openStdin();
  const tryWith = (limitMiB, isShown) =>
    run({
      mode: 'plain',
      command,
      flags: [...FLAGS, `--max-old-space-size=${limitMiB}`],
      dataMiB: limitMiB + OUTSIDE_HEAP_MIB,
      stdin: stdin(),
      isShown,
    });

  const limits = ladder(memoryLimitMiB());
  const { report, ...reference } = await tryWith(limits.at(-1), true);
  if (report === null) return { count: null, ...reference };
  const fits = async (limitMiB) => {
    const { report: said, stdoutSha256 } = await tryWith(limitMiB, false);
    return said !== null && stdoutSha256 === reference.stdoutSha256;
  };
  const limitMiB = await smallest(limits, fits);
  return { count: limitMiB * MIB, ...reference };
}

/** @returns {number[]} MiB, ascending, at least one */
function ladder(largestMiB) {
  const limits = [SMALLEST_MIB];
  for (;;) {
    const last = limits.at(-1);
    const next = last + Math.max(1, Math.floor((last - FINE_UP_TO_MIB) / 32) + 1);
    if (next > largestMiB) return limits;
    limits.push(next);
  }
}

/** The last of the limits is known to do. */
async function smallest(limits, fits) {
  let low = 0;
  let high = limits.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (await fits(limits[middle])) high = middle;
    else low = middle + 1;
  }
  return limits[high];
}

/** Of the container: beyond it the kernel kills. */
function memoryLimitMiB() {
  for (const file of ['memory.max', 'memory/memory.limit_in_bytes']) {
    const text = readIfThere(path.join('/sys/fs/cgroup', file));
    const bytes = Number(text ?? NaN);
    if (bytes > 0)
      return Math.min(Math.floor(bytes / MIB) - OUTSIDE_HEAP_MIB - HARNESS_MIB, LARGEST_MIB);
  }
  return Math.min(Math.floor(os.totalmem() / MIB), LARGEST_MIB);
}

function readIfThere(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

/** Each run reads the input from its beginning. */
function openStdin() {
  const kind = fs.fstatSync(0);
  if (!kind.isFile() && !kind.isFIFO() && !kind.isSocket()) return () => 0;
  const spool = path.join(os.tmpdir(), 'kervyxa-count-stdin');
  fs.writeFileSync(spool, kind.isFile() ? fs.readFileSync('/proc/self/fd/0') : fs.readFileSync(0));
  return () => fs.openSync(spool, 'r');
}

module.exports = { ladder, measureHeap, smallest };
