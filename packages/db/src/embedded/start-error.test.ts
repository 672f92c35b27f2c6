import { describe, expect, it } from 'vitest';
import { layoutOf } from './layout.ts';
import { isPassing, toFolderError, toStartError } from './start-error.ts';

describe('what a failed start says', () => {
  it.each([
    'FATAL:  could not write lock file "postmaster.pid": No space left on device',
    'initdb: error: could not create directory "data": Disk quota exceeded',
  ])('names a full disk: %s', (output) => {
    const noisy = `running bootstrap script ... ok\n${output}\nHINT:  Check free disk space.\nAborted\n`;
    expect(toStartError(noisy)).toMatchObject({
      code: 'DB_EMBEDDED_DISK_FULL',
      message: `expected room for the built-in PostgreSQL, got: ${output}`,
    });
  });

  it('repeats the last words of the server', () => {
    expect(toStartError('1\n2\nFATAL:  could not map memory\n')).toMatchObject({
      code: 'DB_EMBEDDED_FAILED',
      message:
        'expected the built-in PostgreSQL to start, got: 1 | 2 | FATAL:  could not map memory',
    });
  });

  it.each([
    ['ENOSPC', 'DB_EMBEDDED_DISK_FULL'],
    ['EACCES', 'DB_EMBEDDED_UNSUPPORTED'],
    ['EROFS', 'DB_EMBEDDED_UNSUPPORTED'],
  ])('tells what the system means by %s', (errno, code) => {
    const error = Object.assign(new Error(`${errno}: no`), { code: errno });
    expect(toFolderError(error, layoutOf('/state'))).toMatchObject({ code });
  });

  it('waits for processes of a killed server, and for nothing else', () => {
    expect(isPassing('FATAL:  lock file "postmaster.pid" already exists')).toBe(true);
    expect(
      isPassing('FATAL:  pre-existing shared memory block (key 1, ID 2) is still in use'),
    ).toBe(true);
    expect(isPassing('FATAL:  could not access directory')).toBe(false);
  });
});
