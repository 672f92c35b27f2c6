import { sealTree, type TreeEntry } from '@kervyxa/core';
import type { ContractRow } from '@kervyxa/db';
import { createFakeIntake } from '@kervyxa/intake/fake';
import { createFakeSandbox, type FakeBehaviour, type FakeCommand } from '@kervyxa/sandbox/fake';
import { ProvingReportSchema, type ProvingReport } from '@kervyxa/verifier';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { greetingPackage } from '../testing/checkers.ts';
import { checking, commitOf, SERVED } from '../testing/hello.ts';
import { createWorld, RUNTIMES, type World } from '../testing/world.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };

let world: World;

beforeEach(async () => {
  world = await createWorld();
});

afterEach(() => world.close());

async function reportOf({ provingBlob }: ContractRow): Promise<ProvingReport> {
  const chunks = await world.database.blobs.readBlob(provingBlob ?? '');
  const bytes = Buffer.concat(await Array.fromAsync(chunks ?? []));
  return ProvingReportSchema.parse(JSON.parse(bytes.toString()));
}

async function eventsOf(contractId: string) {
  return world.database.reads.events({ contractId }, null, 1_000);
}

/** Uploads files as a package of the requester; its digest. */
async function upload(ownerId: string, files: Readonly<Record<string, string>>): Promise<string> {
  const folders = new Set(
    Object.keys(files).flatMap((path) => (path.includes('/') ? [path.replace(/\/.*$/, '')] : [])),
  );
  const entries: TreeEntry[] = [
    ...[...folders].map((path): TreeEntry => ({ type: 'folder', path })),
    ...Object.entries(files).map(([path, text]): TreeEntry => {
      const content = Buffer.from(text);
      return { type: 'file', path, executable: false, size: content.length, content };
    }),
  ];
  const archive = await sealTree(entries);
  const stream = archive.open(new AbortController().signal);
  const { sha256, sizeBytes } = await world.database.blobs.saveBlob(stream, { bytesMax: 100_000 });
  const call = { actorId: ownerId, idempotency: null };
  const answer = () => ({ status: 201, body: '{}' });
  const { entryCount } = archive;
  await world.database.commands.savePackage(call, { sha256, sizeBytes, entryCount }, answer);
  return sha256;
}

/** Hangs where it is run on the base, which is what proving runs first. */
const HANGING: Record<string, FakeCommand> = {
  ...checking(),
  'sh check.sh runs': { hangs: 'until_abort' },
};

