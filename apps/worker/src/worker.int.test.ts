import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineErrors } from '@kervyxa/core';
import { QUEUES } from '@kervyxa/db';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFakeIntake } from '@kervyxa/intake/fake';
import { loadVerifierPackage } from '@kervyxa/intake/package';
import { createFakeSandbox, type FakeCommand } from '@kervyxa/sandbox/fake';
import type { Sandbox } from '@kervyxa/sandbox';
import { checking, commitOf, SERVED, type HelloCommit } from './testing/hello.ts';
import { createWorld, IMAGE, type World } from './testing/world.ts';

const { create } = defineErrors({
  INTAKE_URL_REFUSED: {
    fault: 'caller',
    retryable: false,
    httpStatus: 422,
    exitCode: 2,
    meaning: 'for the test',
  },
  DB_UNAVAILABLE: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: 4,
    meaning: 'for the test',
  },
  SANDBOX_ENGINE_UNAVAILABLE: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: 4,
    meaning: 'for the test',
  },
});

let world: World;
const PATIENCE = { timeout: 60_000, interval: 20 };
/** Whoever waits at one when a test ends goes on. */
const gates: PromiseWithResolvers<void>[] = [];

beforeEach(async () => {
  world = await createWorld();
});

afterEach(async () => {
  gates.splice(0).forEach(({ resolve }) => resolve());
  await world.close();
});

/** A sandbox whose sessions wait until the test lets them go on. */
function gatedSandbox(commands: Record<string, FakeCommand> = checking()) {
  const inner = createFakeSandbox({ commands });
  const opened: string[] = [];
  let next: PromiseWithResolvers<void> | null = null;
  const sandbox: Sandbox = {
    inspect: (signal) => inner.inspect(signal),
    resolveImage: (reference, signal) => inner.resolveImage(reference, signal),
    reap: (signal) => inner.reap(signal),
    openSession: async (request, signal) => {
      const session = await inner.openSession(request, signal);
      opened.push(request.tree.digest);
      const gate = next;
      next = null;
      await gate?.promise;
      return session;
    },
  };
  return {
    sandbox,
    opened,
    /** The next session waits until the returned function is called. */
    holdNext: (): (() => void) => {
      next = Promise.withResolvers<void>();
      gates.push(next);
      return next.resolve;
    },
  };
}

async function sessionsOf(sandbox: { readonly opened: readonly string[] }, count: number) {
  const look = () => expect(sandbox.opened.length).toBeGreaterThanOrEqual(count);
  await vi.waitFor(look, PATIENCE);
}

