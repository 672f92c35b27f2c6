// node import-once.ts CACHE_FOLDER ORIGIN URL BASE: imports a base from standard input, as a process of its own.
import { CommitShaSchema, systemClock } from '@kervyxa/core';
import { createGitIntake } from '../index.ts';

const [cacheFolder = '', origin = '', url = '', base] = process.argv.slice(2);
const intake = createGitIntake({ cacheFolder, allowedOrigins: [origin], clock: systemClock });
const request = { baseRepositoryUrl: url, baseCommit: CommitShaSchema.parse(base) };
await intake.importBase(request, process.stdin, new AbortController().signal);
process.stdout.write('imported\n');
