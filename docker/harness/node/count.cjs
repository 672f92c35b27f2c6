'use strict';

// kervyxa-count (node_block_count | node_peak_heap_bytes) node SCRIPT ARGUMENT…
// Runs the program as its child and prints one line: KERVYXA_COUNT={"count":…,"stdoutSha256":…,"exitCode":…,"signal":…}
const { spawn } = require('node:child_process');
const { createHash, randomBytes } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { measureHeap } = require('./heap.cjs');

/** As for a program that can't be run: the fault of no solver. */
const NOT_COUNTABLE = 126;
const TOKEN_BYTES = 32;
const REPORT_BYTES_MAX = 256;

/** The same work every time: one thread, fixed seeds, nothing that looks at the clock. */
const STABLE = [
  '--predictable',
  '--hash-seed=1',
  '--random-seed=1',
  '--no-detect-ineffective-gcs-near-heap-limit',
];
/** No writing, no processes, no threads, no native code, no debugger, and no text that becomes code unseen. */
const CONFINED = [
  '--permission',
  '--disable-sigusr1',
  '--disallow-code-generation-from-strings',
  '--no-expose-wasm',
  '--no-experimental-sqlite',
  '--no-experimental-websocket',
  '--disable-warning=ExperimentalWarning',
];

async function main() {
  const [source, program, script, ...scriptArguments] = process.argv.slice(2);
  if (program !== 'node' || script === undefined || script.startsWith('-')) {
    say(`expected node SCRIPT ARGUMENTS, got ${[program, script].join(' ')}`);
    process.exitCode = NOT_COUNTABLE;
    return;
  }
  const command = [script, ...scriptArguments];
  const result =
    source === 'node_block_count' ? await countBlocks(command) : await measureHeap(run, command);
  fs.writeSync(1, `KERVYXA_COUNT=${JSON.stringify(result)}\n`);
}

async function countBlocks(command) {
  const { report, ...result } = await run({ mode: 'count', command, stdin: 0, isShown: true });
  return { count: report, ...result };
}

/**
 * Runs the program once.
 * @param {object} options `mode` of child.cjs, `command`, `flags` for node, `dataMiB` for all memory that is not shared,
 *   `stdin` is a descriptor, `isShown` puts what the program prints on stderr
 * @returns {Promise<{ report: number | null, stdoutSha256: string, exitCode: number | null, signal: string | null }>}
 *   `report` is what the child says it counted, null unless it ended well and said so itself and once
 */
function run({ mode, command, flags = [], dataMiB = 'unlimited', stdin, isShown }) {
  const token = randomBytes(TOKEN_BYTES / 2).toString('hex');
  const args = [
    ...STABLE,
    ...CONFINED,
    ...readable().map((folder) => `--allow-fs-read=${folder}`),
    ...flags,
    path.join(__dirname, 'child.cjs'),
    mode,
    ...command,
  ];
  const kib = dataMiB === 'unlimited' ? dataMiB : dataMiB * 1024;
  const shell = ['-c', `ulimit -d ${kib} && exec "$0" "$@"`, process.execPath, ...args];
  const child = spawn('/bin/sh', shell, {
    stdio: [stdin, 'pipe', isShown ? 2 : 'ignore', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '', UV_THREADPOOL_SIZE: '1' },
  });
  const [, stdout, , channel] = child.stdio;
  // A child that died has closed it.
  channel.on('error', () => undefined);
  channel.write(token);
  const hash = createHash('sha256');
  stdout.on('data', (bytes) => {
    hash.update(bytes);
    if (isShown) writeAll(bytes);
  });
  let reports = '';
  channel.setEncoding('latin1').on('data', (text) => {
    if (reports.length <= REPORT_BYTES_MAX) reports += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode, signal) => {
      const report = exitCode === 0 ? reportIn(reports, token) : null;
      resolve({ report, stdoutSha256: hash.digest('hex'), exitCode, signal });
    });
  });
}

/** What the program may read. Folders that are not there are no fault. */
function readable() {
  const { KERVYXA_VERIFIER_PACKAGE: hidden, KERVYXA_DEPS: bundle } = process.env;
  return [process.cwd(), hidden, bundle, __dirname, '/dev/stdin', '/dev/null'].filter(Boolean);
}

function reportIn(text, token) {
  const [, said, count] = /^([0-9a-f]{32}) (\d{1,16})\n$/.exec(text) ?? [];
  const number = Number(count);
  return said === token && Number.isSafeInteger(number) ? number : null;
}

function writeAll(bytes) {
  for (let at = 0; at < bytes.length;) at += fs.writeSync(2, bytes, at, bytes.length - at);
}

function say(text) {
  fs.writeSync(2, `kervyxa-count: ${text}\n`);
}

main();