// Keeps R-PROVED-FIRST.
describe('an approval', () => {
  it('proves the contract in containers, keeps the report and tells how far it is', async () => {
    world.startWorker({ proving: { replays: 4 } });
    const id = await world.draftContract();
    const row = await world.contractIs(id, { state: 'PROVED', approvalState: 'DONE' });
    const report = await reportOf(row);
    expect(report).toMatchObject({ isProved: true, contractDigest: row.digest });
    const verdicts = report.columns.map(({ id: column, verdict }) => `${column} ${verdict}`);
    expect(verdicts.slice(0, 3)).toEqual(['base FAIL', 'good-1 PASS', 'bad-1 FAIL']);
    expect(verdicts.slice(3).every((each) => each.endsWith(' FAIL'))).toBe(true);
    expect(report.replays.map(({ runs }) => runs.length)).toEqual([4, 4]);
    const told = await eventsOf(id);
    const progress = told.filter(({ name }) => name === 'approval_progress');
    expect(progress[0]?.data).toEqual({
      step: 'columns',
      done: 0,
      total: 3,
      title: 'Base commit',
    });
    expect(progress.filter(({ data }) => data['step'] === 'replays')).toHaveLength(4);
    expect(progress.every(({ audience }) => audience === 'OWNER')).toBe(true);
    expect(told.at(-1)?.name).toBe('contract_proved');
  });

  it('has hidden package and dependency bundle of the requester in its containers', async () => {
    const told = new Set<string>();
    const hidden: FakeCommand = ({ verifierPackage, dependencies, workspace }) => {
      const read = (files: typeof workspace, path: string) =>
        Buffer.from((files.get(path) ?? '') as Uint8Array).toString();
      told.add(`${read(verifierPackage, 'answer.txt')} ${read(dependencies, 'npmrc')}`);
      return { exitCode: read(workspace, 'hello.sh').includes('hello') ? 0 : 1 };
    };
    world.startWorker({
      commands: { ...checking(), 'sh $KERVYXA_VERIFIER_PACKAGE/hidden.sh': hidden },
    });
    const id = await world.draftContract(async (contract, requesterId) => {
      contract.verifierPackage = { sha256: await upload(requesterId, { 'answer.txt': '42' }) };
      const sha256 = await upload(requesterId, { npmrc: 'offline=true' });
      contract.environment = { ...contract.environment, dependencies: { sha256 } };
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
    await world.fundApproved(id);
    expect([...told]).toEqual(['42 offline=true']);
    told.clear();
    await world.submissionIs(await world.submit(id, commitOf('alsoGood')), { state: 'PASSED' });
    expect([...told]).toEqual(['42 offline=true']);
  });

  it('asks the checker packages of the requester, in the image that it freezes', async () => {
    const python = `sha256:${'2'.repeat(64)}`;
    const greeting: FakeCommand = ({ input }) => {
      const path = [...input.keys()].find((each) => each.startsWith('artifacts/script/'));
      const script = Buffer.from((input.get(path ?? '') ?? '') as Uint8Array).toString();
      const result = script.includes('hello') ? 'verified' : 'refuted';
      return { writes: { 'result.json': JSON.stringify({ result }) } };
    };
    world.startWorker({
      runtimes: new Map([...RUNTIMES, ['kervyxa-runtime/python:1', python]]),
      commands: { ...checking(), 'python3 /input/checker/checker.py': greeting },
    });
    const withChecker = (files: Readonly<Record<string, string>>) =>
      world.draftContract(async (contract, requesterId) => {
        contract.criteria.push({
          id: 'greets',
          title: 'The script greets',
          type: 'checker',
          visibility: 'public',
          checker: { sha256: await upload(requesterId, files) },
          stage: 'greeting',
          artifacts: [{ role: 'script', path: 'hello.sh' }],
          timeoutSeconds: 20,
        });
      });
    const id = await withChecker(greetingPackage());
    const { document } = await world.contractIs(id, { state: 'PROVED' });
    expect(document).toContain(`"runtime":"kervyxa-runtime/python:1@${python}"`);
    await world.fundApproved(id);
    await world.submissionIs(await world.submit(id, commitOf('alsoGood')), { state: 'PASSED' });

    const none = await withChecker({ 'checker.py': 'print(1)' });
    const { findings } = await world.contractIs(none, { approvalState: 'REFUSED' });
    expect(findings).toMatchObject([{ code: 'CHECKER_UNFIT', pointer: '/criteria/2/checker' }]);
  });

  it('leaves hello.sh before it does anything and passes: refused, with the commit that did it', async () => {
    const lazy: FakeCommand = ({ workspace }) => {
      const script = Buffer.from(workspace.get('hello.sh') as Uint8Array).toString();
      return { exitCode: /hello|exit 0/.test(script) ? 0 : 1 };
    };
    world.startWorker({ commands: { ...checking(), 'sh check.sh': lazy } });
    const id = await world.draftContract();
    const row = await world.contractIs(id, { state: 'DRAFT', approvalState: 'REFUSED' });
    expect(row.findings).toMatchObject([
      {
        code: 'CHEAT_PASSES',
        severity: 'refuse',
        evidence: expect.stringContaining('+exit 0'),
        fix: expect.any(String),
      },
    ]);
    const report = await reportOf(row);
    expect(report.isProved).toBe(false);
    expect((await eventsOf(id)).at(-1)?.name).toBe('approval_refused');
  });

  it('has no commits that show it: refused', async () => {
    world.startWorker();
    const id = await world.draftContract((contract) => {
      contract.proof = [];
    });
    const { findings } = await world.contractIs(id, { state: 'DRAFT', approvalState: 'REFUSED' });
    expect(findings.map(({ code }) => code)).toContain('PROOF_MISSING');
  });

  it('is refused by its words: nothing is run, and there is no report', async () => {
    const inner = createFakeSandbox({ commands: checking() });
    let opened = 0;
    world.startWorker({
      sandbox: {
        inspect: (signal) => inner.inspect(signal),
        resolveImage: (reference, signal) => inner.resolveImage(reference, signal),
        reap: (signal) => inner.reap(signal),
        openSession: (request, signal) => {
          opened += 1;
          return inner.openSession(request, signal);
        },
      },
    });
    const id = await world.draftContract((contract) => {
      contract.objective = 'Whatever comes in, etc.';
    });
    const row = await world.contractIs(id, { state: 'DRAFT', approvalState: 'REFUSED' });
    expect(row.provingBlob).toBeNull();
    expect(opened).toBe(0);
  });
});

// Keeps R-WORKER-CRASH.
describe('an approval that our side breaks', () => {
  it('is tried again and then FAILED, never refused', async () => {
    const broken = { breaksWith: new Error('the engine dies of it') };
    world.startWorker({ commands: { ...checking(), 'sh check.sh runs': broken } });
    const id = await world.draftContract();
    await vi.waitFor(async () => {
      await world.hurry();
      expect(await world.database.reads.contract(id)).toMatchObject({ approvalState: 'FAILED' });
    }, PATIENCE);
    const row = await world.contractIs(id, { state: 'DRAFT' });
    expect(row.approvalProblem).toMatch(/^VERIFIER_PROVING_BROKEN: /);
    expect(row.findings).toEqual([]);
  });

  it('has a commit of proof whose server does not answer: tried again, and proved once it does', async () => {
    const silent = { kind: 'unavailable', reason: 'REPOSITORY_UNREACHABLE', message: 'x' } as const;
    const intake = createFakeIntake({ commits: SERVED });
    let tries = 0;
    world.startWorker({
      intake: {
        ...intake,
        fetchCommit: async (request, signal) => {
          if (request.commit !== commitOf('good')) return intake.fetchCommit(request, signal);
          tries += 1;
          return tries < 3 ? silent : intake.fetchCommit(request, signal);
        },
      },
    });
    const id = await world.draftContract();
    await vi.waitFor(async () => {
      await world.hurry();
      const row = await world.database.reads.contract(id);
      expect([row?.state, row?.approvalState]).toEqual(['PROVED', 'DONE']);
    }, PATIENCE);
  });

  it('has a commit of proof whose server never answers: FAILED, never refused, and nothing was run', async () => {
    const silent = { kind: 'unavailable', reason: 'REPOSITORY_UNREACHABLE', message: 'x' } as const;
    const intake = createFakeIntake({ commits: SERVED });
    world.startWorker({
      intake: {
        ...intake,
        fetchCommit: async (request, signal) =>
          request.commit === commitOf('good') ? silent : intake.fetchCommit(request, signal),
      },
    });
    const id = await world.draftContract();
    await vi.waitFor(async () => {
      await world.hurry();
      expect(await world.database.reads.contract(id)).toMatchObject({ approvalState: 'FAILED' });
    }, PATIENCE);
    const row = await world.contractIs(id, { state: 'DRAFT', provingBlob: null });
    expect(row.approvalProblem).toMatch(/^REPOSITORY_UNREACHABLE: .*proof/);
  });

  it('is of a worker that is killed while it proves: proved from the start by whoever takes it then', async () => {
    let isLost = false;
    const hanging = (): FakeBehaviour => (isLost ? {} : { hangs: 'until_abort' });
    const commands = { ...checking(), 'sh check.sh runs': hanging };
    world.startWorker({ commands });
    const id = await world.draftContract();
    await vi.waitFor(async () => {
      expect((await eventsOf(id)).at(-1)?.name).toBe('approval_progress');
    }, PATIENCE);
    isLost = true;
    await world.endLeases();
    world.startWorker({ commands });
    const { provingBlob } = await world.contractIs(id, { state: 'PROVED' });
    expect(provingBlob).not.toBeNull();
    const begun = (await eventsOf(id)).filter(({ name }) => name === 'approval_running');
    expect(begun).toHaveLength(2);
  });

  it('takes longer than the operator gives it: FAILED, and nothing runs any more', async () => {
    const worker = world.startWorker({ commands: HANGING, proving: { durationMsMax: 50 } });
    const id = await world.draftContract();
    const row = await world.contractIs(id, { state: 'DRAFT', approvalState: 'FAILED' });
    expect(row.approvalProblem).toContain('expected proving to end within');
    await expect.poll(() => worker.state().jobs, PATIENCE).toBe(0);
  });
});

describe('an approval that nobody wants any more', () => {
  it('was edited meanwhile: it is left at its next step, and the draft as it is now can be approved', async () => {
    const first = Promise.withResolvers<void>();
    const inner = createFakeSandbox({
      commands: {
        ...checking(),
        'sh check.sh runs': () => (opened === 1 || isEdited ? {} : { hangs: 'until_abort' }),
      },
    });
    let opened = 0;
    let isEdited = false;
    world.startWorker({
      sandbox: {
        inspect: (signal) => inner.inspect(signal),
        resolveImage: (reference, signal) => inner.resolveImage(reference, signal),
        reap: (signal) => inner.reap(signal),
        openSession: async (request, signal) => {
          opened += 1;
          await first.promise;
          return inner.openSession(request, signal);
        },
      },
    });
    const id = await world.draftContract();
    await vi.waitFor(async () => {
      expect((await eventsOf(id)).at(-1)?.name).toBe('approval_progress');
      expect(opened).toBe(1);
    }, PATIENCE);
    await world.editDraft(id, (contract) => {
      contract.title = 'Say hello, edited';
    });
    first.resolve();
    await expect
      .poll(() => world.lines, PATIENCE)
      .toContain('info: approval left: nobody waits for it');
    isEdited = true;
    expect(await world.contractIs(id, { state: 'DRAFT', approvalState: 'NONE' })).toMatchObject({
      provingBlob: null,
      title: 'Say hello, edited',
    });
    await world.startApproval(id);
    await world.contractIs(id, { state: 'PROVED' });
  });
});
