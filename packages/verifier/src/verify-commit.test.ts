import { setImmediate as turn } from 'node:timers/promises';
import { contractDigest, type Contract } from '@kervyxa/contract';
import {
  defineErrors,
  packTree,
  sealTree,
  Sha256HexSchema,
  sha256Hex,
  systemClock,
  type TreeArchive,
  type TreeEntry,
} from '@kervyxa/core';
import { createFakeIntake, fakeCommitId, type FakeTree } from '@kervyxa/intake/fake';
import type { InputDigests, Sandbox, SandboxSession } from '@kervyxa/sandbox';
import { createFakeSandbox, type FakeBehaviour, type FakeCommand } from '@kervyxa/sandbox/fake';
import { describe, expect, it } from 'vitest';
import type { VerificationEvent } from './events.ts';
import { createGate, type Gate } from './gate.ts';
import { type VerificationResult, VerificationResultSchema } from './result.ts';
import { contractWith, criterion } from './testing/contract.ts';
import { verifyCommit, type VerifyRequest } from './verify-commit.ts';

const [base, head] = [fakeCommitId('base'), fakeCommitId('head')];
const image = `sha256:${'1'.repeat(64)}`;
const URL_OF_SOLVER = 'https://git.kervyxa.example/solver.git';

interface Story {
  readonly criteria?: Contract['criteria'] | ReturnType<typeof criterion>[];
  readonly setup?: string[];
  readonly commands: Record<string, FakeCommand>;
  readonly tree?: FakeTree;
  readonly contract?: Parameters<typeof contractWith>[0];
  readonly request?: Partial<VerifyRequest>;
  readonly outcomes?: Parameters<typeof createFakeIntake>[0]['outcomes'];
  readonly images?: Record<string, string>;
  readonly gate?: Gate;
  /** What becomes of the fake. */
  readonly meddle?: (sandbox: Sandbox) => Sandbox;
}

interface Told {
  readonly result: VerificationResult;
  readonly events: VerificationEvent[];
}

async function tell(story: Story): Promise<Told> {
  const { setup = [], criteria = [criterion('tests')], meddle = (sandbox) => sandbox } = story;
  const contract = contractWith({
    repository: { url: 'https://git.kervyxa.example/base.git', baseCommit: base },
    environment: { setup: setup.map((command) => ({ command, timeoutSeconds: 10 })) },
    criteria,
    ...story.contract,
  });
  const events: VerificationEvent[] = [];
  const result = await verifyCommit(
    {
      intake: createFakeIntake({
        commits: {
          [base]: { tree: { 'a.js': 'base\n' } },
          [head]: { tree: story.tree ?? { 'a.js': 'head\n' }, parents: [base] },
        },
        ...(story.outcomes && { outcomes: story.outcomes }),
      }),
      sandbox: meddle(
        createFakeSandbox({
          commands: story.commands,
          ...(story.images && { images: story.images }),
        }),
      ),
      clock: systemClock,
      runtimes: new Map([['kervyxa-runtime/node:22', image]]),
      coreCount: 2,
      ...(story.gate && { gate: story.gate }),
    },
    {
      contract,
      contractDigest: contractDigest(contract),
      repositoryUrl: URL_OF_SOLVER,
      commit: head,
      verifierPackage: null,
      ...story.request,
    },
    { signal: new AbortController().signal, onEvent: (event) => events.push(event) },
  );
  expect(VerificationResultSchema.parse(result)).toEqual(result);
  return { result, events };
}

async function verdictOf(story: Story): Promise<string> {
  const { result } = await tell(story);
  return [result.verdict, ...result.reasons.map(({ code }) => code)].join(' ');
}

/** Behaves one way on the submitted tree and another on the base. */
function onHead(there: FakeBehaviour, atBase: FakeBehaviour): FakeCommand {
  return ({ workspace }) => (String(workspace.get('a.js')) === 'head\n' ? there : atBase);
}