describe('a worker', () => {
  it('approves, captures and verifies, each in its turn', async () => {
    const worker = world.startWorker();
    await worker.ready;
    expect(worker.state()).toEqual({ state: 'READY', problem: null, jobs: 0 });
    const contractId = await world.draftContract();
    await world.fundApproved(contractId);
    const contract = await world.contractIs(contractId, { state: 'OPEN', approvalState: 'DONE' });
    expect(JSON.parse(contract.document).environment.image).toBe(
      `kervyxa-runtime/node:22@${IMAGE}`,
    );
    expect(contract.baseBlob).toMatch(/^[0-9a-f]{64}$/);

    const submissionId = await world.submit(contractId, commitOf('good'));
    const submission = await world.submissionIs(submissionId, { state: 'PASSED' });
    expect(submission.sourceBlob).toMatch(/^[0-9a-f]{64}$/);
    const run = await world.runIs(submissionId, { state: 'SEALED', verdict: 'PASS', attempt: 1 });
    expect(JSON.parse(run.result ?? '')).toMatchObject({ verdict: 'PASS', imageDigest: IMAGE });

    const log = await world.database.reads.log(run.id, 'says-hello');
    expect(Buffer.from(log?.bytes ?? []).toString()).toBe('hello\n');
    const events = await world.database.reads.events({ runId: run.id }, null, 100);
    const steps = events.filter(({ name }) => name === 'run_step_finished');
    expect(steps.map(({ data }) => [data['stepId'], data['status']])).toEqual([
      ['fetch', 'pass'],
      ['policy', 'pass'],
      ['image', 'pass'],
      ['workspace', 'pass'],
      ['criterion:says-hello', 'pass'],
      ['criterion:still-runs', 'pass'],
    ]);
  });

  it('refuses a contract that a machine can’t decide, with what it found', async () => {
    world.startWorker();
    const id = await world.draftContract((contract) => {
      contract.criteria = contract.criteria.map((each) => ({ ...each, command: 'true' }));
    });
    const row = await world.contractIs(id, { approvalState: 'REFUSED', state: 'DRAFT' });
    expect(row.findings.map(({ code }) => code)).toContain('VACUOUS_COMMAND');
  });

  it('tells the requester of a base that can’t be had', async () => {
    world.startWorker();
    const id = await world.draftContract((contract) => {
      contract.repository = { ...contract.repository, baseCommit: 'c'.repeat(40) };
    });
    const { approvalProblem } = await world.contractIs(id, { approvalState: 'FAILED' });
    expect(approvalProblem).toMatch(/^INTAKE_BASE_UNAVAILABLE: /);
  });

  it('breaks every approval: the requester is told after bounded tries', async () => {
    let begun = 0;
    const { sandbox } = gatedSandbox();
    const resolveImage = async (): Promise<string> => {
      begun += 1;
      throw new Error('the engine dies of it');
    };
    const worker = world.startWorker({
      sandbox: { ...sandbox, resolveImage },
      runtimes: new Map(),
    });
    await worker.ready;
    const id = await world.draftContract();
    await vi.waitFor(async () => {
      await world.hurry();
      expect(await world.database.reads.contract(id)).toMatchObject({ approvalState: 'FAILED' });
    }, PATIENCE);
    expect(begun).toBe(6);
  });

  it.each<[HelloCommit, string]>([
    ['bad', 'EXIT_CODE_MISMATCH'],
    ['cheat', 'PROTECTED_PATH_CHANGED'],
  ])('submits %s: FAIL %s', async (commit, reason) => {
    world.startWorker();
    const contractId = await world.openContract();
    const id = await world.submit(contractId, commitOf(commit));
    expect(await world.submissionIs(id, { state: 'FAILED' })).toMatchObject({ reason });
  });

  it('logs nothing of what is in a job, a commit or a log', async () => {
    const told: unknown[] = [];
    const note = (facts: object, message: string) => void told.push(facts, message);
    world.startWorker({ log: { info: note, warn: note, error: note } });
    const contractId = await world.openContract();
    const id = await world.submit(contractId, commitOf('good'));
    await world.submissionIs(id, { state: 'PASSED' });
    const text = JSON.stringify(told);
    for (const secret of ['git.example.org', commitOf('good'), 'check.sh', 'hello']) {
      expect(text).not.toContain(secret);
    }
  });
});

// Keeps R-HIDDEN-APART, R-HIDDEN-UNTOLD.
describe('a hidden criterion', () => {
  it('H15 has the uploaded package, and watchers see nothing of it, not when it ended either', async () => {
    const BEAT_MS = 1_500;
    const folder = await mkdtemp(join(tmpdir(), 'kervyxa-package-'));
    await writeFile(join(folder, 'answer.txt'), '42');
    const { archive, sha256 } = await loadVerifierPackage(folder);
    await rm(folder, { recursive: true });

    const hidden: FakeCommand = ({ verifierPackage }) => ({
      stdout: `the answer is ${Buffer.from(verifierPackage.get('answer.txt') as Uint8Array)}\n`,
    });
    world.startWorker({
      commands: { ...checking(), 'sh $KERVYXA_VERIFIER_PACKAGE/hidden.sh': hidden },
      beatMs: BEAT_MS,
    });
    const contractId = await world.openContract(async (contract, requesterId) => {
      const call = { actorId: requesterId, idempotency: null };
      const { sizeBytes } = await world.database.blobs.saveBlob(
        archive.open(new AbortController().signal),
        { bytesMax: 100_000 },
      );
      const upload = { sha256, sizeBytes, entryCount: archive.entryCount };
      await world.database.commands.savePackage(call, upload, () => ({ status: 201, body: '{}' }));
      contract.verifierPackage = { sha256 };
      contract.submission = { ...contract.submission, privacy: 'PUBLIC_WITH_HIDDEN_VERIFIER' };
      contract.criteria.push({
        id: 'hidden',
        title: 'Something hidden',
        type: 'exit_code',
        visibility: 'hidden',
        command: 'sh $KERVYXA_VERIFIER_PACKAGE/hidden.sh',
        timeoutSeconds: 20,
      });
    });
    const id = await world.submit(contractId, commitOf('good'));
    await world.submissionIs(id, { state: 'PASSED' });
    const run = await world.runIs(id, { state: 'SEALED' });
    const log = await world.database.reads.log(run.id, 'hidden');
    expect(log?.visibility).toBe('hidden');
    expect(Buffer.from(log?.bytes ?? []).toString()).toBe('the answer is 42\n');
    const events = await world.database.reads.events({ runId: run.id }, null, 100);
    const told = events.filter(({ audience }) => audience !== 'OWNER');
    expect(JSON.stringify(told)).not.toContain('hidden');
    expect(JSON.stringify(events)).not.toContain('the answer is');
    const startedMs = run.startedAt?.getTime() ?? 0;
    const steps = told.filter(({ name }) => /^run_(step|output|sealed)/.test(name));
    expect(steps.length).toBeGreaterThan(4);
    for (const { at } of steps) expect(at.getTime() - startedMs).toBeGreaterThanOrEqual(BEAT_MS);
  });
});

