import { describe, expect, it } from 'vitest';
import { AmountMinorSchema } from './money.ts';

describe('an amount', () => {
  it.each(['1', '9007199254740993', '9223372036854775807'])('%s keeps every digit', (text) => {
    expect(AmountMinorSchema.encode(AmountMinorSchema.decode(text))).toBe(text);
  });

  it.each([
    null,
    true,
    5,
    [7],
    '',
    '0',
    '-1',
    '+1',
    '01',
    '1.0',
    '1e3',
    ' 1',
    '1\n',
    '9223372036854775808',
    '٣',
  ])('that comes as %j is refused, not converted', (input) => {
    expect(AmountMinorSchema.safeDecode(input as string).success).toBe(false);
  });
});
