import { describe, expect, it } from 'vitest';
import { paragraph } from './text.ts';

describe('a paragraph', () => {
  it('is wrapped and indented', () => {
    expect(paragraph('some words that do not fit here', 26, '  ')).toBe(
      '  some words that do not\n  fit here',
    );
  });

  it('keeps JSON at its end on one line, which can be pasted as it is', () => {
    const form = { title: 'words with many blanks between them', outputs: [] };
    const lines = paragraph(`Put this there: ${JSON.stringify(form)}`, 26, '  ').split('\n');
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[1] ?? '')).toEqual(form);
  });
});