// Keeps R-SETTLE-ORDER.
describe('a later submission that ends first', () => {
  it('waits for the earlier one, which wins', async () => {
    const sandbox = gatedSandbox();
    world.startWorker({ sandbox: sandbox.sandbox, slots: 2 });
    const contractId = await world.openContract();
    const goOn = sandbox.holdNext();
    const first = await world.submit(contractId, commitOf('good'));
    await sessionsOf(sandbox, 1);
    const second = await world.submit(contractId, commitOf('alsoGood'));
    await world.submissionIs(second, { state: 'VERIFIED' });
    await world.submissionIs(first, { state: 'RUNNING' });
    goOn();
    await world.submissionIs(first, { state: 'PASSED' });
    expect(await world.submissionIs(second, { state: 'DEFERRED' })).toMatchObject({
      verdict: 'PASS',
    });
  });
});

// Keeps R-WORKER-CRASH.
describe('a submission that breaks every attempt', () => {
  const commands = checking({ poison: { breaksWith: new Error('the engine dies of it') } });

  it('BUG-30 breaks every attempt: HELD after bounded tries, and the others go on', async () => {
    world.startWorker({ commands });
    const contractId = await world.openContract();
    const poison = await world.submit(contractId, commitOf('poison'));
    await world.runIs(poison, { tries: 1 });
    const other = await world.submit(await world.openContract(), commitOf('good'));
    await world.submissionIs(other, { state: 'PASSED' });
    await vi.waitFor(async () => {
      await world.hurry();
      expect(await world.database.reads.submission(poison)).toMatchObject({ state: 'HELD' });
    }, PATIENCE);
    await world.runIs(poison, { state: 'HELD', attempt: 3 });
  });

  it('BUG-30 kills its workers: HELD after three, and the others go on', async () => {
    const sandbox = gatedSandbox();
    world.startWorker({ sandbox: sandbox.sandbox, slots: 4 });
    const contractId = await world.openContract();
    sandbox.holdNext();
    const id = await world.submit(contractId, commitOf('good'));
    for (const attempt of [1, 2]) {
      await sessionsOf(sandbox, attempt);
      await world.runIs(id, { state: 'RUNNING', attempt });
      sandbox.holdNext();
      await world.endLeases();
    }
    await sessionsOf(sandbox, 3);
    await world.endLeases();
    await world.submissionIs(id, { state: 'HELD' });
    const run = await world.runIs(id, { state: 'HELD' });
    expect(run).toMatchObject({ attempt: 3, tries: 3, reason: 'WORKER_LOST', verdict: null });
    const other = await world.submit(contractId, commitOf('alsoGood'));
    await world.submissionIs(other, { state: 'PASSED' });
  });
});

