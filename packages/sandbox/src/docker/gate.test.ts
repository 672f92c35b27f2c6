import { describe, expect, it } from 'vitest';
import { GateReader } from './gate.ts';

const lost = expect.objectContaining({ code: 'SANDBOX_RUN_LOST' });

describe('the line of the gate', () => {
  it('is taken off in whatever pieces it comes, and the rest is the command’s', async () => {
    const reader = new GateReader();
    const rest = ['kervyxa-', 'gate overl', 'ay\nKERVYXA_METRIC=1']
      .map((piece) => Buffer.from(reader.push(Buffer.from(piece))).toString())
      .join('');
    expect(await reader.opened).toBe('overlay');
    expect(rest).toBe('KERVYXA_METRIC=1');
  });

  it.each(['hello\n', 'kervyxa-gate \n', 'kervyxa-gate a b\n', 'x'.repeat(300)])(
    'is not %j',
    (text) => {
      expect(() => new GateReader().push(Buffer.from(text))).toThrow(lost);
    },
  );
});
