import { deepEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { MetricScanner, type MetricReading } from '../../../packages/verifier/src/metric.ts';
import { soup } from '../arbitraries.ts';
import { defineTarget } from '../target.ts';

const MARKER = 'KERVYXA_METRIC';
/** No line that is longer than this is right. */
const LINE_MAX = 128;

const number = fc.oneof(
  fc.double().map(String),
  fc.integer().map(String),
  fc.bigInt().map(String),
  soup(['-', '+', '0', '1', '25', '.', 'e', 'E', '99', '_', ',', ' ', 'x', 'Infinity', 'NaN'], 6),
  fc.tuple(fc.nat(), fc.integer({ min: -400, max: 400 })).map(([a, b]) => `${a}e${b}`),
);
const line = fc.oneof(
  { weight: 3, arbitrary: number.map((text) => `${MARKER}=${text}`) },
  soup(
    [MARKER, 'KERVYXA', '=', ' ', '1', '\r', '\u2028', '\0', '\u001b[2K', 'x'.repeat(LINE_MAX)],
    4,
  ),
);
const end = fc.constantFrom('\n', '\r\n', '\n\n', '\r', '');
const text = fc
  .array(fc.tuple(line, end), { maxLength: 4 })
  .map((lines) => Buffer.from(lines.flat().join('')));
const cuts = fc.array(fc.nat(300), { maxLength: 6 });

export const metricTarget = defineTarget('metric lines', {
  input: fc.tuple(fc.oneof(text, fc.uint8Array()), cuts),
  holds([bytes, places]) {
    const found = scan(bytes, places);
    const wanted = readNaively(Buffer.from(bytes).toString('latin1'));
    const isLong = typeof wanted === 'object' && wanted.line.length > LINE_MAX;
    deepEqual(
      sayOf(found),
      isLong ? 'malformed' : typeof wanted === 'object' ? wanted.value : wanted,
    );
  },
});

function scan(bytes: Uint8Array, places: readonly number[]): MetricReading {
  const scanner = new MetricScanner();
  let at = 0;
  for (const place of places.toSorted((a, b) => a - b)) {
    scanner.push(bytes.subarray(at, place));
    at = Math.max(at, Math.min(place, bytes.length));
  }
  scanner.push(bytes.subarray(at));
  return scanner.finish();
}

function sayOf(reading: MetricReading): unknown {
  return reading.kind === 'one' ? reading.value : reading.kind;
}

/** The whole text at once, a character at a time. */
function readNaively(all: string): string | { readonly line: string; readonly value: number } {
  const attempts = all.split('\n').filter((each) => each.startsWith(MARKER));
  const [attempt] = attempts;
  if (attempt === undefined) return 'none';
  if (attempts.length > 1) return 'several';
  if (attempt[MARKER.length] !== '=') return 'malformed';
  const digits = attempt.slice(MARKER.length + 1).replace(/\r$/, '');
  const value = numberOf(digits);
  return value === null ? 'malformed' : { line: attempt, value };
}

function numberOf(digits: string): number | null {
  let at = digits.startsWith('-') ? 1 : 0;
  const run = (): string => {
    const start = at;
    while ('0123456789'.includes(digits[at] ?? '?')) at += 1;
    return digits.slice(start, at);
  };
  const whole = run();
  if (whole === '' || (whole.length > 1 && whole.startsWith('0'))) return null;
  let part = '';
  if (digits[at] === '.') {
    at += 1;
    part = run();
    if (part === '') return null;
  }
  if (digits[at] === 'e' || digits[at] === 'E') {
    at += 1;
    if (digits[at] === '+' || digits[at] === '-') at += 1;
    const exponent = run();
    if (exponent === '' || exponent.length > 3) return null;
  }
  if (at < digits.length) return null;
  return isHeld(BigInt(whole + part), Number(digits)) ? Number(digits) || 0 : null;
}

/** What a double takes without losing a digit: 17 of them, whole up to 2^53, and nought only where it is nought. */
function isHeld(mantissa: bigint, value: number): boolean {
  if (mantissa === 0n) return value === 0;
  let rest = mantissa;
  while (rest % 10n === 0n) rest /= 10n;
  if (rest >= 10n ** 17n || value === 0 || Math.abs(value) === Infinity) return false;
  return value % 1 !== 0 || Math.abs(value) < 2 ** 53;
}
