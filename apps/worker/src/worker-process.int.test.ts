import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { provableHelloContract } from '@kervyxa/contract/testing';
import { buildRepository, startGitServer, type GitServer } from '@kervyxa/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { containersOf } from './testing/engine-things.ts';
import { createWorld, type World } from './testing/world.ts';

const PROGRAM = join(import.meta.dirname, 'testing/worker-process.ts');
const PATIENCE = { timeout: 60_000, interval: 50 };
/**
 * A proving on real containers, beside whatever else this machine does; and what was killed while it opened a session,
 * which the reaper lets be for two minutes, and looks for once a minute.
 */
const LONG_PATIENCE = { timeout: 240_000, interval: 200 };
/** Long enough to be killed in. */
const SCRIPTS = {
  base: 'echo bye\n',
  good: 'echo hello\n',
  bad: 'echo hallo\n',
  slow: 'echo started >&2\nsleep 4\necho hello\n',
  endless: 'echo started >&2\nsleep 300\n',
} as const;
const CHECK = 'if [ "$1" = runs ]; then :; else sh hello.sh | grep -qx hello; fi\n';

let world: World;
let server: GitServer;
let root: string;
let label: string;
let shas: Readonly<Record<string, string>>;
const children: ChildProcess[] = [];

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'kervyxa-worker-'));
  label = randomUUID();
  world = await createWorld();
  shas = await buildRepository(join(root, 'hello.git'), {
    commits: [
      { name: 'base', files: { 'check.sh': CHECK, 'hello.sh': SCRIPTS.base } },
      { name: 'good', parents: ['base'], files: { 'hello.sh': SCRIPTS.good } },
      { name: 'bad', parents: ['base'], files: { 'hello.sh': SCRIPTS.bad } },
      { name: 'slow', parents: ['base'], files: { 'hello.sh': SCRIPTS.slow } },
      { name: 'endless', parents: ['base'], files: { 'hello.sh': SCRIPTS.endless } },
    ],
  });
  server = await startGitServer({ root });
});

afterEach(async () => {
  const running = children
    .splice(0)
    .filter(({ exitCode, signalCode }) => (exitCode ?? signalCode) === null);
  for (const child of running) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await server.close();
  await world.close();
  rmSync(root, { recursive: true });
});

/** Each on a machine of its own, as far as fetched repositories go. */
async function startProcess(): Promise<ChildProcess> {
  const cache = mkdtempSync(join(root, 'cache-'));
  const child = spawn(process.execPath, [PROGRAM, world.url, server.origin, cache, label], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let said = '';
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    said += piece;
  });
  await vi.waitFor(() => expect(said).toContain('ready '), PATIENCE);
  return child;
}

/** A contract whose approval waits. `good`: the name of its known-good commit. */
function draftContract(good: string): Promise<string> {
  return world.draftContract((contract) => {
    Object.assign(
      contract,
      provableHelloContract(shas['base'] ?? '', { good: shas[good] ?? '', bad: shas['bad'] ?? '' }),
    );
    contract.repository = { ...contract.repository, url: server.url('hello.git') };
  });
}

/** A contract, and a submission of that commit whose command is running in a container. */
async function submitAndWait(commit: string): Promise<string> {
  const url = server.url('hello.git');
  const contractId = await draftContract('good');
  await world.fundApproved(contractId);
  const id = await world.submit(contractId, shas[commit] ?? '', url);
  const run = await world.runIs(id, { state: 'RUNNING' });
  await vi.waitFor(async () => {
    const events = await world.database.reads.events({ runId: run.id }, null, 100);
    expect(events.map(({ name }) => name)).toContain('run_output');
  }, PATIENCE);
  return id;
}

// Keeps R-WORKER-CRASH.
describe('a worker process', { timeout: 600_000 }, () => {
  it('BUG-29 is killed in the middle of a run: another ends the run, which says why, and nothing is left on the engine', async () => {
    const first = await startProcess();
    const id = await submitAndWait('slow');
    expect((await containersOf(`dev.kervyxa.test-worker=${label}`)).length).toBeGreaterThan(0);
    first.kill('SIGKILL');
    await once(first, 'exit');
    // The server is gone too: the captured commit is all that is needed.
    await server.close();
    await world.endLeases();

    const second = await startProcess();
    const submission = await world.submissionIs(id, { state: 'PASSED' });
    expect(submission).toMatchObject({ verdict: 'PASS', reason: null });
    const run = await world.runIs(id, { state: 'SEALED' });
    expect(run).toMatchObject({ attempt: 2, tries: 1 });
    const attempts = 'SELECT number, outcome FROM attempts WHERE run_id = $1 ORDER BY number';
    expect(await world.sql(attempts, run.id)).toEqual([
      { number: 1, outcome: 'lost' },
      { number: 2, outcome: 'sealed' },
    ]);
    expect(await world.database.reads.listRuns(id)).toHaveLength(1);
    await vi.waitFor(async () => {
      expect(await containersOf(`dev.kervyxa.test-worker=${label}`)).toEqual([]);
    }, LONG_PATIENCE);
    second.kill('SIGTERM');
    expect(await once(second, 'exit')).toEqual([0, null]);
  });

  it('is killed while it proves: another proves from the start, once, and nothing is left on the engine', async () => {
    const first = await startProcess();
    const id = await draftContract('slow');
    const eventsOf = (name: string) =>
      world.database.reads
        .events({ contractId: id }, null, 1_000)
        .then((events) => events.filter((event) => event.name === name));
    await vi.waitFor(async () => {
      const [told] = (await eventsOf('approval_progress')).slice(-1);
      expect(told?.data['title']).toMatch(/^Known-good /);
      expect(await containersOf(`dev.kervyxa.test-worker=${label}`)).not.toEqual([]);
    }, PATIENCE);
    first.kill('SIGKILL');
    await once(first, 'exit');
    await world.endLeases();

    const second = await startProcess();
    await vi.waitFor(async () => {
      expect(await world.database.reads.contract(id)).toMatchObject({ state: 'PROVED' });
    }, LONG_PATIENCE);
    expect(await eventsOf('approval_running')).toHaveLength(2);
    expect(await eventsOf('approval_proved')).toHaveLength(1);
    await vi.waitFor(async () => {
      expect(await containersOf(`dev.kervyxa.test-worker=${label}`)).toEqual([]);
    }, LONG_PATIENCE);
    second.kill('SIGTERM');
    expect(await once(second, 'exit')).toEqual([0, null]);
  });

  it('gets a second SIGTERM while it drains: the run is given back, and its containers are gone', async () => {
    const child = await startProcess();
    const id = await submitAndWait('endless');
    child.kill('SIGTERM');
    await vi.waitFor(async () => {
      const { workers } = await world.database.reads.status();
      expect(workers).toMatchObject([{ state: 'DRAINING' }]);
    }, PATIENCE);
    expect(await world.runIs(id, { state: 'RUNNING' })).toMatchObject({ attempt: 1 });
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(await containersOf(`dev.kervyxa.test-worker=${label}`)).toEqual([]);
    expect(await world.runIs(id, { state: 'QUEUED' })).toMatchObject({ attempt: 1, tries: 0 });
  });
});
