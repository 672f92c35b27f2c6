import { describe, expect, it } from 'vitest';
import { assertSocketsFit, REPOSITORY, stateFolder, statePaths } from './state.mjs';

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