/** A session that measures as it is told. */
function toMeasuring(
  session: SandboxSession,
  say: (inputs: InputDigests) => InputDigests,
): SandboxSession {
  return {
    strategy: session.strategy,
    ready: session.ready,
    runSetup: (...asked) => session.runSetup(...asked),
    stage: (...asked) => session.stage(...asked),
    measure: async (signal) => say(await session.measure(signal)),
    close: () => session.close(),
  };
}

const late: FakeBehaviour = { hangs: 'until_timeout' };
const notFound: FakeBehaviour = { exitCode: 127 };

// Keeps R-INPUTS-MEASURED.
describe('what the commands read', () => {
  it.each(['tree', 'package', 'dependencies'] as const)(
    'is changed from outside (%s): ERROR, and neither PASS nor FAIL, whatever came of the runs',
    async (meanwhileChanged) => {
      const sealed = await sealTree([{ type: 'folder', path: 'some' }]);
      const sha256 = Sha256HexSchema.parse(sealed.digest);
      for (const exitCode of [0, 1]) {
        const { result } = await tell({
          contract: {
            verifierPackage: { sha256 },
            environment: { dependencies: { sha256 } },
          },
          request: { verifierPackage: sealed, dependencies: sealed },
          commands: { tests: { exitCode, meanwhileChanged } },
        });
        expect(result).toMatchObject({
          verdict: 'ERROR',
          reasons: [{ code: 'INPUTS_CHANGED', message: expect.stringContaining(meanwhileChanged) }],
          inputs: null,
        });
      }
    },
  );

  it.each([0, 1])(
    'is changed from outside while set-up runs, which ends with %i: ERROR, and neither PASS nor FAIL',
    async (exitCode) => {
      const install: FakeBehaviour = { exitCode, meanwhileChanged: 'tree' };
      const commands = { install: onHead(install, {}), tests: {} };
      expect(await verdictOf({ setup: ['install'], commands })).toBe('ERROR INPUTS_CHANGED');
    },
  );

  it.each(['tests', 'install'])(
    'is laid out otherwise for the second try of what was late (%s): ERROR, whatever that ends with',
    async (lateOne) => {
      let runs = 0;
      const once = (): FakeBehaviour => (++runs === 1 ? late : {});
      let sessions = 0;
      const meddle = (sandbox: Sandbox): Sandbox => ({
        inspect: (...asked) => sandbox.inspect(...asked),
        resolveImage: (...asked) => sandbox.resolveImage(...asked),
        reap: (...asked) => sandbox.reap(...asked),
        openSession: async (...asked) => {
          const session = await sandbox.openSession(...asked);
          const isSecond = ++sessions === 2;
          return toMeasuring(session, (inputs) =>
            isSecond ? { ...inputs, tree: sha256Hex('other') } : inputs,
          );
        },
      });
      const commands = { install: {}, tests: {}, [lateOne]: once };
      expect(await verdictOf({ setup: ['install'], commands, meddle })).toBe(
        'ERROR INPUTS_CHANGED',
      );
    },
  );

  it('is told by its digests, which hang on content alone', async () => {
    const inputsOf = async (tree: FakeTree) => {
      const { result } = await tell({ tree, commands: { tests: {} } });
      return result.inputs;
    };
    const [one, same, other] = [
      await inputsOf({ 'a.js': 'head\n' }),
      await inputsOf({ 'a.js': 'head\n' }),
      await inputsOf({ 'a.js': 'more\n' }),
    ];
    expect(one).toEqual({
      checkout: expect.stringMatching(/^[0-9a-f]{64}$/),
      package: null,
      dependencies: null,
    });
    expect(same).toEqual(one);
    expect(other?.checkout).not.toBe(one?.checkout);
  });

  it('keeps a failure that was seen, where it is changed in a second try only', async () => {
    let runs = 0;
    const { result } = await tell({
      criteria: [criterion('tests'), criterion('slow')],
      commands: {
        tests: { exitCode: 1 },
        slow: () => {
          runs += 1;
          return runs === 1 ? late : { meanwhileChanged: 'tree' };
        },
      },
    });
    expect(result.criteria.map(({ status, reason }) => `${status} ${reason}`)).toEqual([
      'fail EXIT_CODE_MISMATCH',
      'error INPUTS_CHANGED',
    ]);
  });
});

