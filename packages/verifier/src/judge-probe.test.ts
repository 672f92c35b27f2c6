import { contractDigest, type ContractInput } from '@kervyxa/contract';
import { sealTree, systemClock, type TreeArchive } from '@kervyxa/core';
import { createFakeIntake, fakeCommitId, type FakeTree } from '@kervyxa/intake/fake';
import type { Sandbox } from '@kervyxa/sandbox';
import { createFakeSandbox, type FakeCommand, type FakeView } from '@kervyxa/sandbox/fake';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { VerificationEvent } from './events.ts';
import { toJudgeCommand } from './judge-guards.ts';
import { PROBE_BYTES_MAX, PROBE_FILE_BYTES_MAX } from './probe-output.ts';
import type { VerificationResult } from './result.ts';
import { contractWith } from './testing/contract.ts';
import { verifyCommit } from './verify-commit.ts';

const [base, head] = [fakeCommitId('base'), fakeCommitId('head')];

interface Story {
  readonly probe: FakeCommand;
  readonly judge?: FakeCommand;
  readonly outputs?: string[];
  readonly visibility?: 'public' | 'hidden';
  readonly tree?: FakeTree;
  readonly signal?: AbortSignal;
}

let verifierPackage: TreeArchive;

beforeAll(async () => {
  const file = (path: string, text: string) => {
    const content = Buffer.from(text);
    return { type: 'file' as const, path, executable: false, size: content.length, content };
  };
  verifierPackage = await sealTree([
    file('answers.json', '[42]'),
    file('probe/cases.json', '[6, 7]'),
    file('probe/deep/run.js', 'run'),
    file('probes.txt', 'not of the probe'),
  ]);
});

async function tell(story: Story): Promise<{
  readonly result: VerificationResult;
  readonly events: VerificationEvent[];
}> {
  const { outputs = [], visibility = 'hidden' } = story;
  const judged: ContractInput['criteria'][number] = {
    id: 'answers',
    title: 'The answers are right',
    type: 'judge_probe',
    visibility,
    probe: { command: 'probe', outputs },
    judge: { command: 'judge' },
    timeoutSeconds: 10,
  };
  const contract = contractWith({
    repository: { url: 'https://git.kervyxa.example/base.git', baseCommit: base },
    constraints: { maxChangedFiles: 3 },
    criteria: [judged],
    verifierPackage: { sha256: verifierPackage.digest },
  });
  const events: VerificationEvent[] = [];
  const result = await verifyCommit(
    {
      intake: createFakeIntake({
        commits: {
          [base]: { tree: { 'a.js': 'base\n' } },
          [head]: { tree: { 'a.js': 'head\n', ...story.tree }, parents: [base] },
        },
      }),
      sandbox: counted(
        createFakeSandbox({
          commands: { probe: story.probe, [toJudgeCommand('judge')]: story.judge ?? {} },
        }),
      ),
      clock: systemClock,
      runtimes: new Map([['kervyxa-runtime/node:22', `sha256:${'1'.repeat(64)}`]]),
      coreCount: 2,
    },
    {
      contract,
      contractDigest: contractDigest(contract),
      repositoryUrl: 'https://git.kervyxa.example/solver.git',
      commit: head,
      verifierPackage,
    },
    {
      signal: story.signal ?? new AbortController().signal,
      onEvent: (event) => events.push(event),
    },
  );
  return { result, events };
}

const openSessions = { now: 0, everMade: 0 };

/** Counts the sessions that are open. */
function counted(sandbox: Sandbox): Sandbox {
  return {
    inspect: (signal) => sandbox.inspect(signal),
    resolveImage: (reference, signal) => sandbox.resolveImage(reference, signal),
    reap: (signal) => sandbox.reap(signal),
    async openSession(request, signal) {
      const session = await sandbox.openSession(request, signal);
      openSessions.now += 1;
      openSessions.everMade += 1;
      return {
        strategy: session.strategy,
        ready: session.ready,
        runSetup: (run, runSignal) => session.runSetup(run, runSignal),
        stage: (run, runSignal) => session.stage(run, runSignal),
        measure: (runSignal) => session.measure(runSignal),
        close: async () => {
          openSessions.now -= 1;
          await session.close();
        },
      };
    },
  };
}

afterEach(() => {
  if (openSessions.now !== 0) throw new Error(`expected no open session, got ${openSessions.now}`);
});

