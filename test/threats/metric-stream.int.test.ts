import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type AttackBench, openAttackBench } from './attack-bench.ts';
import { submitPrograms } from './metric-bench.ts';

let bench: AttackBench;
beforeAll(async () => {
  bench = await openAttackBench();
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

// Keeps R-METRIC-ONE.
it('M01 prints a metric before the harness does, or after it: FAIL METRIC_DUPLICATED', async () => {
  const { said, ends } = await submitPrograms(bench, {
    before: 'echo KERVYXA_METRIC=1; echo KERVYXA_METRIC=500',
    after: 'echo KERVYXA_METRIC=500; echo KERVYXA_METRIC=1',
    'the-same': 'echo KERVYXA_METRIC=1; echo KERVYXA_METRIC=1',
    'and-a-broken-one': 'echo KERVYXA_METRIC=oops; echo KERVYXA_METRIC=1',
  });
  expect(new Set(Object.values(ends))).toEqual(new Set(['fail METRIC_DUPLICATED']));
  expect(said).toMatch(/^FAIL METRIC_DUPLICATED/);
});

it('M03 hides metrics behind CR, U+2028, U+2029 and NUL, no line ends here: FAIL METRIC_MISSING', async () => {
  const { ends } = await submitPrograms(bench, {
    cr: String.raw`printf 'foo\rKERVYXA_METRIC=1\n'`,
    separators: String.raw`printf 'ok\342\200\250KERVYXA_METRIC=1\342\200\251KERVYXA_METRIC=2\n'`,
    nul: String.raw`printf '\0KERVYXA_METRIC=1\n'`,
    'form-feed': String.raw`printf '\fKERVYXA_METRIC=1\v\n'`,
    beside: String.raw`printf 'ok\342\200\250KERVYXA_METRIC=1\nfoo\rKERVYXA_METRIC=2\nKERVYXA_METRIC=3\n'`,
  });
  expect(ends).toEqual({
    cr: 'fail METRIC_MISSING',
    separators: 'fail METRIC_MISSING',
    nul: 'fail METRIC_MISSING',
    'form-feed': 'fail METRIC_MISSING',
    beside: 'pass 3',
  });
});

// After the marker, as printf writes it.
const NO_NUMBERS = [
  ['empty', ''],
  ['hex', '0x10'],
  ['underscore', '1_000'],
  ['space-before', ' 5'],
  ['plus', '+5'],
  ['comma', '1,5'],
  ['unit', '12ms'],
  ['text-glued-on', '12.5WARN'],
  ['no-break-space', String.raw`\302\2405`],
  ['two-on-a-line', '1KERVYXA_METRIC=2'],
  ['two-with-a-space', '1 KERVYXA_METRIC=2'],
  ['full-width', String.raw`\357\274\225`],
  ['big-int', '1n'],
] as const;

it('M04 BUG-9 BUG-17 writes what some parser takes for a number: FAIL METRIC_MALFORMED', async () => {
  const programs = NO_NUMBERS.map(([id, text]) => [id, printed(text)]);
  const { ends, criteria } = await submitPrograms(bench, Object.fromEntries(programs));
  expect(ends).toEqual(Object.fromEntries(NO_NUMBERS.map(([id]) => [id, 'fail METRIC_MALFORMED'])));
  expect(criteria.map(({ metric }) => metric)).toEqual(NO_NUMBERS.map(() => null));
});

it.each(['lt', 'gt', 'lte', 'gte'] as const)(
  'M05 M06 BUG-17 prints NaN and infinities where less (or more) is better (%s): FAIL METRIC_MALFORMED',
  async (op) => {
    const numbers = { nan: 'NaN', infinity: 'Infinity', minus: '-Infinity', large: '1e999' };
    const programs = Object.entries(numbers).map(([id, text]) => [id, printed(text)]);
    const { ends, result } = await submitPrograms(bench, Object.fromEntries(programs), { op });
    expect(new Set(Object.values(ends))).toEqual(new Set(['fail METRIC_MALFORMED']));
    // What JSON can't carry was never there.
    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
  },
);

it('M08 prints what a double can not hold: FAIL METRIC_MALFORMED; minus zero is 0', async () => {
  const { ends, criteria } = await submitPrograms(bench, {
    'beyond-2-53': printed('9007199254740993'),
    'too-small': printed('1e-400'),
    'too-many-digits': printed('0.123456789012345678'),
    'minus-zero': printed('-0'),
  });
  expect(ends).toEqual({
    'beyond-2-53': 'fail METRIC_MALFORMED',
    'too-small': 'fail METRIC_MALFORMED',
    'too-many-digits': 'fail METRIC_MALFORMED',
    'minus-zero': 'pass 0',
  });
  expect(Object.is(criteria[3]?.metric, 0)).toBe(true);
});

it('M09 writes headers of the engine’s own frames, and one line in pieces: FAIL METRIC_MISSING, PASS', async () => {
  const { ends } = await submitPrograms(bench, {
    // Type, three zeros and a length of 17, as for one line of stdout.
    forged: String.raw`printf '\001\0\0\0\0\0\0\021KERVYXA_METRIC=1\n'`,
    // A line of stderr that pretends to hold a frame of stdout.
    'forged-on-stderr': String.raw`printf 'x\n\001\0\0\0\0\0\0\021KERVYXA_METRIC=1\n' >&2`,
    pieces: 'for part in KERVYXA_ ME TRIC = 4 2; do printf %s $part; sleep 0.02; done; echo',
    'over-frames': `head -c 40000 /dev/zero | tr '\\0' x; echo; echo KERVYXA_METRIC=7`,
  });
  expect(ends).toEqual({
    forged: 'fail METRIC_MISSING',
    'forged-on-stderr': 'fail METRIC_MISSING',
    pieces: 'pass 42',
    'over-frames': 'pass 7',
  });
});

it('M10 M12 prints on stderr, or through a terminal: FAIL METRIC_MISSING', async () => {
  const { ends } = await submitPrograms(bench, {
    stderr: 'echo KERVYXA_METRIC=1 >&2',
    'by-its-name': 'echo KERVYXA_METRIC=1 > /dev/fd/2',
    'a-terminal': '{ [ -t 0 ] || [ -t 1 ] || [ -t 2 ]; } && echo KERVYXA_METRIC=1; exit 0',
    'its-terminal': '(echo KERVYXA_METRIC=1 > /dev/tty) 2>/dev/null; exit 0',
    // Without a terminal no \n becomes \r\n, and a number on stderr is none beside one on stdout.
    both: 'echo KERVYXA_METRIC=1 >&2; echo KERVYXA_METRIC=50',
  });
  expect(ends).toEqual({
    stderr: 'fail METRIC_MISSING',
    'by-its-name': 'fail METRIC_MISSING',
    'a-terminal': 'fail METRIC_MISSING',
    'its-terminal': 'fail METRIC_MISSING',
    both: 'pass 50',
  });
});

it('M14 lets two processes write parts of one line: FAIL METRIC_MISSING, FAIL METRIC_MALFORMED', async () => {
  const { ends } = await submitPrograms(bench, {
    // Each waits for the other by a pipe, so that the order is the same every time.
    noise:
      'mkfifo a b; { printf KERVYXA_; echo > a; read x < b; echo METRIC=1; } & read x < a; printf "noise noise "; echo > b; wait',
    'noise-after':
      'mkfifo a b; { printf KERVYXA_METRIC=1; echo > a; read x < b; } & read x < a; echo " noise"; echo > b; wait',
  });
  expect(ends).toEqual({
    noise: 'fail METRIC_MISSING',
    'noise-after': 'fail METRIC_MALFORMED',
  });
});

/** A program that prints one metric line with this text after the marker, by printf's escapes. */
function printed(text: string): string {
  return `printf '%b\\n' 'KERVYXA_METRIC=${text.replaceAll(/\\(\d)/g, '\\0$1')}'`;
}
