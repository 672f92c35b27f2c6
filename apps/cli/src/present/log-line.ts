import { toPrintable } from '@kervyxa/core';
import { z } from 'zod';
import type { Screen } from '../host.ts';
import { pad } from './text.ts';

const LEVELS = {
  trace: ['·', 'dim'],
  debug: ['·', 'dim'],
  info: [' ', 'dim'],
  warn: ['!', 'yellow'],
  error: ['✗', 'red'],
  fatal: ['✗', 'red'],
} as const;
const PART_COLUMNS = 10;
const VALUE_LENGTH_MAX = 120;

/** What pino writes; whoever logs adds fields of its own. */
const LineSchema = z.looseObject({
  level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']),
  time: z.string(),
  part: z.string().optional(),
  msg: z.string().default(''),
  err: z.looseObject({ message: z.string(), code: z.string().optional() }).optional(),
});

/** `12:34:56   worker    run sealed  verdict=PASS`: a line of JSON for a person. What is no such line is shown as it is. */
export function toLogLine(json: string, { colors }: Pick<Screen, 'colors'>): string {
  const parsed = LineSchema.safeParse(parseJson(json));
  if (!parsed.success) return toPrintable(json.trimEnd());
  const { level, time, part = '', msg, err, ...facts } = parsed.data;
  const [mark, paint] = LEVELS[level];
  const details = Object.entries(facts)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => toPrintable(`${name}=${sayValue(value)}`, VALUE_LENGTH_MAX));
  if (err !== undefined) details.push(sayError(err));
  const start = `${time.slice(11, 19)} ${mark} ${pad(toPrintable(part, PART_COLUMNS), PART_COLUMNS)}`;
  const end = details.length === 0 ? '' : `  ${colors.dim(details.join(' '))}`;
  return `${colors[paint](start)}${toPrintable(msg, 300)}${end}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function sayValue(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function sayError({ code, message }: { message: string; code?: string | undefined }): string {
  return toPrintable(code === undefined ? message : `${code}: ${message}`, 300);
}