describe('a verification', () => {
  it('passes when every criterion passes, and says what was judged', async () => {
    const { result } = await tell({
      criteria: [criterion('tests'), criterion('more')],
      commands: { tests: { stdout: 'fine\n' }, more: {} },
    });
    expect(result).toMatchObject({
      verdict: 'PASS',
      commit: head,
      imageDigest: image,
      changedFiles: [{ path: 'a.js', status: 'modified' }],
      reasons: [],
      criteria: [
        { id: 'tests', status: 'pass', exitCode: 0 },
        { id: 'more', status: 'pass', exitCode: 0 },
      ],
    });
  });

  it('runs every criterion even after one failed, and reports them in the order of the contract', async () => {
    const { result } = await tell({
      criteria: [criterion('a'), criterion('b'), criterion('c')],
      commands: { a: { exitCode: 1 }, b: {}, c: { exitCode: 139 } },
    });
    expect(result.verdict).toBe('FAIL');
    expect(result.criteria.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'a fail',
      'b pass',
      'c fail',
    ]);
    expect(result.reasons.map(({ code, subject }) => `${code} ${subject}`)).toEqual([
      'EXIT_CODE_MISMATCH a',
      'CRASHED c',
    ]);
  });

  it('runs nothing of the solver when policy is breached', async () => {
    const { result, events } = await tell({
      contract: { constraints: { protectedPaths: ['a.js'] } },
      commands: {}, // Any command would be refused by the fake.
    });
    expect(result).toMatchObject({
      verdict: 'FAIL',
      criteria: [{ status: 'not_run', reason: null }],
    });
    expect(result.reasons[0]).toMatchObject({ code: 'PROTECTED_PATH_CHANGED', subject: 'a.js' });
    expect(events.map((event) => (event.kind === 'output' ? '' : event.step.id))).not.toContain(
      'workspace',
    );
  });

  it('starts and ends each step once, in the order of the procedure', async () => {
    const { events } = await tell({
      setup: ['install'],
      criteria: [criterion('tests'), criterion('slow')],
      commands: { install: {}, tests: {}, slow: late },
    });
    const steps = events.flatMap((event) =>
      event.kind === 'step_finished' ? [`${event.step.id} ${event.status}`] : [],
    );
    expect(steps).toEqual([
      'fetch pass',
      'policy pass',
      'image pass',
      'workspace pass',
      'setup:0 pass',
      'criterion:tests pass',
      'criterion:slow fail',
    ]);
    const started = events.filter(({ kind }) => kind === 'step_started');
    expect(started).toHaveLength(steps.length);
  });
});

describe('a commit that can not be had', () => {
  it.each(['REPOSITORY_UNREACHABLE', 'COMMIT_NOT_FOUND', 'ANCESTRY_UNKNOWN'] as const)(
    'is INCONCLUSIVE for %s, not FAIL',
    async (reason) => {
      const outcomes = { [head]: { kind: 'unavailable', reason, message: 'gone' } as const };
      expect(await verdictOf({ commands: {}, outcomes })).toBe(`INCONCLUSIVE ${reason}`);
    },
  );

  it('is FAIL where the commit itself is at fault, so that a bomb can not choose ERROR (G20)', async () => {
    const outcomes = {
      [head]: { kind: 'refused', reason: 'SOURCE_TOO_LARGE', message: 'bomb' } as const,
    };
    expect(await verdictOf({ commands: {}, outcomes })).toBe('FAIL SOURCE_TOO_LARGE');
  });
});

