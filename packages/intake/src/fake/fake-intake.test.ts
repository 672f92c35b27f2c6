import { describe, expect, it } from 'vitest';
import { describeCaptures, type CaptureHarness } from '../testing/capture-suite.ts';
import { describeIntake, type Scenario } from '../shared-suite.ts';
import { createFakeIntake, fakeCommitId } from './index.ts';

const start = async (scenario: Scenario): Promise<CaptureHarness> => ({
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
  elsewhere: () => createFakeIntake({ commits: {} }),
  requestCount: () => 0,
  close: async () => undefined,
});

describeIntake('the intake in memory', start);
describeCaptures('the intake in memory', start);

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
