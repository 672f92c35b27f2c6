import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MetricScanner, parseMetricLine, type MetricReading } from './metric.ts';

function scan(...pieces: (string | Uint8Array)[]): MetricReading {
  const scanner = new MetricScanner();
  for (const piece of pieces) scanner.push(typeof piece === 'string' ? Buffer.from(piece) : piece);
  return scanner.finish();
}

describe('a metric line', () => {
  it.each([
    ['-12', -12],
    ['3.5', 3.5],
    ['1e6', 1_000_000],
    ['0', 0],
    ['-0', 0],
    ['0.30000000000000004', 0.30000000000000004],
    ['9007199254740991', 9_007_199_254_740_991],
    ['59999999', 59_999_999],
    ['1E-3', 0.001],
  ])('holds %s', (text, value) => {
    expect(parseMetricLine(`KERVYXA_METRIC=${text}`)).toBe(value);
  });

  it.each([
    '',
    ' ',
    '0x10',
    '1e999',
    '1_000',
    'NaN',
    'Infinity',
    '-Infinity',
    ' 5',
    '5 ',
    '+5',
    '1,5',
    '12ms',
    '12.5WARN',
    '.5',
    '5.',
    '007',
    '1e',
    '--1',
    '９',
    '1e-400',
    '9007199254740993',
    '0.123456789012345678',
    '1KERVYXA_METRIC=2',
    '1 KERVYXA_METRIC=2',
    '1\r\r',
    '1\u2028',
    '\u00a05',
    '1n',
  ])('M04 M08 BUG-9 BUG-17 refuses %j', (text) => {
    expect(parseMetricLine(`KERVYXA_METRIC=${text}`)).toBeNull();
  });
});

// Keeps R-METRIC-ONE.
describe('a stream of output', () => {
  it('gives the one metric among other lines', () => {
    expect(scan('hello\nKERVYXA_METRIC=1.5\nbye\n')).toEqual({ kind: 'one', value: 1.5 });
  });

  it('BUG-36 gives a metric on a last line without a newline, and one before a carriage return', () => {
    expect(scan('KERVYXA_METRIC=1')).toEqual({ kind: 'one', value: 1 });
    expect(scan('KERVYXA_METRIC=1\r\n')).toEqual({ kind: 'one', value: 1 });
  });

  it('M14 says none when there is none, also where only part of a line looks like one', () => {
    expect(scan('')).toEqual({ kind: 'none' });
    expect(scan('KERVYXA_noise METRIC=1\n')).toEqual({ kind: 'none' });
    expect(scan('x KERVYXA_METRIC=1\n')).toEqual({ kind: 'none' });
  });

  it('M01 M17 prints a second metric: counted over the whole stream, whatever lies between', () => {
    expect(scan('KERVYXA_METRIC=1\n', 'x'.repeat(1_000_000), '\nKERVYXA_METRIC=1\n')).toEqual({
      kind: 'several',
      count: 2,
    });
  });

  it('M03 hides a metric behind characters that only some engines call a line end', () => {
    expect(scan('ok\u2028KERVYXA_METRIC=1\nfoo\rKERVYXA_METRIC=2\nKERVYXA_METRIC=3\n')).toEqual({
      kind: 'one',
      value: 3,
    });
  });

  it('prints a malformed attempt beside a good one: two attempts', () => {
    expect(scan('KERVYXA_METRIC=oops\nKERVYXA_METRIC=3\n')).toEqual({ kind: 'several', count: 2 });
    expect(scan('KERVYXA_METRIC\n')).toEqual({ kind: 'malformed', line: 'KERVYXA_METRIC' });
  });

  it('M16 prints an endless line: only its beginning is kept', () => {
    const reading = scan(
      'KERVYXA_METRIC=1',
      ...Array.from({ length: 50 }, () => '0'.repeat(65_536)),
    );
    expect(reading.kind).toBe('malformed');
    expect(reading.kind === 'malformed' && reading.line.length).toBeLessThan(200);
  });

  it('reads the same however the stream is cut into pieces', () => {
    const text = 'a\nKERVYXA_METRIC=12.25\r\nKERVYXA_noise\n\n\nend';
    fc.assert(
      fc.property(fc.array(fc.nat(text.length)), (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), text.length];
        const pieces = places.slice(1).map((end, index) => text.slice(places[index], end));
        expect(scan(...pieces)).toEqual({ kind: 'one', value: 12.25 });
      }),
    );
  });

  it.each(['\n', 'K\n'])(
    'floods it with lines of %j: read in less than 60 digests of it',
    (line) => {
      // While a chunk is read no timer of ours fires, and an engine drops the end of an output that waits too long.
      const chunk = Buffer.alloc(65_536, line);
      const timeOf = (work: (piece: Uint8Array) => void): number => {
        const startedMs = performance.now();
        for (let piece = 0; piece < 64; piece += 1) work(chunk);
        return performance.now() - startedMs;
      };
      const hash = createHash('sha256');
      const scanner = new MetricScanner();
      timeOf((piece) => scanner.push(piece));
      const hashMs = timeOf((piece) => hash.update(piece));
      expect(timeOf((piece) => scanner.push(piece))).toBeLessThan(60 * hashMs);
    },
  );

  it.each([
    ['a\nlast\n', 'last'],
    ['a\nlast', 'last'],
    ['', ''],
    ['last\n\n', ''],
    ['last\n \n', ' '],
    ['last\r\n', 'last\r'],
    [`last\n${'x'.repeat(129)}`, null],
    [`${'x'.repeat(200)}\nlast`, 'last'],
    ['KERVYXA_METRIC=1\nlast\n', 'last'],
  ])('knows the last line of %j', (text, last) => {
    const scanner = new MetricScanner();
    for (const byte of Buffer.from(text)) scanner.push(Uint8Array.of(byte));
    scanner.finish();
    expect(scanner.lastLine).toBe(last);
  });

  it('survives any bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), (pieces) => {
        expect(['one', 'none', 'several', 'malformed']).toContain(scan(...pieces).kind);
      }),
    );
  });
});