// Keeps R-VERDICT-TIME.
describe('a time-out', () => {
  it('that does not repeat when nothing runs beside it does not count', async () => {
    let tries = 0;
    const slowOnce: FakeCommand = () => (++tries === 1 ? late : {});
    expect(await verdictOf({ commands: { tests: slowOnce } })).toBe('PASS');
    expect(tries).toBe(2);
  });

  it('is tried again only when no other verification of the worker runs anything', async () => {
    const gate = createGate();
    const neighbour = Promise.withResolvers<void>();
    const firstTry = Promise.withResolvers<void>();
    const order: string[] = [];
    const slowOnce: FakeCommand = () => {
      order.push('try');
      firstTry.resolve();
      return order.length === 1 ? late : {};
    };
    const never = new AbortController().signal;
    const beside = gate.beside(() => neighbour.promise, never);
    const verdict = verdictOf({ commands: { tests: slowOnce }, gate });
    await firstTry.promise;
    await turn();
    order.push('neighbour ends');
    neighbour.resolve();
    expect(await verdict).toBe('PASS');
    await beside;
    expect(order).toEqual(['try', 'neighbour ends', 'try']);
  });

  it('H15 comes from a public criterion, whose second try could tell when the hidden ones ended: it is before them', async () => {
    const order: string[] = [];
    const lateOnce =
      (name: string): FakeCommand =>
      () =>
        order.push(name) && order.filter((each) => each === name).length === 1 ? late : {};
    const criteria = [
      criterion('secret', { visibility: 'hidden' }),
      criterion('open'),
      criterion('other', { visibility: 'hidden' }),
    ];
    const commands = { open: lateOnce('open'), secret: lateOnce('secret'), other: {} };
    expect(await verdictOf({ criteria, commands })).toBe('PASS');
    expect(order).toEqual(['open', 'open', 'secret', 'secret']);
  });

  it('that repeats is a FAIL', async () => {
    expect(await verdictOf({ commands: { tests: late } })).toBe('FAIL TIME_LIMIT');
  });

  it('then another failure is judged by the second run', async () => {
    let tries = 0;
    const lateThenWrong: FakeCommand = () => (++tries === 1 ? late : { exitCode: 1 });
    expect(await verdictOf({ commands: { tests: lateThenWrong } })).toBe('FAIL EXIT_CODE_MISMATCH');
  });
});

// Keeps R-VERDICT-TIME.
describe('a slow machine', () => {
  it('is late with the set-up and then with a criterion: each has a second try of its own', async () => {
    const tries = { install: 0, tests: 0 };
    const install: FakeCommand = () => (++tries.install === 1 ? late : {});
    const tests: FakeCommand = () => (++tries.tests === 1 ? late : {});
    expect(await verdictOf({ setup: ['install'], commands: { install, tests } })).toBe('PASS');
  });

  it('is late with the set-up before the second try of a criterion', async () => {
    const tries = { install: 0, tests: 0 };
    const install: FakeCommand = () => (++tries.install === 2 ? late : {});
    const tests: FakeCommand = () => (++tries.tests === 1 ? late : {});
    expect(await verdictOf({ setup: ['install'], commands: { install, tests } })).toBe('PASS');
  });

  it('is late with the set-up at the base: the solver still can not choose INCONCLUSIVE', async () => {
    let tries = 0;
    const install: FakeCommand = ({ workspace }) => {
      if (String(workspace.get('a.js')) === 'head\n') return { exitCode: 1 };
      return ++tries === 1 ? late : {};
    };
    expect(await verdictOf({ setup: ['install'], commands: { install } })).toBe(
      'FAIL SETUP_FAILED',
    );
  });
});

