import type { FakeBehaviour, FakeCommand } from '@kervyxa/sandbox/fake';
import { describe, expect, it } from 'vitest';
import type { ReferenceSlot } from '../contract/schema.ts';
import { fakeDeps, says } from '../testing/fake-deps.ts';
import {
  answerOf,
  inputFile,
  type PackageParts,
  scriptPackage,
  STAGE_KEY,
} from '../testing/script-package.ts';
import { runStage, type StageRequest } from './run-stage.ts';

const never = new AbortController().signal;
const SLOT: ReferenceSlot = {
  key: 'labels',
  required: true,
  sealed: false,
  media_types: [],
  max_bytes: 5,
  description: 'Labels.',
};

function toRequest(parts: PackageParts = {}, more: Partial<StageRequest> = {}): StageRequest {
  return {
    package: scriptPackage('# scripted', parts),
    stageKey: STAGE_KEY,
    submission: answerOf('42'),
    reference: new Map(),
    ...more,
  };
}

const end = (command: FakeCommand, request = toRequest()) =>
  runStage(fakeDeps(command), request, never);

// Keeps R-CHECKER-PROTOCOL.
describe('a sandbox stage', () => {
  it('shows its program the artifact, and answers what the program says', async () => {
    const looks: FakeCommand = ({ input }) => {
      const answer = Buffer.from(input.get('artifacts/answer/answer.txt') as Uint8Array).toString();
      return says({ result: answer === '42' ? 'verified' : 'refuted', reason: answer });
    };
    expect(await end(looks)).toMatchObject({ kind: 'verified', reason: '42' });
    const wrong = toRequest({}, { submission: answerOf('41') });
    expect(await end(looks, wrong)).toMatchObject({ kind: 'refuted', reason: '41' });
  });

  it.each<[string, FakeBehaviour, string]>([
    ['fails', { exitCode: 1, stderr: 'Traceback\nKeyError: 1\n' }, 'EXIT_STATUS'],
    ['dies of a signal', { exitCode: 139 }, 'EXIT_STATUS'],
    ['was not found', { exitCode: 127 }, 'EXIT_STATUS'],
    ['takes too much memory', { exitCode: 137, oomKilled: true }, 'MEMORY_LIMIT'],
    ['fills its scratch', { exitCode: 1, workspaceFull: true }, 'DISK_LIMIT'],
    ['prints without end', { stdout: 'x'.repeat(4 * 1_024 * 1_024 + 1) }, 'OUTPUT_LIMIT'],
    ['never ends', { hangs: 'until_timeout' }, 'TIME_LIMIT'],
    ['is outlived by a process of its own', { exitCode: 121 }, 'WRITTEN_AFTERWARDS'],
    ['says nothing', {}, 'RESULT_MISSING'],
  ])('has a program that %s after it wrote an answer: %s', async (_, behaviour, code) => {
    const { writes } = code === 'RESULT_MISSING' ? {} : says({ result: 'verified' });
    const got = await end({ ...behaviour, ...(writes && { writes }) });
    expect(got).toMatchObject({ kind: 'broken', code });
  });

  it('tells the last line of what a failing program says', async () => {
    const got = await end({ exitCode: 1, stderr: 'Traceback\nKeyError: \u001b[2J\n' });
    expect(got).toMatchObject({ message: expect.stringContaining('KeyError: \\u{1b}[2J') });
  });

  it('has a program that is late beside others, and answers alone', async () => {
    let tries = 0;
    const deps = fakeDeps(() => {
      tries += 1;
      return tries === 1 ? { hangs: 'until_timeout' } : says({ result: 'refuted' });
    });
    expect(await runStage(deps, toRequest(), never)).toMatchObject({ kind: 'refuted' });
    expect(deps.passed).toEqual(['beside', 'alone']);
  });

  it('loses a child for memory, and comes to an answer', async () => {
    const got = await end({ oomKilled: true, ...says({ result: 'verified' }) });
    expect(got).toMatchObject({ kind: 'verified' });
  });

  it('runs nothing where the submission lacks what is asked for', async () => {
    const deps = fakeDeps({ breaksWith: new Error('it ran') });
    const submission = { artifacts: [], summaryText: 'please' };
    const got = await runStage(deps, toRequest({}, { submission }), never);
    expect(got).toMatchObject({ kind: 'unmet', message: expect.stringContaining('answer') });
    expect(deps.passed).toEqual([]);
  });

  it('has inputs that somebody changes meanwhile: nothing is decided', async () => {
    const changed = end({ meanwhileChanged: 'tree', ...says({ result: 'verified' }) });
    await expect(changed).rejects.toMatchObject({ code: 'CHECKER_INPUTS_CHANGED' });
  });

  it('meets trouble of the engine’s: thrown on, not judged', async () => {
    await expect(end({ breaksWith: new Error('gone') })).rejects.toThrow('gone');
  });

  it('is none of the package’s, or is for people: refused', async () => {
    for (const stageKey of ['nothing', 'constructor']) {
      const wrong = end({}, toRequest({}, { stageKey }));
      await expect(wrong).rejects.toMatchObject({ code: 'CHECKER_STAGE_UNKNOWN' });
    }
  });

  it('names a runtime that nobody has bound: trouble of ours', async () => {
    const deps = { ...fakeDeps({}), runtimes: new Map() };
    await expect(runStage(deps, toRequest(), never)).rejects.toMatchObject({
      code: 'CHECKER_RUNTIME_UNBOUND',
    });
  });

  it('runs the command of an image', async () => {
    const program = { kind: 'image', reference: `a@sha256:${'3'.repeat(64)}` } as const;
    const deps = fakeDeps({}, ({ input }) =>
      says({ result: [...input.keys()].includes('checker/checker.py') ? 'refuted' : 'verified' }),
    );
    const got = await runStage(deps, toRequest({ program }), never);
    expect(got).toMatchObject({ kind: 'verified' });
  });
});

