import { randomInt } from 'node:crypto';
import { isAppError } from '@kervyxa/core';
import * as fc from 'fast-check';
import { startWatchdog } from './watchdog.ts';

/** One reader under odd input. `run` tries inputs until the time is over or one of them breaks it. */
export interface FuzzTarget {
  readonly name: string;
  run(options: FuzzOptions): Promise<FuzzEnd>;
}

export interface FuzzOptions {
  readonly milliseconds: number;
  /** Inputs that once broke it, as `toSeed` wrote them; tried first. */
  readonly seeds: readonly unknown[];
  /** Where chance begins; the same again brings the same inputs. A new one unless given. */
  readonly seed?: number | undefined;
}

export interface FuzzEnd {
  readonly runCount: number;
  /** The smallest input found that breaks the reader, and how; null where none was found. */
  readonly failure: { readonly seed: unknown; readonly why: string } | null;
}

interface TargetParts<Input> {
  readonly input: fc.Arbitrary<Input>;
  /** Throws where the reader does something that its reference would not. */
  readonly holds: (input: Input) => void | Promise<void>;
}

/** `Input` is made of what JSON holds and of bytes, so that it can be kept as a seed. */
export function defineTarget<Input>(
  name: string,
  { input, holds }: TargetParts<Input>,
): FuzzTarget {
  return {
    name,
    async run({ milliseconds, seeds, seed: start = randomInt(2 ** 31) }) {
      const watchdog = await startWatchdog(name, start);
      const property = fc.asyncProperty(input, async (value) => {
        watchdog.beat();
        await holds(value);
      });
      const found = await fc.check(property, {
        seed: start,
        examples: seeds.map((seed) => [fromSeed(seed) as Input]),
        numRuns: Number.MAX_SAFE_INTEGER,
        interruptAfterTimeLimit: milliseconds,
        markInterruptAsFailure: false,
      });
      await watchdog.stop();
      const [broken] = found.counterexample ?? [];
      const why = String(found.errorInstance);
      return {
        runCount: found.numRuns,
        failure: found.failed ? { seed: toSeed(broken), why } : null,
      };
    },
  };
}

/** What a reader answers, or the code with which it refuses. Anything else that it throws is a crash, and thrown on. */
export async function answerOf<T>(
  read: () => T | Promise<T>,
): Promise<{ readonly value: T } | { readonly refused: string }> {
  try {
    return { value: await read() };
  } catch (error) {
    if (isAppError(error) && error.traits.fault !== 'bug') return { refused: error.code };
    throw error;
  }
}

export function toSeed(value: unknown): unknown {
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') };
  if (Array.isArray(value)) return value.map(toSeed);
  return value;
}

function fromSeed(seed: unknown): unknown {
  if (Array.isArray(seed)) return seed.map(fromSeed);
  const isBytes = typeof seed === 'object' && seed !== null && 'base64' in seed;
  return isBytes && typeof seed.base64 === 'string' ? Buffer.from(seed.base64, 'base64') : seed;
}