// Keeps R-VERDICT-OURS.
describe('a command that is not found', () => {
  it('is what the contract expects, and passes', async () => {
    const criteria = [criterion('tests', { expectedExitCode: 127 })];
    expect(await verdictOf({ criteria, commands: { tests: notFound } })).toBe('PASS');
  });

  it('BUG-16 at the base commit either is the contract’s fault', async () => {
    expect(await verdictOf({ commands: { tests: notFound } })).toBe(
      'INCONCLUSIVE COMMAND_NOT_FOUND',
    );
  });

  it('removes the script that the base has: the solver broke it and can not choose INCONCLUSIVE', async () => {
    const tests = onHead(notFound, { exitCode: 1 });
    expect(await verdictOf({ commands: { tests } })).toBe('FAIL EXIT_CODE_MISMATCH');
  });

  it('exits 127 itself to look like a broken contract (C11)', async () => {
    expect(await verdictOf({ commands: { tests: onHead(notFound, {}) } })).toBe(
      'FAIL EXIT_CODE_MISMATCH',
    );
  });
});

describe('set-up', () => {
  it('that fails here and works at the base is the solver’s FAIL', async () => {
    const install = onHead({ exitCode: 1 }, {});
    const { result } = await tell({ setup: ['install'], commands: { install } });
    expect(result).toMatchObject({
      verdict: 'FAIL',
      reasons: [{ code: 'SETUP_FAILED', subject: 'environment.setup[0]' }],
      criteria: [{ status: 'not_run' }],
    });
  });

  it('that fails at the base too is a broken contract', async () => {
    const commands = { install: { exitCode: 1 } };
    expect(await verdictOf({ setup: ['install'], commands })).toBe(
      'INCONCLUSIVE SETUP_FAILED_AT_BASE',
    );
  });

  it('that fails only the second time is still judged against the base, never ERROR', async () => {
    let tries = 0;
    const install: FakeCommand = ({ workspace }) =>
      String(workspace.get('a.js')) === 'head\n' && ++tries === 2 ? { exitCode: 1 } : {};
    const story = { setup: ['install'], commands: { install, tests: late } };
    expect(await verdictOf(story)).toBe('FAIL SETUP_FAILED');
  });

  it('that is late once gets a second try', async () => {
    let tries = 0;
    const install: FakeCommand = () => (++tries === 1 ? late : {});
    expect(await verdictOf({ setup: ['install'], commands: { install, tests: {} } })).toBe('PASS');
  });
});

