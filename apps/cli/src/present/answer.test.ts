import { describe, expect, it } from 'vitest';
import { toAnswerText } from './answer.ts';

// Keeps R-CLI-CODES.
describe('what an API answered', () => {
  it('has a line for each member, and its parts below it', () => {
    const answer = {
      id: 'chk_1',
      score: null,
      roles: ['solver', 'arbiter'],
      results: [
        { stage: 'structure', outcome: 'verified', evidence: { cities: 4 } },
        { stage: 'length', outcome: 'refuted', judgments: [] },
      ],
    };
    expect(toAnswerText(answer)).toBe(
      [
        'id     chk_1',
        'score  -',
        'roles  solver, arbiter',
        'results',
        '  - stage    structure',
        '    outcome  verified',
        '    evidence',
        '      cities  4',
        '  - stage      length',
        '    outcome    refuted',
        '    judgments  -',
        '',
      ].join('\n'),
    );
  });

  it('has a block for each item of a list, and says where the next ones are', () => {
    const items = [{ id: 'a' }, { id: 'b' }];
    expect(toAnswerText({ items, next: 'b' })).toBe('id  a\n\nid  b\n\nnext  b\n');
    expect(toAnswerText({ items: [], next: null })).toBe('none\n');
  });

  it('prints no control character of what somebody wrote', () => {
    const text = toAnswerText({ 'na\u001b[31mme': ['x\u0007'], statement: 'Two\nlines.\n' });
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect(text).toContain('statement');
    expect(text.trimEnd().split('\n')).toHaveLength(2);
  });
});