async function said(story: Story): Promise<string> {
  const { result } = await tell(story);
  return [result.verdict, ...result.reasons.map(({ code }) => code)].join(' ');
}

/** A judge that looks at what it has, and the looks. */
function watched(behaviour: FakeCommand = {}): { views: FakeView[]; command: FakeCommand } {
  const views: FakeView[] = [];
  const command: FakeCommand = (view) => {
    views.push({ ...view, workspace: new Map(view.workspace) });
    return typeof behaviour === 'function' ? behaviour(view) : behaviour;
  };
  return { views, command };
}

const namesOf = (files: FakeView['workspace']): string[] => [...files.keys()].toSorted();

// Keeps R-JUDGE-PROBE.
describe('a judge_probe', () => {
  it('gives the probe the solver’s tree and its inputs, and the judge the package and what the probe left', async () => {
    const probe = watched({ stdout: 'six times seven\n', writes: { 'out/a.json': '[42]' } });
    const judge = watched({ stdout: 'right\n', stderr: 'aside\n' });
    const { result, events } = await tell({
      probe: probe.command,
      judge: judge.command,
      outputs: ['out/a.json'],
      tree: { 'probe-output/verdict': 'PASS', '.kervyxa/guard.cjs': 'process.exit(0)' },
    });
    expect(result.verdict).toBe('PASS');
    const [[atProbe], [atJudge]] = [probe.views, judge.views];
    expect(namesOf(atProbe?.probeInputs ?? new Map())).toEqual(['cases.json', 'deep/run.js']);
    expect(String(atProbe?.probeInputs.get('cases.json'))).toBe('[6, 7]');
    expect(namesOf(atProbe?.verifierPackage ?? new Map())).toEqual([]);
    expect(namesOf(atJudge?.workspace ?? new Map())).toEqual([
      '.kervyxa/guard.cjs',
      '.kervyxa/sitecustomize.py',
      'probe-output/out/a.json',
      'probe-output/stdout',
    ]);
    expect(String(atJudge?.workspace.get('probe-output/stdout'))).toBe('six times seven\n');
    expect(String(atJudge?.workspace.get('.kervyxa/guard.cjs'))).not.toContain('process.exit(0)');
    expect(namesOf(atJudge?.verifierPackage ?? new Map())).toContain('answers.json');
    const output = events.flatMap((event) =>
      event.kind === 'output' ? [`${event.stepId} ${Buffer.from(event.chunk).toString()}`] : [],
    );
    expect(output).toEqual([
      'criterion:answers six times seven\n',
      'criterion:answers right\n',
      'criterion:answers aside\n',
    ]);
  });

  it.each([
    [0, 'PASS'],
    [1, 'FAIL REFUTED'],
    [2, 'INCONCLUSIVE VERIFIER_BROKEN'],
    [70, 'INCONCLUSIVE VERIFIER_BROKEN'],
    [126, 'INCONCLUSIVE VERIFIER_BROKEN'],
    [127, 'INCONCLUSIVE VERIFIER_BROKEN'],
    [139, 'INCONCLUSIVE VERIFIER_BROKEN'],
  ])('ends by the judge’s exit status: %i is %s', async (exitCode, verdict) => {
    expect(await said({ probe: {}, judge: { exitCode } })).toBe(verdict);
  });

  it.each<[string, FakeCommand]>([
    ['runs out of memory', { exitCode: 137, oomKilled: true }],
    ['loses a child for memory and says 1', { exitCode: 1, oomKilled: true }],
    ['loses a child for memory and says 0', { exitCode: 0, oomKilled: true }],
    ['is refused a fork and says 0', { exitCode: 0, pidsLimitHit: true }],
    ['fills its disk and says 1', { exitCode: 1, workspaceFull: true }],
    ['may not fork and says 1', { exitCode: 1, pidsLimitHit: true }],
    ['prints without end', { stdout: 'x'.repeat(300_000) }],
    ['is late twice', { hangs: 'until_timeout' }],
  ])('H24 has a judge that %s: INCONCLUSIVE VERIFIER_BROKEN', async (_title, judge) => {
    expect(await said({ probe: {}, judge })).toBe('INCONCLUSIVE VERIFIER_BROKEN');
  });

  it('runs both once more where either was late, and counts that', async () => {
    let judged = 0;
    const judge: FakeCommand = () => {
      judged += 1;
      return judged === 1 ? { hangs: 'until_timeout' } : {};
    };
    const probe = watched();
    expect(await said({ probe: probe.command, judge })).toBe('PASS');
    expect(probe.views).toHaveLength(2);
    expect(await said({ probe: { hangs: 'until_timeout' } })).toBe('FAIL TIME_LIMIT');
  });

  it.each<[string, FakeCommand, string]>([
    ['fails', { exitCode: 1 }, 'FAIL EXIT_CODE_MISMATCH'],
    ['crashes', { exitCode: 139 }, 'FAIL CRASHED'],
    ['prints too much', { stdout: 'x'.repeat(300_000) }, 'FAIL OUTPUT_LIMIT'],
    ['is not found, at the base either', { exitCode: 127 }, 'INCONCLUSIVE COMMAND_NOT_FOUND'],
    [
      'is not found where it is at the base',
      ({ workspace }) => (String(workspace.get('a.js')) === 'base\n' ? {} : { exitCode: 127 }),
      'FAIL EXIT_CODE_MISMATCH',
    ],
  ])('has a probe that %s: no judge is asked', async (_title, probe, verdict) => {
    const judge = watched({ exitCode: 99 });
    expect(await said({ probe, judge: judge.command })).toMatch(verdict);
  });

  it.each<[string, Record<string, string | Uint8Array | { kind: string }>, string]>([
    ['nothing', {}, 'FAIL ASSERTION_FAILED'],
    ['a link', { 'out.json': { kind: 'symbolic link' } }, 'FAIL ASSERTION_FAILED'],
    ['a folder', { 'out.json/deep': '' }, 'FAIL ASSERTION_FAILED'],
    ['a named pipe', { 'out.json': { kind: 'named pipe' } }, 'FAIL ASSERTION_FAILED'],
    ['too much', { 'out.json': Buffer.alloc(PROBE_FILE_BYTES_MAX + 1) }, 'FAIL OUTPUT_LIMIT'],
  ])('leaves %s where an output should be', async (_title, writes, verdict) => {
    const judge = watched();
    expect(await said({ probe: { writes }, judge: judge.command, outputs: ['out.json'] })).toBe(
      verdict,
    );
    expect(judge.views).toHaveLength(0);
  });

  it('leaves more in all files together than is handed on: FAIL OUTPUT_LIMIT', async () => {
    const half = Buffer.alloc(PROBE_BYTES_MAX / 2);
    const writes = { a: half, b: half };
    expect(await said({ probe: { writes }, outputs: ['a', 'b'] })).toBe('PASS');
    expect(await said({ probe: { writes, stdout: '.' }, outputs: ['a', 'b'] })).toBe(
      'FAIL OUTPUT_LIMIT',
    );
  });

  it('tells the judge’s end, the probe’s memory and the time of both', async () => {
    const told = await tell({
      probe: { stdout: 'p', peakMemoryBytes: 7 },
      judge: { exitCode: 1, stdout: 'KERVYXA_METRIC=1\n', peakMemoryBytes: 9 },
    });
    const judged = { exitCode: 1, reason: 'REFUTED', metric: null, peakMemoryBytes: 7 };
    expect(told.result.criteria).toMatchObject([judged]);
    const alone = await tell({ probe: { exitCode: 3, stdout: 'p' } });
    expect(alone.result.criteria).toMatchObject([{ exitCode: 3, reason: 'EXIT_CODE_MISMATCH' }]);
    expect(alone.result.criteria[0]?.outputSha256).not.toBe(told.result.criteria[0]?.outputSha256);
  });

  it('shows a public one nothing of the package', async () => {
    const [probe, judge] = [watched(), watched()];
    const story = { probe: probe.command, judge: judge.command, visibility: 'public' as const };
    expect(await said(story)).toBe('PASS');
    expect(probe.views[0]?.probeInputs.size).toBe(0);
    expect(judge.views[0]?.verifierPackage.size).toBe(0);
  });

  it('has a judge that the engine loses: ERROR, and no session stays open', async () => {
    const judge = { breaksWith: new Error('engine gone') };
    const before = openSessions.everMade;
    expect(await said({ probe: {}, judge })).toBe('ERROR INTERNAL');
    expect(openSessions.everMade - before).toBe(2);
  });

  it('is given up while the judge runs: nothing stays open', async () => {
    const controller = new AbortController();
    const judge: FakeCommand = () => {
      queueMicrotask(() => controller.abort(new Error('given up')));
      return { hangs: 'until_abort' };
    };
    const { signal } = controller;
    await expect(tell({ probe: {}, judge, signal })).rejects.toThrow('given up');
  });
});