// Keeps R-VERDICT-OURS.
describe('trouble of ours', () => {
  const trouble = defineErrors({
    SANDBOX_ENGINE_UNAVAILABLE: {
      fault: 'infra',
      retryable: true,
      httpStatus: 503,
      exitCode: 4,
      meaning: 'gone',
    },
    SANDBOX_SOMETHING_NEW: {
      fault: 'infra',
      retryable: true,
      httpStatus: 503,
      exitCode: 4,
      meaning: 'new',
    },
  });

  it('in one criterion is ERROR when nothing failed, with the others still graded', async () => {
    const breaksWith = trouble.create('SANDBOX_ENGINE_UNAVAILABLE', { message: 'socket closed' });
    const { result } = await tell({
      criteria: [criterion('a'), criterion('b')],
      commands: { a: { breaksWith }, b: {} },
    });
    expect(result.verdict).toBe('ERROR');
    expect(result.criteria.map(({ status, reason }) => [status, reason])).toEqual([
      ['error', 'ENGINE_UNAVAILABLE'],
      ['pass', null],
    ]);
  });

  it('does not hide a failure that was seen', async () => {
    const breaksWith = trouble.create('SANDBOX_ENGINE_UNAVAILABLE', { message: 'socket closed' });
    const criteria = [criterion('a'), criterion('b')];
    expect(await verdictOf({ criteria, commands: { a: { breaksWith }, b: { exitCode: 1 } } })).toBe(
      'FAIL EXIT_CODE_MISMATCH ENGINE_UNAVAILABLE',
    );
  });

  it('comes while a late criterion is run again: what else failed stays a FAIL', async () => {
    const breaksWith = trouble.create('SANDBOX_ENGINE_UNAVAILABLE', { message: 'socket closed' });
    let tries = 0;
    const install: FakeCommand = () => (++tries === 1 ? {} : { breaksWith });
    const story = { setup: ['install'], criteria: [criterion('slow'), criterion('wrong')] };
    const commands = { install, slow: late, wrong: { exitCode: 1 } };
    expect(await verdictOf({ ...story, commands })).toBe(
      'FAIL EXIT_CODE_MISMATCH ENGINE_UNAVAILABLE',
    );
  });

  it('comes while the base is asked about a missing command: only that criterion is open', async () => {
    const breaksWith = trouble.create('SANDBOX_ENGINE_UNAVAILABLE', { message: 'socket closed' });
    const missing = onHead(notFound, { breaksWith });
    expect(await verdictOf({ commands: { tests: missing } })).toBe('ERROR ENGINE_UNAVAILABLE');
    const install = onHead({}, { breaksWith });
    const story = { setup: ['install'], criteria: [criterion('missing'), criterion('wrong')] };
    const commands = { install, missing, wrong: { exitCode: 1 } };
    expect(await verdictOf({ ...story, commands })).toBe(
      'FAIL EXIT_CODE_MISMATCH ENGINE_UNAVAILABLE',
    );
  });

  it('of an unknown kind is INTERNAL, never FAIL', async () => {
    const breaksWith = trouble.create('SANDBOX_SOMETHING_NEW', { message: 'hm' });
    expect(await verdictOf({ commands: { tests: { breaksWith } } })).toBe('ERROR INTERNAL');
    expect(await verdictOf({ commands: { tests: { breaksWith: new Error('hm') } } })).toBe(
      'ERROR INTERNAL',
    );
  });

  it('with the image is ERROR', async () => {
    expect(await verdictOf({ commands: {}, images: {} })).toBe('ERROR IMAGE_UNAVAILABLE');
  });
});

describe('what can not run here', () => {
  const metric = { name: 'opcodes', unit: 'count', op: 'lt', threshold: 5 };
  it.each([
    [
      'a checker stage',
      { type: 'checker', command: undefined, checker: { sha256: 'a'.repeat(64) }, stage: 'main' },
    ],
    [
      'counted work without a pinned answer',
      { type: 'benchmark', source: 'python_opcode_count', metric },
    ],
  ])('%s is INCONCLUSIVE, and the rest still runs', async (_title, overrides) => {
    const plain = Object.fromEntries(
      Object.entries({ ...criterion('c'), ...overrides }).filter(
        ([, value]) => value !== undefined,
      ),
    ) as ReturnType<typeof criterion>; // The parser is the judge.
    const story = { criteria: [plain, criterion('tests')] };
    expect(await verdictOf({ ...story, commands: { tests: {} } })).toBe(
      'INCONCLUSIVE STAGE_UNAVAILABLE',
    );
    expect(await verdictOf({ ...story, commands: { tests: { exitCode: 1 } } })).toBe(
      'FAIL EXIT_CODE_MISMATCH STAGE_UNAVAILABLE',
    );
  });
});

