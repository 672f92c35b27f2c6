import { describe, expect, it } from 'vitest';
import { describeIntake, type Scenario } from '../shared-suite.ts';
import { createFakeIntake, fakeCommitId } from './index.ts';

describeIntake('the intake in memory', async (scenario: Scenario) => ({
  intake: createFakeIntake({
    commits: Object.fromEntries(
      Object.entries(scenario).map(([name, commit]) => [
        fakeCommitId(name),
        { ...commit, parents: (commit.parents ?? []).map(fakeCommitId) },
      ]),
    ),
  }),
  url: 'https://example.invalid/repository.git',
  id: fakeCommitId,
  close: async () => undefined,
}));

describe('the intake in memory', () => {
  const commit = fakeCommitId('absent');
  const request = {
    baseRepositoryUrl: 'https://example.invalid/a.git',
    repositoryUrl: 'https://example.invalid/b.git',
    baseCommit: fakeCommitId('base'),
    commit,
  };
  const { signal } = new AbortController();

  it('ends as a test has planned it', async () => {
    const outcome = {
      kind: 'unavailable',
      reason: 'REPOSITORY_UNREACHABLE',
      message: 'planned',
    } as const;
    const planned = createFakeIntake({ commits: {}, outcomes: { [commit]: outcome } });
    expect(await planned.fetchCommit(request, signal)).toEqual(outcome);
    const failing = createFakeIntake({ commits: {}, outcomes: { [commit]: new Error('planned') } });
    await expect(failing.fetchCommit(request, signal)).rejects.toThrow('planned');
  });
});
