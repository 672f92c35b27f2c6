import { describe, expect, it } from 'vitest';
import { type CountReading, readCount, toCountCommand } from './count.ts';

const answer = 'ab'.repeat(32);
const report = { count: 12, stdoutSha256: answer, exitCode: 0, signal: null };
const line = (value: unknown): string => `KERVYXA_COUNT=${JSON.stringify(value)}\n`;

function read(text: string, bytesTotal?: number): CountReading {
  const head = Buffer.from(text);
  return readCount({ head, bytesTotal: bytesTotal ?? head.length, sha256: answer });
}

const kindOf = (text: string): string => read(text).kind;

// Keeps R-METRIC-ONE.
describe('the report of a harness', () => {
  it('is read from its one line', () => {
    expect(read(line(report))).toEqual({ kind: 'one', report });
  });

  it.each([
    ['no count', { ...report, count: null }],
    ['nothing done', { ...report, count: 0 }],
    ['the largest number that is exact', { ...report, count: Number.MAX_SAFE_INTEGER }],
    ['a program that was killed', { ...report, count: null, exitCode: null, signal: 'SIGKILL' }],
  ])('is read with %s', (_title, value) => {
    expect(kindOf(line(value))).toBe('one');
  });

  it.each([
    ['nothing', ''],
    ['words', 'node: out of memory\n'],
    ['a marker that does not begin a line', ` ${line(report)}`],
  ])('is none in %s', (_title, text) => {
    expect(kindOf(text)).toBe('none');
  });

  it('printed by the program as well is there twice', () => {
    const forged = line({ ...report, count: 1 });
    expect(read(forged + line(report))).toEqual({
      kind: 'several',
      count: 2,
    });
  });

  it.each([
    ['words before it', `hello\n${line(report)}`],
    ['words after it', `${line(report)}hello`],
    ['an empty line after it', `${line(report)}\n`],
    ['no end of its line', line(report).trimEnd()],
    ['a carriage return', line(report).replace('\n', '\r\n')],
    ['no JSON', 'KERVYXA_COUNT={12\n'],
    ['a number alone', 'KERVYXA_COUNT=12\n'],
    ['a key more', line({ ...report, trusted: true })],
    ['a key less', line({ ...report, signal: undefined })],
    ['a count that is a text', line({ ...report, count: '12' })],
    ['a part of a unit of work', line({ ...report, count: 0.5 })],
    ['less than no work', line({ ...report, count: -1 })],
    ['more than can be exact', line(report).replace('12', '9007199254740993')],
    ['a digest that is none', line({ ...report, stdoutSha256: 'AB'.repeat(32) })],
    ['an exit status that is none', line({ ...report, exitCode: 256 })],
    ['a line without end', line({ ...report, signal: 'S'.repeat(1_000) })],
  ])('with %s is malformed', (_title, text) => {
    expect(kindOf(text)).toBe('malformed');
  });

  it('followed by more than is kept of a stream is malformed', () => {
    expect(read(line(report), 1_000_000).kind).toBe('malformed');
  });
});

it('is asked for by one program, whatever whitespace comes before the command', () => {
  expect(toCountCommand('node_block_count', '\n node sort.js "$INPUT" <in.txt')).toBe(
    'exec kervyxa-count node_block_count node sort.js "$INPUT" <in.txt',
  );
});
