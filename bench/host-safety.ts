import { setTimeout as delay } from 'node:timers/promises';
import { HOSTILE_SCRIPTS } from '../test/scenarios/hostile/attacks.ts';
import { type HostileStage, openHostileStage } from '../test/scenarios/hostile/stage.ts';
import { percentile } from './load.ts';
import { median, ratio, type Ratio, type Sample, timed } from './measure.ts';
import { say } from './run.ts';

const IDLE_LOOKS = 200;
/** One person may ask so often without being asked to wait. */
const PAUSE_MS = 150;
const P95_TIMES_MAX = 5;
const STORY_MS_MAX = 900_000;
const IDLE = 'a look at a list through the API, idle';
const BUSY = 'the same while hostile commits are verified';

/** (e): what those who only look notice of twenty hostile submissions, one after another, on the same machine. */
export async function benchHostSafety(): Promise<[Ratio[], Record<string, Sample>]> {
  await using stack = new AsyncDisposableStack();
  const stage = await openHostileStage(stack, AbortSignal.timeout(STORY_MS_MAX));
  const idleMs = await lookWhile(stage, (count) => count < IDLE_LOOKS);
  let isDone = false;
  const looking = lookWhile(stage, () => !isDone);
  try {
    for (const [index, { name }] of HOSTILE_SCRIPTS.entries()) {
      say(`hostile submission ${index + 1} of ${HOSTILE_SCRIPTS.length}: ${name}`);
      await stage.submit(name);
    }
  } finally {
    isDone = true;
  }
  const busyMs = await looking;
  const times = percentile(busyMs, 0.95) / percentile(idleMs, 0.95);
  const title = 'the API’s p95 beside hostile submissions / idle';
  return [
    [ratio('e-api-p95', title, times, P95_TIMES_MAX)],
    { [IDLE]: toSample(IDLE, idleMs), [BUSY]: toSample(BUSY, busyMs) },
  ];
}

async function lookWhile(
  stage: HostileStage,
  goesOn: (count: number) => boolean,
): Promise<number[]> {
  const found: number[] = [];
  // The first look of a connection is not one.
  await stage.look();
  while (goesOn(found.length)) {
    found.push(await timed(() => stage.look()));
    await delay(PAUSE_MS);
  }
  return found;
}

function toSample(name: string, runsMs: readonly number[]): Sample {
  return { name, runsMs, medianMs: median(runsMs) };
}