// Keeps R-HIDDEN-APART.
describe('the hidden package', () => {
  const archive: TreeArchive = {
    digest: 'f'.repeat(64),
    entryCount: 1,
    bytesTotal: 6,
    open: (signal) => packTree(secretFile(), signal),
  };
  async function* secretFile(): AsyncGenerator<TreeEntry> {
    yield {
      type: 'file',
      path: 'secret',
      executable: false,
      size: 6,
      content: Buffer.from('secret'),
    };
  }
  const criteria = [criterion('open'), criterion('hidden', { visibility: 'hidden' })];
  const contract = { verifierPackage: { sha256: 'f'.repeat(64) } };
  const seesSecret: FakeCommand = ({ verifierPackage }) => ({ exitCode: verifierPackage.size });

  it('is seen by hidden criteria and by no other', async () => {
    const { result } = await tell({
      criteria,
      contract,
      request: { verifierPackage: archive },
      commands: { open: seesSecret, hidden: seesSecret },
    });
    expect(result.criteria.map(({ exitCode }) => exitCode)).toEqual([0, 1]);
  });

  it('that is not given leaves its criteria INCONCLUSIVE', async () => {
    expect(await verdictOf({ criteria, contract, commands: { open: {} } })).toBe(
      'INCONCLUSIVE STAGE_UNAVAILABLE',
    );
  });

  it('that a contract leaves to the caller, who gives none, leaves its criteria INCONCLUSIVE too', async () => {
    const command = 'sh "$KERVYXA_VERIFIER_PACKAGE/run.sh"';
    const hidden = [criterion('open'), criterion('hidden', { visibility: 'hidden', command })];
    expect(await verdictOf({ criteria: hidden, commands: { open: {} } })).toBe(
      'INCONCLUSIVE STAGE_UNAVAILABLE',
    );
  });

  it('that is not the frozen one is the caller’s mistake, and nothing runs', async () => {
    const other = { ...archive, digest: 'e'.repeat(64) };
    await expect(
      tell({ criteria, contract, request: { verifierPackage: other }, commands: {} }),
    ).rejects.toMatchObject({ code: 'VERIFIER_PACKAGE_MISMATCH' });
  });
});

describe('the dependency bundle', () => {
  const archive: TreeArchive = {
    digest: 'd'.repeat(64),
    entryCount: 1,
    bytesTotal: 4,
    open: (signal) => packTree(npmrc(), signal),
  };
  async function* npmrc(): AsyncGenerator<TreeEntry> {
    const content = Buffer.from('rc=1');
    yield { type: 'file', path: 'npmrc', executable: false, size: 4, content };
  }
  const contract: Story['contract'] = {
    environment: {
      dependencies: { sha256: 'd'.repeat(64) },
      setup: [{ command: 'npm ci', timeoutSeconds: 10 }],
    },
  };
  const needsIt: FakeCommand = ({ dependencies }) => ({ exitCode: dependencies.size - 1 });

  it('is there for set-up and for every criterion', async () => {
    const commands = { 'npm ci': needsIt, tests: needsIt };
    expect(await verdictOf({ contract, commands, request: { dependencies: archive } })).toBe(
      'PASS',
    );
  });

  it('is there at the base commit too: set-up that fails only here is the solver’s FAIL', async () => {
    const install: FakeCommand = ({ workspace, dependencies }) =>
      dependencies.size === 1 && String(workspace.get('a.js')) !== 'head\n' ? {} : { exitCode: 1 };
    const request = { dependencies: archive };
    expect(await verdictOf({ contract, request, commands: { 'npm ci': install } })).toBe(
      'FAIL SETUP_FAILED',
    );
  });

  it('that is not given leaves every criterion INCONCLUSIVE, says how to give it, and runs nothing', async () => {
    const { result } = await tell({ contract, commands: {} });
    expect(result.verdict).toBe('INCONCLUSIVE');
    expect(result.reasons).toMatchObject([
      { code: 'STAGE_UNAVAILABLE', message: expect.stringContaining('--deps FILE') },
    ]);
  });

  it.each([
    ['is not the frozen one', contract, 'e'.repeat(64)],
    ['is given where the contract names none', {}, 'd'.repeat(64)],
  ])('that %s is the caller’s mistake, and nothing runs', async (_title, named, digest) => {
    const dependencies = { ...archive, digest };
    await expect(
      tell({ contract: named, request: { dependencies }, commands: {} }),
    ).rejects.toMatchObject({ code: 'VERIFIER_DEPENDENCIES_MISMATCH' });
  });
});

