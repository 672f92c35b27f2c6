import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildFixtureRepository, FIXTURE_NAMES, loadFixture } from '../../fixtures/load.ts';

// Keeps R-FIXTURES.
describe.each(FIXTURE_NAMES)('the history of %s', (name) => {
  let root: string;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'kervyxa-histories-'));
  });
  afterAll(() => rmSync(root, { recursive: true }));

  it('has the ids that expected.json pins, and a verdict for each commit', async () => {
    const fixture = await loadFixture(name);
    const { base, ...commits } = await buildFixtureRepository(fixture, root);
    const { baseCommit, commits: expected } = fixture.expected;
    expect(base).toBe(baseCommit);
    expect(fixture.contract.repository.baseCommit).toBe(baseCommit);
    const pinned = Object.entries(expected).map(([commit, { sha }]) => [commit, sha]);
    expect(commits).toEqual(Object.fromEntries(pinned));
  });

  it('names in history.json every folder of commits', async () => {
    const fixture = await loadFixture(name);
    const named = new Set(fixture.history.commits.map((commit) => commit.name));
    expect(readdirSync(join(fixture.folder, 'commits')).filter((one) => !named.has(one))).toEqual(
      [],
    );
  });

  it('is whole and sound to git', () => {
    const repository = join(root, 'fixtures', `${name}.git`);
    const complaints = execFileSync('git', [`--git-dir=${repository}`, 'fsck', '--strict'], {
      encoding: 'utf8',
    });
    expect(complaints).toBe('');
  });

  it('has at least two honest solutions, and says of every commit what its solver tries', async () => {
    const { history, expected } = await loadFixture(name);
    const passing = history.commits.filter(({ honest }) => honest).map((commit) => commit.name);
    expect(passing.length).toBeGreaterThanOrEqual(2);
    const passed = Object.entries(expected.commits).filter(([, { verdict }]) => verdict === 'PASS');
    expect(passing).toEqual(expect.arrayContaining(passed.map(([commit]) => commit)));
  });
});
