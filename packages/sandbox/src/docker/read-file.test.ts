import { expect, it } from 'vitest';
import { parsePathStat } from './read-file.ts';

const header = (stat: object): string => Buffer.from(JSON.stringify(stat)).toString('base64');

// Modes as the engine prints them: Go's os.FileMode.
it.each([
  [0o644, 'file'],
  [0o4755 + 0x80_0000, 'file'],
  [0x8000_0000 + 0o755, 'folder'],
  [0x800_0000 + 0o777, 'symbolic link'],
  [0x200_0000 + 0o644, 'named pipe'],
  [0x100_0000 + 0o755, 'socket'],
  [0x420_0000 + 0o666, 'device'],
])('mode %d is of a %s', (mode, type) => {
  expect(parsePathStat(header({ name: 'x', size: 5, mode, linkTarget: '' }))).toEqual({
    type,
    size: 5,
  });
});

it.each([undefined, '', 'e30=', 'bnVsbA==', 'AA=='])(
  'refuses an answer without a stat (%j)',
  (text) => {
    expect(() => parsePathStat(text)).toThrow(
      expect.objectContaining({ code: 'SANDBOX_RUN_LOST' }),
    );
  },
);
