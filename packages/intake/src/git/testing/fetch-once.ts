import { CommitShaSchema, systemClock } from '@kervyxa/core';
import { createGitIntake } from '../index.ts';

// Run as a process of its own: fetches one commit into a shared cache and prints what came of it.
const [cacheFolder = '', origin = '', url = '', base, commit] = process.argv.slice(2);
const intake = createGitIntake({ cacheFolder, allowedOrigins: [origin], clock: systemClock });
const outcome = await intake.fetchCommit(
  {
    baseRepositoryUrl: url,
    repositoryUrl: url,
    baseCommit: CommitShaSchema.parse(base),
    commit: CommitShaSchema.parse(commit),
  },
  new AbortController().signal,
);
const changed = outcome.kind === 'fetched' ? outcome.source.changedFiles.length : outcome.message;
process.stdout.write(`${outcome.kind} ${changed}\n`);
if (outcome.kind === 'fetched') await outcome.source.close();
