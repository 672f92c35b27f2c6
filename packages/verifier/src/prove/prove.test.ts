import { describe, expect, it } from 'vitest';
import { proveStory } from '../testing/proving-story.ts';

describe('proving', () => {
  it('proves a contract that tells done from not done, and shows every column', async () => {
    const { report } = await proveStory();
    expect(report.findings).toEqual([]);
    expect(report.isProved).toBe(true);
    expect(report.columns.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual([
      'base FAIL',
      'good-1 PASS',
      'bad-1 FAIL',
      'empty-diff FAIL',
      'reverted-1 FAIL',
      'tests-deleted FAIL',
      'exits-1 FAIL',
    ]);
  });
});
