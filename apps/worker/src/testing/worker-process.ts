import { randomBytes } from 'node:crypto';
import { createIdSource, systemClock } from '@kervyxa/core';
import { openDatabase } from '@kervyxa/db';
import { createGitIntake } from '@kervyxa/intake/git';
import { createDockerSandbox } from '@kervyxa/sandbox/docker';
import { DEFAULT_POLICY } from '@kervyxa/settlement';
import { ensureReady } from '@kervyxa/setup';
import { startWorker } from '../start-worker.ts';
import { createTestSigning } from './test-signing.ts';

// For tests: a worker on this machine's engine and git, as a process of its own that can be killed.
// argv: database, git origin, folder of fetched repositories, value of the label on everything in the engine.
const [url = '', origin = '', cacheFolder = '', label = ''] = process.argv.slice(2);

const { dockerHost, runtimes: bound } = await ensureReady();
const runtimes = new Map([...bound].map(([name, { imageId }]) => [name, imageId]));
const newId = createIdSource(randomBytes);
const database = await openDatabase(url, {
  policy: DEFAULT_POLICY,
  newId,
  leaseSeconds: 10,
  reapSeconds: 1,
});
const log = (facts: object, message: string): void => {
  process.stdout.write(`${message} ${JSON.stringify(facts)}\n`);
};
const worker = startWorker({
  database,
  intake: createGitIntake({ cacheFolder, allowedOrigins: [origin], clock: systemClock }),
  sandbox: createDockerSandbox({
    dockerHost,
    toolsImage: runtimes.get('kervyxa-runtime/python:1') ?? '',
    labels: { 'dev.kervyxa.test-worker': label },
  }),
  runtimes,
  settings: { allowedOrigins: [origin], catalogue: [...runtimes.keys()] },
  signing: createTestSigning(),
  clock: systemClock,
  newId,
  log: { info: log, warn: log, error: log },
  stateFolder: cacheFolder,
  host: 'test',
  version: '0',
  coreCount: 2,
});

let ending: Promise<void> | null = null;
process.on('SIGTERM', () => {
  if (ending !== null) void worker.stop();
  ending ??= worker.drain().then(() => database.close());
});
await worker.ready;
log(worker.state(), 'ready');
