import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { deltaBombPack } from './git-server-attacks.ts';

it('makes a delta bomb that git takes for a pack, until it runs out of memory', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kervyxa-bomb-'));
  try {
    const pack = deltaBombPack();
    expect(pack.length).toBeLessThan(10_000);
    const argv = ['-c', 'ulimit -v 1000000; exec git index-pack --stdin --strict'];
    spawnSync('git', ['init', '-q', '--bare', folder]);
    const { status, stderr } = spawnSync('sh', argv, { cwd: folder, input: pack });
    expect(status).not.toBe(0);
    expect(stderr.toString()).toMatch(/out of memory/i);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
