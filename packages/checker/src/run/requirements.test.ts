import { describe, expect, it } from 'vitest';
import type { Requirements } from '../contract/schema.ts';
import { inputFile } from '../testing/script-package.ts';
import { textOfSubmission, unmetRequirement } from './requirements.ts';

const FILES: Requirements = {
  accepts_text_only: false,
  answer_format_md: null,
  required_artifacts: [
    { role: 'data', description: 'Rows.', media_types: ['text/csv', 'Text/Plain'], max_bytes: 4 },
    { role: 'code', description: 'How.', media_types: [], max_bytes: 1_000 },
  ],
};
const TEXT: Requirements = { ...FILES, accepts_text_only: true, required_artifacts: [] };
const EITHER: Requirements = { ...FILES, accepts_text_only: true };

const artifact = (role: string, text = 'a', mediaType: string | null = null) => ({
  ...inputFile(text),
  role,
  mediaType,
});
const data = artifact('data');
const code = artifact('code');
const submit = (artifacts: ReturnType<typeof artifact>[], summaryText: string | null = null) => ({
  artifacts,
  summaryText,
});

describe('a submission', () => {
  it.each([
    ['fills every role, in any order', FILES, submit([code, data])],
    ['has exactly the bytes that are allowed', FILES, submit([code, artifact('data', 'abcd')])],
    [
      'declares a type that is accepted',
      FILES,
      submit([code, artifact('data', 'a', 'TEXT/plain; charset=utf-8')]),
    ],
    ['declares a type where any is', FILES, submit([artifact('code', 'a', 'x/y'), data])],
    ['has words beside its files', FILES, submit([code, data], 'see the code')],
    ['answers in words', TEXT, submit([], '42')],
    ['answers in words where it may send files', EITHER, submit([], '42')],
    ['sends files where it may answer in words', EITHER, submit([code, data])],
    ['answers in 10,000 characters of two units', TEXT, submit([], '😀'.repeat(10_000))],
  ])('%s', (_, requirements, submission) => {
    expect(unmetRequirement(requirements, submission)).toBeNull();
  });

  it.each([
    ['lacks a role', FILES, submit([data]), 'got none in code'],
    ['sends nothing', FILES, submit([]), 'got none in data, code'],
    ['answers in words alone', FILES, submit([], '42'), 'got none in data, code'],
    [
      'fills a role that there is not',
      FILES,
      submit([data, code, artifact('x\u001b[2J')]),
      '"x\\u{1b}[2J"',
    ],
    [
      'fills a role twice, right and wrong',
      FILES,
      submit([data, code, data]),
      'role data, got two',
    ],
    [
      'has a byte too many',
      FILES,
      submit([code, artifact('data', 'abcde')]),
      'at most 4 bytes in the role data, got 5',
    ],
    [
      'declares another type',
      FILES,
      submit([code, artifact('data', 'a', 'image/png')]),
      'got "image/png"',
    ],
    ['is silent', TEXT, submit([]), 'an answer in words, got none'],
    ['answers in blanks', TEXT, submit([], ' \n\t'), 'an answer in words, got none'],
    ['sends a file where words are wanted', TEXT, submit([data], '42'), 'role "data"'],
    ['sends half of its files', EITHER, submit([data], '42'), 'got none in code'],
    ['sends nothing where either is wanted', EITHER, submit([]), 'or an answer in words'],
    ['answers in 10,001 characters', TEXT, submit([], 'a'.repeat(10_001)), '10000 characters'],
  ])('%s: unmet', (_, requirements, submission, said) => {
    expect(unmetRequirement(requirements, submission)).toContain(said);
  });

  it('has words that its contract does not ask for: no program sees them', () => {
    expect(textOfSubmission(FILES, submit([], 'words'))).toBeNull();
    expect(textOfSubmission(EITHER, submit([code, data], 'words'))).toBe('words');
    expect(textOfSubmission(TEXT, submit([], ' '))).toBeNull();
  });
});
