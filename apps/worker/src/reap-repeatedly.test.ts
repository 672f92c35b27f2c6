import { expect, it } from 'vitest';
import { reapRepeatedly } from './reap-repeatedly.ts';

/** What is warned of when the rounds end like this, one after the other: a count, or a failure. */
async function warnedOf(rounds: readonly (number | Error)[]): Promise<readonly unknown[]> {
  const warned: unknown[] = [];
  const over = new AbortController();
  const left = [...rounds];
  const sandbox = {
    reap: async () => {
      const round = left.shift();
      if (round instanceof Error) throw round;
      if (round === undefined) over.abort();
      return round ?? 0;
    },
  };
  const ignore = (): void => undefined;
  const log = {
    info: ignore,
    error: ignore,
    warn: (facts: object) => warned.push(...Object.values(facts)),
  };
  await reapRepeatedly(sandbox, { log, everyMs: 1 }, over.signal);
  return warned;
}

it('warns of leftovers only when they can not be removed twice in a row', async () => {
  const [first, second] = [new Error('busy'), new Error('still busy')];
  expect(await warnedOf([first, 0, second, 0])).toEqual([]);
  expect(await warnedOf([first, second, 3])).toEqual([second, 3]);
});

it('says nothing of a failure once it is told to stop', async () => {
  const over = new AbortController();
  const warned: string[] = [];
  const warn = (_facts: object, message: string): void => void warned.push(message);
  const reap = async () => {
    tries += 1;
    if (tries === 2) over.abort();
    throw new Error('gone');
  };
  let tries = 0;
  await reapRepeatedly(
    { reap },
    { log: { info: warn, warn, error: warn }, everyMs: 1 },
    over.signal,
  );
  expect([tries, warned]).toEqual([2, []]);
});