// Keeps R-WORKER-FENCE.
describe('a worker that was silent too long', () => {
  it('S27 ends late with another result: the newer attempt’s stands', async () => {
    const [stale, fresh] = [gatedSandbox(checking({ good: { exitCode: 1 } })), gatedSandbox()];
    const first = world.startWorker({ sandbox: stale.sandbox });
    const contractId = await world.openContract();
    const goOn = stale.holdNext();
    const id = await world.submit(contractId, commitOf('good'));
    await sessionsOf(stale, 1);
    world.startWorker({ sandbox: fresh.sandbox });
    await world.endLeases();
    await world.submissionIs(id, { state: 'PASSED' });
    goOn();
    await first.drain();
    const run = await world.runIs(id, { state: 'SEALED', verdict: 'PASS', attempt: 2 });
    const attempts = await world.sql(
      'SELECT number, outcome FROM attempts WHERE run_id = $1 ORDER BY number',
      run.id,
    );
    expect(attempts).toEqual([
      { number: 1, outcome: 'lost' },
      { number: 2, outcome: 'sealed' },
    ]);
  });
});

// Keeps R-WORKER-DRAIN.
describe('a worker that is told to end', () => {
  it('drains: ends what runs, and takes nothing new', async () => {
    const sandbox = gatedSandbox();
    const worker = world.startWorker({ sandbox: sandbox.sandbox });
    const contractId = await world.openContract();
    const goOn = sandbox.holdNext();
    const first = await world.submit(contractId, commitOf('good'));
    await sessionsOf(sandbox, 1);
    const drained = worker.drain();
    expect(worker.state()).toMatchObject({ state: 'DRAINING' });
    const second = await world.submit(contractId, commitOf('alsoGood'));
    goOn();
    await drained;
    await worker.drain();
    expect(worker.state()).toMatchObject({ state: 'GONE', jobs: 0 });
    await world.submissionIs(first, { state: 'PASSED' });
    await world.submissionIs(second, { state: 'RECEIVED' });
    const { workers } = await world.database.reads.status();
    expect(workers).toMatchObject([{ id: worker.id, state: 'GONE' }]);
  });

  it.each([
    ['is stopped', {}, 'stop'],
    ['drains too long', { drainMs: 1 }, 'drain'],
  ] as const)(
    '%s: gives the run back, no try is counted, another ends it',
    async (_, options, how) => {
      const commands = checking({ good: { hangs: 'until_abort' } });
      const sandbox = gatedSandbox(commands);
      const worker = world.startWorker({ sandbox: sandbox.sandbox, ...options });
      const contractId = await world.openContract();
      const id = await world.submit(contractId, commitOf('good'));
      await sessionsOf(sandbox, 1);
      await worker[how]();
      await world.runIs(id, { state: 'QUEUED', attempt: 1, tries: 0 });
      world.startWorker();
      await world.submissionIs(id, { state: 'PASSED' });
      expect(await world.runIs(id, { state: 'SEALED' })).toMatchObject({ attempt: 2, tries: 0 });
    },
  );

  it('is stopped during an approval again and again: no try is counted', async () => {
    const { sandbox } = gatedSandbox();
    const contractId = await world.draftContract();
    for (let stop = 1; stop <= 7; stop += 1) {
      const looked = Promise.withResolvers<void>();
      const intake = createFakeIntake({ commits: SERVED });
      const worker = world.startWorker({
        sandbox,
        intake: {
          ...intake,
          openBase: async (_repository, _commit, signal) => {
            looked.resolve();
            await once(signal, 'abort');
            throw signal.reason;
          },
        },
      });
      await looked.promise;
      await worker.stop();
    }
    world.startWorker();
    const proved = await world.contractIs(contractId, { state: 'PROVED' });
    expect(proved.approvalState).toBe('DONE');
  });
});

// Keeps R-WORKER-SICK.
describe('a worker whose engine is gone', () => {
  it('takes no work, says so, and goes on by itself when the engine is back', async () => {
    const { sandbox } = gatedSandbox();
    let isGone = true;
    const worker = world.startWorker({
      sandbox: {
        ...sandbox,
        resolveImage: (reference, signal) =>
          isGone ? Promise.reject(new Error('no answer')) : sandbox.resolveImage(reference, signal),
      },
      health: { everyMs: 50 },
    });
    await worker.ready;
    expect(worker.state()).toEqual({ state: 'SICK', problem: 'no answer', jobs: 0 });
    const contractId = await world.draftContract();
    const { workers, queues } = await world.database.reads.status();
    expect(workers).toMatchObject([{ id: worker.id, state: 'SICK', problem: 'no answer' }]);
    expect(queues.map(({ name }) => name).toSorted()).toEqual([...QUEUES].toSorted());
    await world.contractIs(contractId, { approvalState: 'QUEUED' });
    isGone = false;
    await world.contractIs(contractId, { state: 'PROVED' });
    expect(worker.state()).toMatchObject({ state: 'READY', problem: null });
  });
});

