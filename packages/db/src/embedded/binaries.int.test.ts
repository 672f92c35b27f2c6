import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findBinaries } from './binaries.ts';
import { assertReachable } from './server-user.ts';

const STRANGER = { uid: 65_533, gid: 65_533 };

describe('the binaries of the built-in PostgreSQL', () => {
  let home: string;
  let installed: string;

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'kervyxa-binaries-'));
    await chmod(home, 0o755);
    installed = join(home, 'private/package');
    mkdirSync(join(installed, 'native/lib'), { recursive: true });
    writeFileSync(join(installed, 'package.json'), '{"version":"18.0.0"}');
    writeFileSync(join(installed, 'native/lib/libx.so.1.2'), 'library');
    const links = [{ source: 'native/lib/libx.so.1.2', target: 'native/lib/libx.so.1' }];
    writeFileSync(join(installed, 'native/pg-symlinks.json'), JSON.stringify(links));
  });
  afterEach(() => rmSync(home, { recursive: true }));

  it('are used where they are, with the links that a package without install scripts lacks', async () => {
    expect(await findBinaries(home, null, installed)).toBe(join(installed, 'native'));
    expect(readFileSync(join(installed, 'native/lib/libx.so.1'), 'utf8')).toBe('library');
  });

  it('are copied once, links included, where the server’s user may not enter', async () => {
    await chmod(join(home, 'private'), 0o700);
    const copy = await findBinaries(home, STRANGER, installed);
    expect(copy).toBe(join(home, 'postgresql-18.0.0/native'));
    expect(readFileSync(join(copy, 'lib/libx.so.1'), 'utf8')).toBe('library');
    rmSync(join(installed, 'native/lib'), { recursive: true });
    expect(await findBinaries(home, STRANGER, installed)).toBe(copy);
  });

  it('can’t be used by a server whose folder its user may not enter', async () => {
    await chmod(join(home, 'private'), 0o700);
    await expect(assertReachable(installed, STRANGER)).rejects.toMatchObject({
      code: 'DB_EMBEDDED_UNSUPPORTED',
      fix: expect.stringContaining(`chmod o+x ${join(home, 'private')}`),
    });
  });
});
