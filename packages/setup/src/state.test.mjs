import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  assertSocketsFit,
  prepareStateFolder,
  REPOSITORY,
  stateFolder,
  statePaths,
} from './state.mjs';

describe('the state folder', () => {
  it.each([
    ['KERVYXA_HOME before all else', { KERVYXA_HOME: '/srv/k', XDG_DATA_HOME: '/x' }, 0, '/srv/k'],
    ['/var/lib for root', { XDG_DATA_HOME: '/x' }, 0, '/var/lib/kervyxa'],
    ['XDG_DATA_HOME for others', { XDG_DATA_HOME: '/x' }, 1000, '/x/kervyxa'],
  ])('is %s', (_, env, uid, folder) => {
    expect(stateFolder(env, uid)).toBe(folder);
  });

  it('is below the home folder when XDG_DATA_HOME is not absolute', () => {
    expect(stateFolder({ XDG_DATA_HOME: 'x' }, 1000)).toMatch(/^\/.*\/\.local\/share\/kervyxa$/);
  });

  it.each([REPOSITORY, `${REPOSITORY}/packages/../state`])(
    'is never in the repository: %s',
    (home) => {
      expect(() => stateFolder({ KERVYXA_HOME: home }, 0)).toThrow(
        expect.objectContaining({ code: 'SETUP_STATE_UNUSABLE' }),
      );
    },
  );

  it('may be a sibling whose name begins like the repository’s', () => {
    expect(stateFolder({ KERVYXA_HOME: `${REPOSITORY}-state` }, 0)).toBe(`${REPOSITORY}-state`);
  });

  it('must leave room for the longest socket path, counted in bytes', () => {
    const longest = `/${'é'.repeat(30)}x`;
    expect(() => assertSocketsFit(statePaths(longest).engine)).not.toThrow();
    expect(() => assertSocketsFit(statePaths(`${longest}y`).engine)).toThrow(
      expect.objectContaining({ code: 'SETUP_PATH_TOO_LONG', exitCode: 78 }),
    );
  });
});

describe('preparing the state folder', () => {
  /** @type {string} */
  let scratch;
  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), 'kervyxa-state-'));
  });
  afterEach(() => rmSync(scratch, { recursive: true }));

  it('makes it with its parents, and leaves one that is there', () => {
    const folder = join(scratch, 'a/b/c');
    prepareStateFolder(folder);
    const { ino } = statSync(folder);
    prepareStateFolder(folder);
    expect(statSync(folder).ino).toBe(ino);
  });

  it.each(['/proc/x', '/proc/x/y'])('ends at once where none can be made: %s', (folder) => {
    expect(() => prepareStateFolder(folder)).toThrow(
      expect.objectContaining({ code: 'SETUP_STATE_UNUSABLE' }),
    );
  });

  it('refuses a file, also as a parent', () => {
    const file = join(scratch, 'file');
    writeFileSync(file, '', { mode: 0o755 });
    for (const folder of [file, join(file, 'x')]) {
      expect(() => prepareStateFolder(folder)).toThrow(
        expect.objectContaining({ code: 'SETUP_STATE_UNUSABLE' }),
      );
    }
  });
});