describe('work that is counted', () => {
  const answer = sha256Hex('42\n');
  const metric = { name: 'blocks', unit: 'blocks', op: 'lt', threshold: 50 };
  const criteria = [
    criterion('fast', {
      type: 'benchmark',
      command: 'node sort.js',
      source: 'node_block_count',
      stdoutSha256: answer,
      metric,
    }),
  ];
  const report = (count: number): string =>
    `KERVYXA_COUNT=${JSON.stringify({ count, stdoutSha256: answer, exitCode: 0, signal: null })}\n`;
  const run = (command: FakeCommand): Story => ({
    criteria,
    commands: { 'exec kervyxa-count node_block_count node sort.js': command },
  });

  it('is read from the harness that runs the command, with what the program itself printed', async () => {
    const { result } = await tell(run({ stdout: report(7), stderr: '42\n' }));
    expect(result).toMatchObject({
      verdict: 'PASS',
      criteria: [{ metric: 7, exitCode: 0, outputSha256: answer }],
    });
  });

  it('fails above the threshold, with its number', async () => {
    const { result } = await tell(run({ stdout: report(70) }));
    expect(result).toMatchObject({ verdict: 'FAIL', criteria: [{ metric: 70 }] });
  });

  it('tells nothing of the answer where the harness tells nothing', async () => {
    const { result } = await tell(run({ exitCode: 1 }));
    expect(result.criteria).toMatchObject([{ status: 'fail', exitCode: 1, outputSha256: null }]);
  });

  it('on an image without the harness is the contract’s fault, which names an unfit image', async () => {
    const { result } = await tell(run(notFound));
    expect(result.reasons).toMatchObject([
      { code: 'COMMAND_NOT_FOUND', message: expect.stringContaining('no harness') },
    ]);
    expect(result.verdict).toBe('INCONCLUSIVE');
  });

  it('deletes the program that the base has: the solver can not choose INCONCLUSIVE', async () => {
    expect(await verdictOf(run(onHead(notFound, { stdout: report(7) })))).toBe(
      'FAIL EXIT_CODE_MISMATCH',
    );
  });
});

describe('an abort', () => {
  it('rejects with its reason instead of giving a verdict', async () => {
    const abort = new AbortController();
    const contract = contractWith({ repository: { url: URL_OF_SOLVER, baseCommit: base } });
    const verifying = verifyCommit(
      {
        intake: createFakeIntake({
          commits: { [base]: { tree: {} }, [head]: { tree: { 'a.js': 'x' }, parents: [base] } },
        }),
        sandbox: createFakeSandbox({ commands: { tests: { hangs: 'until_abort' } } }),
        clock: systemClock,
        runtimes: new Map([['kervyxa-runtime/node:22', image]]),
        coreCount: 1,
      },
      {
        contract,
        contractDigest: '',
        repositoryUrl: URL_OF_SOLVER,
        commit: head,
        verifierPackage: null,
      },
      {
        signal: abort.signal,
        onEvent: (event) => {
          if (event.kind === 'step_started' && event.step.kind === 'criterion')
            abort.abort(new Error('Ctrl-C'));
        },
      },
    );
    await expect(verifying).rejects.toThrow('Ctrl-C');
  });
});

describe('a file that a criterion names', () => {
  const asserting = (assertion: object): ReturnType<typeof criterion> =>
    criterion('make', { type: 'file_assertion', path: 'out.bin', assertion });
  const large = Buffer.alloc(2 * 1_024 * 1_024, 'x');
  const make: FakeBehaviour = { writes: { 'out.bin': large } };

  it('is weighed by its digest, however large', async () => {
    const assertion = { op: 'sha256', value: sha256Hex(large) };
    expect(await verdictOf({ criteria: [asserting(assertion)], commands: { make } })).toBe('PASS');
  });

  it('is not searched for a pattern beyond what a worker can afford', async () => {
    const assertion = { op: 'matches', value: 'x' };
    expect(await verdictOf({ criteria: [asserting(assertion)], commands: { make } })).toBe(
      'FAIL ASSERTION_FAILED',
    );
  });
});
