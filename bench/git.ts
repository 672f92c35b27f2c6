import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CommitShaSchema } from '@kervyxa/core';
import type { Intake } from '@kervyxa/intake';
import type { BenchRepository } from './material.ts';
import { measureInterleaved, ratio, type Ratio, type Sample, timed } from './measure.ts';
import { run, say } from './run.ts';

export interface GitBench {
  /** Holds the repositories, and takes what is cloned by hand. */
  readonly root: string;
  readonly serverUrl: (name: string) => string;
  /** An intake on a cache of that name. */
  readonly newIntake: (cache: string) => Intake;
}

/** (c): fetch, ancestry and diff on a long history, cold and warm, against a mirror clone and git by hand. */
export async function benchGit(
  { root, serverUrl, newIntake }: GitBench,
  history: BenchRepository & { readonly heads: readonly string[] },
  rounds: number,
): Promise<[Ratio[], Record<string, Sample>]> {
  const url = serverUrl(history.name);
  const fetchOnce = async (intake: Intake, sha: string): Promise<void> => {
    const [baseCommit, commit] = [CommitShaSchema.parse(history.base), CommitShaSchema.parse(sha)];
    const request = { baseRepositoryUrl: url, baseCommit, repositoryUrl: url, commit };
    const outcome = await intake.fetchCommit(request, new AbortController().signal);
    if (outcome.kind !== 'fetched') throw new Error(`expected the commit, got ${outcome.message}`);
    await outcome.source.close();
  };
  const warm = newIntake('warm');
  await fetchOnce(warm, history.head);
  let round = 0;
  const samples = await measureInterleaved(
    {
      'git clone by hand': () => timed(() => cloneByHand(root, url, history, round)),
      'intake, cold': () => timed(() => fetchOnce(newIntake(`cold-${round}`), history.head)),
      'intake, warm, 5 new commits': () =>
        timed(() => fetchOnce(warm, history.heads[round] ?? history.head)),
      'intake, captured': () => timed(() => fetchOnce(warm, history.head)),
    },
    rounds,
    (current) => {
      round = current;
      say(`git, round ${current} of ${rounds}`);
    },
  );
  const ms = (name: string): number => samples[name]?.medianMs ?? Number.NaN;
  const of = (name: string): number => ms(name) / ms('git clone by hand');
  return [
    [
      ratio(
        'c-cold',
        '5,000 commits: cold intake / git clone + ancestry + diff by hand',
        of('intake, cold'),
        null,
      ),
      ratio(
        'c-warm',
        '5,000 commits: warm intake, 5 new commits / by hand',
        of('intake, warm, 5 new commits'),
        null,
      ),
      ratio(
        'c-captured',
        '5,000 commits: intake of a captured commit / by hand',
        of('intake, captured'),
        null,
      ),
    ],
    samples,
  ];
}

async function cloneByHand(
  root: string,
  url: string,
  { base, head }: BenchRepository,
  round: number,
): Promise<void> {
  const folder = join(root, `by-hand-${round}.git`);
  await run('git', ['clone', '-q', '--bare', url, folder]);
  await run('git', ['-C', folder, 'merge-base', '--is-ancestor', base, head]);
  await run('git', ['-C', folder, 'diff', '--name-only', '--no-renames', base, head]);
  await rm(folder, { recursive: true });
}
