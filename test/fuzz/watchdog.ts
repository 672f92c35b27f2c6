import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Whoever reads one input of a few kilobytes for so long does not come back. */
const HANG_SECONDS = 60;

/**
 * A thread that ends this process where one input takes for ever: whoever reads it holds the only other thread. It says
 * which input that is, counted from the seed of the run.
 */
export interface Watchdog {
  /** Another input begins. */
  beat(): void;
  stop(): Promise<void>;
}

const GUARD = `
const { workerData } = require('node:worker_threads');
const { writeSync } = require('node:fs');
const { beats, name, seed, seconds } = workerData;
let [last, quiet] = [-1, 0];
setInterval(() => {
  const now = Atomics.load(beats, 0);
  quiet = now === last ? quiet + 1 : 0;
  last = now;
  if (quiet < seconds) return;
  writeSync(2, 'HANGS: ' + name + ', at input ' + now + ' of FUZZ_SEED=' + seed + '\\n');
  process.kill(process.pid, 'SIGKILL');
}, 1_000);
`;

/** Resolves when the thread runs: it could not begin while the other one is busy. */
export async function startWatchdog(
  name: string,
  seed: number,
  seconds = HANG_SECONDS,
): Promise<Watchdog> {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { beats, name, seed, seconds };
  const worker = new Worker(GUARD, { eval: true, workerData, execArgv: [] });
  await once(worker, 'online');
  worker.unref();
  return {
    beat: () => void Atomics.add(beats, 0, 1),
    stop: async () => {
      await worker.terminate();
    },
  };
}
