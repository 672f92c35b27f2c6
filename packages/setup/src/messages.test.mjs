import { describe, expect, it } from 'vitest';
import { createExcerpt } from './command.mjs';
import { explainError, messageOf, SetupError } from './errors.mjs';
import { parseMountPoints } from './own-engine.mjs';
import { parseCatalogue, withoutTag } from './runtimes.mjs';

describe('what a person sees', () => {
  it('of our error: code, message and fix', () => {
    const error = new SetupError('SETUP_DECLINED', { message: 'nothing was done', fix: 'say yes' });
    expect(explainError(error)).toEqual({
      text: 'SETUP_DECLINED: nothing was done\n  fix: say yes',
      exitCode: 69,
    });
  });

  it('of a stranger: one line and no stack trace', () => {
    const { text, exitCode } = explainError(new TypeError('x is undefined\n    at file:///a.mjs'));
    expect(text).toBe('unexpected: x is undefined');
    expect(exitCode).toBe(70);
  });

  it('of a refused connection, whose error has no message of its own', () => {
    expect(messageOf(new AggregateError([new Error('connect ECONNREFUSED ::1:1')]))).toBe(
      'connect ECONNREFUSED ::1:1',
    );
  });

  it('of long output: its beginning and its end', () => {
    const excerpt = createExcerpt();
    for (let line = 1; line <= 20; line += 1) excerpt.add(`${line}`);
    expect(excerpt.text()).toBe(
      ['1 2 3 4 5 6', '… (2 lines)', '9 10 11 12 13 14 15 16 17 18 19 20']
        .map((part) => (part.startsWith('…') ? part : part.replaceAll(' ', '\n')))
        .join('\n'),
    );
  });
});

describe('the runtime catalogue', () => {
  const binding = {
    imageId: `sha256:${'a'.repeat(64)}`,
    recipeDigest: `sha256:${'b'.repeat(64)}`,
    source: 'built',
    engineId: 'E',
    at: '2026-01-01T00:00:00.000Z',
  };

  it('keeps what is a binding and drops what is not', () => {
    const runtimes = { good: binding, bad: { ...binding, imageId: 'latest' }, worse: null };
    expect([...parseCatalogue(JSON.stringify({ runtimes }))]).toEqual([['good', binding]]);
  });

  it.each(['', '{', 'null', '{"runtimes":null}'])('is empty when the file is %j', (text) => {
    expect(parseCatalogue(text).size).toBe(0);
  });

  it('asks an engine for the digest alone', () => {
    expect(withoutTag('node:22-slim@sha256:ab')).toBe('node@sha256:ab');
  });
});

describe('mount points', () => {
  it('are read with the escapes of the kernel undone', () => {
    const line = String.raw`43 27 254:0 / /a\040b/data rw shared:2 - ext4 /dev/vda rw`;
    expect(parseMountPoints(`${line}\n`)).toEqual(['/a b/data']);
  });
});