// Keeps R-WORKER-SICK.
describe('a worker whose engine answers and runs nothing', () => {
  it('rests after one run, and leaves the others to a worker whose engine does', async () => {
    const first = world.startWorker();
    const contractIds = [await world.openContract(), await world.openContract()];
    await first.drain();
    const { sandbox } = gatedSandbox();
    const openSession = () =>
      Promise.reject(create('SANDBOX_ENGINE_UNAVAILABLE', { message: 'no space left' }));
    const broken = world.startWorker({ sandbox: { ...sandbox, openSession } });
    const ids = await Promise.all(contractIds.map((id) => world.submit(id, commitOf('good'))));
    await vi.waitFor(() => {
      expect(broken.state()).toMatchObject({
        state: 'SICK',
        problem: 'a job ended with ENGINE_UNAVAILABLE',
      });
    }, PATIENCE);
    world.startWorker();
    for (const id of ids) {
      await world.hurry();
      await world.submissionIs(id, { state: 'PASSED' });
    }
    const attempts = await world.sql('SELECT FROM attempts WHERE worker_id = $1', broken.id);
    expect(attempts).toHaveLength(1);
  });
});

// Keeps R-INTAKE-KEPT.
describe('a commit whose server is gone after submission', () => {
  it('S22 is verified all the same, by a worker that never saw it, though the base is gone too', async () => {
    const online = world.startWorker({ commands: checking({ good: { hangs: 'until_abort' } }) });
    const contractId = await world.openContract();
    const id = await world.submit(contractId, commitOf('good'));
    await world.submissionIs(id, { state: 'RUNNING' });
    await online.stop();
    world.startWorker({ isOnline: false });
    expect(await world.submissionIs(id, { state: 'PASSED' })).toMatchObject({ verdict: 'PASS' });
  });

  it('is lost by us, too: held, and tried again in its place also when the hold has ended', async () => {
    const online = world.startWorker({ commands: checking({ good: { hangs: 'until_abort' } }) });
    const contractId = await world.openContract();
    const id = await world.submit(contractId, commitOf('good'));
    await world.submissionIs(id, { state: 'RUNNING' });
    await online.stop();
    const lost = { kind: 'unavailable', reason: 'COMMIT_NOT_FOUND', message: 'planned' } as const;
    world.startWorker({ outcomes: { [commitOf('good')]: lost } });
    await vi.waitFor(async () => {
      await world.hurry();
      expect(await world.database.reads.submission(id)).toMatchObject({ state: 'HELD' });
    }, PATIENCE);
    await world.sql('UPDATE submissions SET held_until = now() WHERE id = $1', id);
    const { cases } = world.database;
    await cases.execute(contractId, { kind: 'advance' });
    await world.submissionIs(id, { state: 'INCONCLUSIVE', reason: 'INTERNAL' });
    const retried = await cases.execute(contractId, { kind: 'retry', submissionId: id });
    expect(retried.kind).toBe('accepted');
  });

  it('is verified again for a challenge, by a worker that never saw it', async () => {
    const online = world.startWorker();
    const contractId = await world.openContract();
    const id = await world.submit(contractId, commitOf('good'));
    await world.submissionIs(id, { state: 'PASSED' });
    await online.drain();
    await world.askForRerun(contractId, id);
    world.startWorker({ isOnline: false });
    const run = await world.runIs(id, { purpose: 'RERUN', state: 'SEALED' });
    expect(run.verdict).toBe('PASS');
    expect(await world.database.reads.listChallenges(id)).toMatchObject([{ state: 'UPHELD' }]);
  });

  it('has an address that has become private: INCONCLUSIVE at once', async () => {
    const refused = create('INTAKE_URL_REFUSED', { message: 'private' });
    world.startWorker({ outcomes: { [commitOf('good')]: refused } });
    const id = await world.submit(await world.openContract(), commitOf('good'));
    const submission = await world.submissionIs(id, { state: 'INCONCLUSIVE' });
    expect(submission.reason).toBe('REPOSITORY_UNREACHABLE');
  });

  it('was never there: tried again, and INCONCLUSIVE once its time is over', async () => {
    world.startWorker();
    const contractId = await world.openContract();
    const id = await world.submit(contractId, 'e'.repeat(40));
    await vi.waitFor(async () => {
      const waiting = await world.sql(
        `SELECT data->>'tries' AS tries FROM queue.job WHERE singleton_key = $1 AND state = 'created'`,
        id,
      );
      expect(waiting).toEqual([{ tries: '1' }]);
    }, PATIENCE);
    await world.sql(`UPDATE submissions SET capture_by = now() WHERE id = $1`, id);
    await world.database.cases.execute(contractId, { kind: 'advance' });
    await world.submissionIs(id, { state: 'INCONCLUSIVE' });
    await world.hurry();
    await vi.waitFor(async () => {
      const left = await world.sql(
        `SELECT FROM queue.job WHERE singleton_key = $1 AND state <= 'active'`,
        id,
      );
      expect(left).toEqual([]);
    }, PATIENCE);
  });
});

