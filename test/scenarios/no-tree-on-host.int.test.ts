import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stateFolder } from '@kervyxa/setup';
import { expect, it } from 'vitest';
import { loadFixture } from '../../fixtures/load.ts';
import { openFixtureWorker } from '../../fixtures/worker.ts';

/** Every path below a folder of ours, the engine's own data left out: that is the engine's machine, not the worker. */
function pathsOfOurs(): string[] {
  const temporary = readdirSync(tmpdir()).filter((name) => name.startsWith('kervyxa-'));
  const folders = [...temporary.map((name) => join(tmpdir(), name)), join(stateFolder(), 'git')];
  return folders.flatMap((folder) => {
    try {
      return readdirSync(folder, { recursive: true, encoding: 'utf8' });
    } catch (error) {
      // A folder of another test, or one that was never made.
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
      throw error;
    }
  });
}

// Keeps R-HOST-NO-TREE.
it('no file of the solver’s tree lies on the worker while its criteria run', async () => {
  const fixture = await loadFixture('parse-numbers');
  const commit = Object.values(fixture.expected.commits).find(({ verdict }) => verdict === 'PASS');
  if (commit === undefined) throw new Error('expected a fixture with an honest commit');
  const { signal } = new AbortController();
  const worker = await openFixtureWorker({ fixtures: [fixture], signal });
  const seen: string[][] = [];
  try {
    const result = await worker.verify(fixture, commit.sha, {
      signal,
      onEvent: (event) => {
        if (event.kind === 'step_started' && event.step.kind === 'criterion')
          seen.push(pathsOfOurs());
      },
    });
    expect(result.verdict).toBe('PASS');
  } finally {
    await worker.close();
  }
  // The search did look where a checkout would be: the bare repositories are there.
  expect(seen.length).toBeGreaterThan(0);
  for (const paths of seen) {
    expect(paths.filter((path) => path.endsWith('parse-numbers.git')).length).toBeGreaterThan(0);
    expect(paths.filter((path) => /parseNumbers\.(test\.)?js$/.test(path))).toEqual([]);
  }
});
