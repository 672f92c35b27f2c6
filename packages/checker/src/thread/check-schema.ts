import { Worker } from 'node:worker_threads';
import { checkerError } from '../errors.ts';
import type { SchemaCheck } from './schema-check.ts';

export interface SchemaCheckLimits {
  /** Of the check alone, without the start of its thread. */
  readonly timeoutMs: number;
  readonly memoryMb: number;
}

/** Far more than an honest schema needs: on a busy machine a check must end as on an idle one. */
const LIMITS: SchemaCheckLimits = { timeoutMs: 10_000, memoryMb: 128 };
const START_MS_MAX = 60_000;
const STACK_MB = 4;
const YOUNG_MB = 16;
const THREADS_MAX = 2;
const TOO_DEEP = 'expected levels that a reader can count, got more';

const free = { threads: THREADS_MAX };
const waiting: (() => void)[] = [];

/**
 * Checks a JSON value against a JSON Schema 2020-12 of an author's, in a thread of its own: local references only,
 * formats are annotations, regular expressions as RE2. Two at a time; others wait.
 *
 * Throws CHECKER_SCHEMA_UNCHECKED where the thread, and not the schema, fails.
 */
export async function checkAgainstSchema(
  schema: unknown,
  value: unknown,
  limits: Partial<SchemaCheckLimits> = {},
): Promise<SchemaCheck> {
  const schemaText = toText(schema);
  if (schemaText === null) return { kind: 'schema_broken', message: TOO_DEEP };
  const valueText = toText(value);
  if (valueText === null) {
    return { kind: 'invalid', problems: [{ pointer: '', message: TOO_DEEP }] };
  }
  if (free.threads === 0) await new Promise<void>((enter) => waiting.push(enter));
  else free.threads -= 1;
  try {
    return await runThread({ schemaText, valueText }, { ...LIMITS, ...limits });
  } finally {
    const next = waiting.shift();
    if (next === undefined) free.threads += 1;
    else next();
  }
}

/** Null for what is nested so deep that writing it down takes more stack than there is. */
function toText(value: unknown): string | null {
  try {
    const text = JSON.stringify(value);
    if (text === undefined) throw new TypeError('expected a JSON value, got undefined');
    return text;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

async function runThread(
  texts: { readonly schemaText: string; readonly valueText: string },
  { timeoutMs, memoryMb }: SchemaCheckLimits,
): Promise<SchemaCheck> {
  const end = Promise.withResolvers<SchemaCheck>();
  const thread = new Worker(new URL('schema-thread.ts', import.meta.url), {
    workerData: texts,
    env: {},
    execArgv: [],
    resourceLimits: {
      maxOldGenerationSizeMb: memoryMb,
      maxYoungGenerationSizeMb: YOUNG_MB,
      stackSizeMb: STACK_MB,
    },
  });
  let timer = setTimeout(() => end.reject(unchecked('its start')), START_MS_MAX);
  thread.on('message', (message: 'ready' | SchemaCheck) => {
    if (message !== 'ready') return end.resolve(message);
    clearTimeout(timer);
    timer = setTimeout(() => end.resolve(tooMuch(`${timeoutMs} ms`)), timeoutMs);
  });
  thread.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') end.resolve(tooMuch(`${memoryMb} MB`));
    else end.reject(unchecked('its answer', error));
  });
  thread.on('exit', () => end.reject(unchecked('its answer')));
  try {
    return await end.promise;
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}

function tooMuch(limit: string): SchemaCheck {
  return {
    kind: 'schema_broken',
    message: `expected a check of the value against the schema within ${limit}, got none`,
  };
}

function unchecked(expected: string, cause?: unknown): Error {
  return checkerError('CHECKER_SCHEMA_UNCHECKED', {
    message: `expected of the thread that checks against JSON Schemas ${expected}, got none`,
    fix: 'It is worth another try; a machine without memory to spare may keep threads from starting.',
    cause,
  });
}
