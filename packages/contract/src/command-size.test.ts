import { describe, expect, it } from 'vitest';

import { lintContract } from './lint.ts';
import { shellCalls } from './shell-walk.ts';
import { goodContract } from './testing/good-contract.ts';

const SETTINGS = { allowedOrigins: [], catalogue: null };

/** The codes that lint finds of a contract with so many criteria of one command. */
function codesOf(count: number, command: string): string[] {
  const contract = goodContract();
  const criteria = Array.from({ length: count }, (_none, index) => ({
    id: `c${index}`,
    title: 'One of many',
    type: 'regression' as const,
    visibility: 'hidden' as const,
    command,
    timeoutSeconds: 60,
  }));
  const findings = lintContract({ ...contract, criteria }, null, SETTINGS);
  return findings.map(({ code, pointer }) => `${code} ${pointer}`);
}

describe('commands that are long to keep lint, and with it a whole server, busy', () => {
  it('wrap one another two thousand times: what really runs is found, not after minutes', () => {
    const [call] = shellCalls(`${'env '.repeat(2_000)}node check.js`);
    expect(call?.words).toEqual(['node', 'check.js']);
  });

  it('are together too long: refused, and none of them is analysed', () => {
    const long = `${'curl a|'.repeat(1_000)}b`;
    const few = codesOf(9, long);
    expect(few).toContain('NETWORK_REQUIRED /criteria/8/command');
    const many = codesOf(10, long);
    expect(many).toContain('LIMIT_OUT_OF_RANGE /criteria');
    expect(many.join(' ')).not.toContain('NETWORK_REQUIRED');
  });

  it('are so many that the schema takes no more: they count all the same', () => {
    expect(codesOf(64, `${'a|'.repeat(4_000)}b`)).toContain('LIMIT_OUT_OF_RANGE /criteria');
  });
});