// Keeps R-WORKER-PATIENCE.
describe('captures', () => {
  it('S21 trickles bytes for ever from many repositories: the commits of others are captured meanwhile', async () => {
    const intake = createFakeIntake({ commits: SERVED });
    let trickling = 0;
    world.startWorker({
      fetchShareMs: 50,
      intake: {
        ...intake,
        fetchCommit: async (request, signal) => {
          if (!request.repositoryUrl.includes('trickle'))
            return intake.fetchCommit(request, signal);
          trickling += 1;
          await once(signal, 'abort');
          throw signal.reason;
        },
      },
    });
    const contractId = await world.openContract();
    for (let count = 0; count < 20; count += 1) {
      await world.submit(contractId, commitOf('bad'), `https://trickle-${count}.example.org/a.git`);
    }
    await vi.waitFor(() => expect(trickling).toBeGreaterThan(5), PATIENCE);
    const id = await world.submit(contractId, commitOf('good'));
    await vi.waitFor(async () => {
      expect(await world.database.reads.submission(id)).toMatchObject({ state: 'VERIFIED' });
    }, PATIENCE);
  });

  it('S28 is late for as long as its contract allows: captures do not wait for its second try', async () => {
    const sandbox = gatedSandbox(checking({ slow: { hangs: 'until_timeout' } }));
    world.startWorker({ sandbox: sandbox.sandbox });
    const contractId = await world.openContract();
    const goOn = sandbox.holdNext();
    const slow = await world.submit(contractId, commitOf('slow'));
    await sessionsOf(sandbox, 1);
    const holdSecond = sandbox.holdNext();
    goOn();
    await sessionsOf(sandbox, 2);
    const id = await world.submit(contractId, commitOf('good'));
    await world.submissionIs(id, { state: 'QUEUED' });
    expect(await world.database.reads.submission(slow)).toMatchObject({ state: 'RUNNING' });
    holdSecond();
    await world.submissionIs(slow, { state: 'FAILED', reason: 'TIME_LIMIT' });
    await world.submissionIs(id, { state: 'PASSED' });
  });
});

describe('a database that drops all connections during a run', () => {
  it('is away when the worker is told to stop: it is not waited for', async () => {
    const { database } = world;
    let isAway = false;
    const execute: typeof database.cases.execute = (...args) =>
      isAway
        ? Promise.reject(create('DB_UNAVAILABLE', { message: 'away' }))
        : database.cases.execute(...args);
    const commands = checking({ good: { hangs: 'until_abort' } });
    const worker = world.startWorker({
      commands,
      database: { ...database, cases: { ...database.cases, execute } },
    });
    const id = await world.submit(await world.openContract(), commitOf('good'));
    await world.submissionIs(id, { state: 'RUNNING' });
    isAway = true;
    await worker.stop();
    await world.endLeases();
    world.startWorker();
    expect(await world.submissionIs(id, { state: 'PASSED' })).toMatchObject({ verdict: 'PASS' });
  });

  it('loses nothing: the verdict is sealed', async () => {
    const sandbox = gatedSandbox();
    world.startWorker({ sandbox: sandbox.sandbox });
    const contractId = await world.openContract();
    const goOn = sandbox.holdNext();
    const id = await world.submit(contractId, commitOf('good'));
    await sessionsOf(sandbox, 1);
    await world.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    goOn();
    expect(await world.submissionIs(id, { state: 'PASSED' })).toMatchObject({ verdict: 'PASS' });
  });
});