describe('a reference slot', () => {
  const seen: FakeCommand = ({ input }) =>
    says({
      result: 'verified',
      reason: [...input.keys()].filter((path) => /^reference\/.*\./.test(path)).join(),
    });
  const labels = new Map([
    ['labels', inputFile('a,b', 'labels.csv')],
    ['other', inputFile('x')],
  ]);
  const bound = (parts: PackageParts, reference = labels) =>
    end(seen, toRequest(parts, { reference }));
  const contract = { reference_inputs: [SLOT] };

  it('is laid out where the stage selects it, or selects nothing; what is no slot is not', async () => {
    const path = 'reference/labels/labels.csv';
    expect(await bound({ contract })).toMatchObject({ reason: path });
    const stage = { reference_input_slots: ['labels'] };
    expect(await bound({ contract, stage })).toMatchObject({ reason: path });
  });

  it('is kept from a stage that selects others', async () => {
    const stage = { reference_input_slots: [] };
    expect(await bound({ contract, stage })).toMatchObject({ reason: '' });
    expect(await bound({ contract, stage }, new Map())).toMatchObject({ reason: '' });
  });

  it('may be unbound where it is not required', async () => {
    const optional = { reference_inputs: [{ ...SLOT, required: false }] };
    expect(await bound({ contract: optional }, new Map())).toMatchObject({ reason: '' });
  });

  it('is required and unbound, or too large: a fault of whoever bound it', async () => {
    await expect(bound({ contract }, new Map())).rejects.toMatchObject({
      code: 'CHECKER_REFERENCE_MISSING',
    });
    const large = new Map([['labels', inputFile('a,b,c,')]]);
    await expect(bound({ contract }, large)).rejects.toMatchObject({
      code: 'CHECKER_REFERENCE_TOO_LARGE',
    });
  });
});
