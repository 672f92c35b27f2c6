// node daemon-process.ts DATABASE_URL api|worker: an API, with a worker beside it or not, until standard input ends.
// The worker's git servers and engine answer at once, so that what is measured is the way of a submission to it.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { createApiKey, hashOfKey, startApi } from '@kervyxa/api';
import { createIdSource, systemClock } from '@kervyxa/core';
import { openDatabase } from '@kervyxa/db';
import { createFakeIntake } from '@kervyxa/intake/fake';
import { createFakeSandbox } from '@kervyxa/sandbox/fake';
import { DEFAULT_POLICY } from '@kervyxa/settlement';
import { startWorker } from '@kervyxa/worker';
import { destination, pino } from 'pino';
import { createTestSigning } from '../apps/worker/src/testing/test-signing.ts';
import { BENCH_COMMIT, BENCH_COMMITS, BENCH_RUNTIME, BENCH_COMMANDS } from './daemon-material.ts';

const [url = '', part] = process.argv.slice(2);
const IMAGE = `sha256:${'1'.repeat(64)}`;
/** As in production each request is a line of the log; as there, the lines are written in the background. */
const log = pino(destination({ dest: '/dev/null', sync: false }));
const newId = createIdSource(randomBytes);
const database = await openDatabase(url, { policy: DEFAULT_POLICY, newId });
const key = createApiKey(randomBytes);
await database.upkeep.addOperatorKey(hashOfKey(key), { onlyFirst: false });
const settings = { allowedOrigins: [], catalogue: [BENCH_RUNTIME] };
const api = await startApi(
  {
    database,
    newId,
    clock: systemClock,
    randomBytes,
    logger: log,
    // A benchmark is more requests than anybody may make.
    settings: { operator: settings, requestsPerWindowMax: 1_000_000_000 },
  },
  { host: '127.0.0.1', port: 0, drainMs: 1_000 },
);
const worker =
  part === 'worker'
    ? startWorker({
        database,
        intake: createFakeIntake({ commits: BENCH_COMMITS }),
        sandbox: createFakeSandbox({ commands: BENCH_COMMANDS }),
        runtimes: new Map([[BENCH_RUNTIME, IMAGE]]),
        settings,
        signing: createTestSigning(),
        clock: systemClock,
        newId,
        log,
        stateFolder: tmpdir(),
        host: 'bench',
        version: '0',
        coreCount: 2,
      })
    : null;
await worker?.ready;
process.stdout.write(`${JSON.stringify({ url: api.url, key, commit: BENCH_COMMIT })}\n`);
await once(process.stdin.resume(), 'end');
await worker?.stop();
await api.stop();
await database.close();
