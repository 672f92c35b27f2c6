import { statfs } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { isAppError, toPrintable, type Clock } from '@kervyxa/core';
import type { Sandbox } from '@kervyxa/sandbox';
import type { Log } from './scheduler/nudge.ts';
import { until } from './until.ts';

export interface HealthOptions {
  readonly sandbox: Pick<Sandbox, 'resolveImage' | 'inspect'>;
  readonly runtimes: ReadonlyMap<string, string>;
  /** On the disk that fetched repositories and captures go to. */
  readonly stateFolder: string;
  readonly log: Log;
  readonly everyMs?: number;
  /** Free bytes below which no work is taken. */
  readonly diskBytesMin?: number;
  readonly clock: Clock;
}

/** Whether this machine can do a job now. A worker that can't takes none, and is found well again by itself. */
export interface Health {
  /** Null where it is well. */
  problem(): string | null;
  /** Looks now. Never rejects. */
  check(): Promise<void>;
  /**
   * A job ended for a reason that may be this machine's, though it looks well: it rests, twice as long each time until
   * one ends well, so that it does not use up the tries of a whole queue that another could do.
   */
  blame(reason: string): void;
  /** A job ended well. */
  clear(): void;
  /** Resolves when it is well, or the signal is aborted. */
  whenWell(signal: AbortSignal): Promise<void>;
  /** Looks again and again until the signal is aborted; calls back after each look. */
  watch(signal: AbortSignal, onLook: () => Promise<void>): Promise<void>;
}

const EVERY_MS = 3_000;
/** What intake wants free before it fetches, and a little: with less, every fetch would end as trouble of ours. */
const DISK_BYTES_MIN = 2_500_000_000;
const REST_FIRST_MS = 5_000;
const REST_DOUBLINGS_MAX = 4;
/** An engine that is well answers in a few milliseconds. */
const ANSWER_MS = 5_000;

export function createHealth(options: HealthOptions): Health {
  const { log, clock, everyMs = EVERY_MS } = options;
  let problem: string | null = 'not looked at yet';
  let well = Promise.withResolvers<void>();
  /** Numbers in a problem change with every look: it is told once. */
  let isTold = false;
  let blames = 0;
  let rest: { readonly problem: string; readonly untilMs: number } | null = null;

  const set = (found: string | null): void => {
    if (found === null && problem !== null) {
      log.info({}, 'well: taking work');
      well.resolve();
      isTold = false;
    }
    if (found !== null && problem === null) well = Promise.withResolvers();
    if (found !== null && !isTold) {
      log.warn({ problem: found }, 'sick: taking no work');
      isTold = true;
    }
    problem = found;
  };
  const check = async (): Promise<void> => {
    const found = await findProblem(options);
    if (rest !== null && clock.monotonicMs() >= rest.untilMs) rest = null;
    set(found ?? rest?.problem ?? null);
  };
  return {
    problem: () => problem,
    check,
    blame: (reason) => {
      const ms = REST_FIRST_MS * 2 ** Math.min(blames, REST_DOUBLINGS_MAX);
      blames += 1;
      rest = { problem: `a job ended with ${reason}`, untilMs: clock.monotonicMs() + ms };
      set(problem ?? rest.problem);
    },
    clear: () => {
      blames = 0;
    },
    whenWell: (signal) => until(well.promise, signal),
    watch: async (signal, onLook) => {
      while (!signal.aborted) {
        await check();
        await onLook();
        await delay(everyMs, undefined, { signal }).catch(() => undefined);
      }
    },
  };
}

async function findProblem(options: HealthOptions): Promise<string | null> {
  return (await findDiskProblem(options)) ?? (await findEngineProblem(options));
}

async function findDiskProblem({
  stateFolder,
  diskBytesMin = DISK_BYTES_MIN,
}: HealthOptions): Promise<string | null> {
  try {
    const { bavail, bsize } = await statfs(stateFolder);
    const free = bavail * bsize;
    if (free >= diskBytesMin) return null;
    return `expected ${toMegabytes(diskBytesMin)} free on the disk of ${stateFolder}, got ${toMegabytes(free)}`;
  } catch (error) {
    return `expected to look at the disk of ${stateFolder}, got ${textOf(error)}`;
  }
}

function toMegabytes(bytes: number): string {
  return `${Math.floor(bytes / 1_000_000)} MB`;
}

/** One call for each image of the catalogue: an engine that answers and has none of them is of no use either. */
async function findEngineProblem({ sandbox, runtimes }: HealthOptions): Promise<string | null> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  const look = async (): Promise<void> => {
    const images = new Set(runtimes.values());
    if (images.size === 0) await sandbox.inspect(signal);
    for (const image of images) await sandbox.resolveImage(image, signal);
  };
  try {
    await until(look(), signal);
    return signal.aborted ? `expected the engine to answer in ${ANSWER_MS} ms, got nothing` : null;
  } catch (error) {
    return textOf(error);
  }
}

function textOf(error: unknown): string {
  if (isAppError(error)) return `${error.code}: ${toPrintable(error.message, 300)}`;
  return toPrintable(error instanceof Error ? error.message : String(error), 300);
}
