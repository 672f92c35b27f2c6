import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGitServer, type GitServer } from '@kervyxa/testing';
import {
  type VerificationResult,
  VerificationResultSchema,
  withoutVolatile,
} from '@kervyxa/verifier';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { runCliProcess } from '../../apps/cli/src/testing/cli-process.ts';
import { buildFixtureRepository, loadFixture, withOrigin } from '../../fixtures/load.ts';

// A verdict that depends on who gives it, or on what else the machine has to do, could not be appealed against. Each
// verification is a process of its own, with a clone and containers of its own.

const BUSY = ['-e', 'for (;;);'];
const fixture = await loadFixture('speed-by-count');
const busy: ChildProcess[] = [];
let folder: string;
let server: GitServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kervyxa-reproducible-'));
  await buildFixtureRepository(fixture, join(folder, 'served'));
  server = await startGitServer({ root: join(folder, 'served') });
  const contract = withOrigin(fixture.contract, server.origin);
  await writeFile(join(folder, 'contract.json'), JSON.stringify(contract));
});
afterEach(async () => {
  const ended = busy.splice(0).map(async (child) => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  await Promise.all(ended);
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

// Keeps R-SAME-RESULT.
it.each(['honest-fenwick', 'knows-the-answer'])(
  'gives %s the same result in one process at rest and in two beside processes that never rest',
  async (name) => {
    const outcome = fixture.expected.commits[name];
    if (outcome === undefined) throw new Error(`expected.json lacks ${name}`);
    const atRest = await verify(outcome.sha);
    for (let core = 0; core < 2 * availableParallelism(); core += 1) {
      busy.push(spawn(process.execPath, BUSY, { stdio: 'ignore' }));
    }
    const underLoad = await Promise.all([verify(outcome.sha), verify(outcome.sha)]);

    expect(atRest.verdict).toBe(outcome.verdict);
    const [first, ...others] = [atRest, ...underLoad].map(toText);
    for (const other of others) expect(other).toBe(first);
    // What counted programs print has no time in it, so that it is the same too.
    const [printed, ...printedAgain] = [atRest, ...underLoad].map(answersOf);
    for (const answers of printedAgain) expect(answers).toEqual(printed);
  },
);

async function verify(sha: string): Promise<VerificationResult> {
  const contract = join(folder, 'contract.json');
  const { url } = withOrigin(fixture.contract, server.origin).repository;
  const argv = ['verify', '--json', '--contract', contract, '--repo', url, '--commit', sha];
  const env = { KERVYXA_GIT_ALLOW: server.origin };
  const end = await runCliProcess([...argv, '--package', fixture.packageFolder], { env });
  if (end.stdout === '') throw new Error(end.stderr);
  return VerificationResultSchema.parse(JSON.parse(end.stdout));
}

function toText(result: VerificationResult): string {
  return JSON.stringify(withoutVolatile(result), null, 2);
}

function answersOf({ criteria }: VerificationResult): (string | null)[] {
  return criteria.flatMap(({ type, outputSha256 }) => (type === 'benchmark' ? [outputSha256] : []));
}
