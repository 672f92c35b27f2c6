import type { ContractInput } from '@kervyxa/contract';
import type { FakeCommand, FakeView } from '@kervyxa/sandbox/fake';
import { describe, expect, it } from 'vitest';
import { toJudgeCommand } from '../judge-guards.ts';
import { PROBE_BYTES_MAX, PROBE_FILE_BYTES_MAX } from '../probe-output.ts';
import { criterion } from '../testing/contract.ts';
import { proveStory, REGRESSION, textIn, type ProvingStory } from '../testing/proving-story.ts';

const PROBE: ContractInput['criteria'][number] = {
  id: 'answers',
  title: 'The answer is right',
  type: 'judge_probe',
  visibility: 'public',
  probe: { command: 'probe', outputs: ['out/a', 'b'] },
  judge: { command: 'judge' },
  timeoutSeconds: 5,
};
const probe: FakeCommand = (view) => ({
  stdout: textIn(view, 'answer.js'),
  writes: { 'out/a': 'a', b: 'b' },
});
const stdoutIn = ({ workspace }: FakeView): string =>
  Buffer.from((workspace.get('probe-output/stdout') ?? '') as string).toString();
const isRight = (view: FakeView): boolean => stdoutIn(view).includes('42');

function storyOf(judge: FakeCommand, contract: ProvingStory['contract'] = {}): ProvingStory {
  return {
    contract: { criteria: [PROBE, REGRESSION], ...contract },
    // The test of the plain contract is gone, so that nothing of the known-good commit is left to take away.
    trees: {
      base: { 'answer.js': 'export const answer = 0;\n' },
      good: { 'answer.js': 'export const answer = 42;\n' },
      bad: { 'answer.js': 'export const answer = 41;\n' },
    },
    commands: { probe, [toJudgeCommand('judge')]: judge },
    replays: 2,
  };
}

// Keeps R-PROVE-CHEATS.
describe('a judge that is given what is no answer', () => {
  it('refutes all of it: proved, with a column for each', async () => {
    const seen: Map<string, number>[] = [];
    const { report } = await proveStory(
      storyOf((view) => {
        const sizes = [...view.workspace].map(([path, content]): [string, number] => [
          path,
          Buffer.from(content as string).length,
        ]);
        seen.push(new Map(sizes.filter(([path]) => path.startsWith('probe-output/'))));
        return { exitCode: isRight(view) ? 0 : 1 };
      }),
    );
    expect(report).toMatchObject({ isProved: true, findings: [] });
    const garbled = report.columns.filter(({ kind }) => kind === 'output_garbled');
    expect(garbled.map(({ id, verdict, criteria }) => [id, verdict, criteria[1]?.status])).toEqual(
      [1, 2, 3, 4, 5, 6, 7].map((at) => [`garbled-${at}`, 'FAIL', 'not_run']),
    );
    for (const sizes of seen.slice(-7)) {
      expect([...sizes.keys()].toSorted()).toEqual([
        'probe-output/b',
        'probe-output/out/a',
        'probe-output/stdout',
      ]);
      expect([...sizes.values()].reduce((sum, size) => sum + size)).toBeLessThanOrEqual(
        PROBE_BYTES_MAX,
      );
    }
    const last = seen.at(-1);
    // outputKB of the plain contract, and what is left for two files.
    expect(last?.get('probe-output/stdout')).toBeGreaterThan(256 * 1_024 - 4);
    expect(last?.get('probe-output/b')).toBeGreaterThan(7.8 * 2 ** 20);
    expect(last?.get('probe-output/b')).toBeLessThanOrEqual(PROBE_FILE_BYTES_MAX);
  });

  it('H03 takes silence for success: CHEAT_PASSES', async () => {
    const { report } = await proveStory(
      storyOf((view) => ({
        exitCode: stdoutIn(view) === '' || isRight(view) ? 0 : 1,
      })),
    );
    // The program that leaves at import still prints here, so only the judge's own column tells.
    expect(report.findings).toMatchObject([
      { code: 'CHEAT_PASSES', pointer: '/criteria/0/judge/command' },
    ]);
    expect(report.findings[0]?.message).toContain('Every probe leaving nothing');
  });

  it.each<[string, FakeCommand]>([
    ['of an exception', { exitCode: 70, stderr: 'not JSON\n' }],
    ['of memory', { exitCode: 137, oomKilled: true }],
    ['of time, twice', { hangs: 'until_timeout' }],
  ])('H24 breaks on what it can not read, for want %s: CONTRACT_BROKEN', async (_title, end) => {
    const { report } = await proveStory(
      storyOf((view) => {
        if (stdoutIn(view).startsWith('[{')) return typeof end === 'function' ? end(view) : end;
        return { exitCode: isRight(view) ? 0 : 1 };
      }),
    );
    expect(report.findings).toMatchObject([
      { code: 'CONTRACT_BROKEN', pointer: '/criteria/0/judge/command' },
    ]);
    expect(report.findings[0]?.evidence).toContain('VERIFIER_BROKEN');
  });

  it('is late once beside others: asked again alone', async () => {
    let late = 0;
    const { report } = await proveStory(
      storyOf((view) => {
        if (stdoutIn(view).startsWith('[{') && late === 0) {
          late += 1;
          return { hangs: 'until_timeout' };
        }
        return { exitCode: isRight(view) ? 0 : 1 };
      }),
    );
    expect(report.findings).toEqual([]);
  });

  it('is broken at the base already: CONTRACT_BROKEN there, and nothing else is tried', async () => {
    const { report } = await proveStory(storyOf({ exitCode: 2 }));
    expect(report.findings).toMatchObject([
      {
        code: 'CONTRACT_BROKEN',
        pointer: '/criteria/0',
        fix: expect.stringContaining('with 0 where the output is right and with 1 where it is not'),
      },
    ]);
    expect(report.columns).toHaveLength(1);
  });

  it('is replayed with its probe: a judge of two minds is UNSTABLE_CRITERION', async () => {
    let turns = 0;
    const { report } = await proveStory(
      storyOf((view) => {
        if (!isRight(view)) return { exitCode: 1 };
        turns += 1;
        return { exitCode: turns === 2 ? 1 : 0 };
      }),
    );
    expect(report.findings).toMatchObject([{ code: 'UNSTABLE_CRITERION', pointer: '/criteria/0' }]);
  });

  it('has no such column where nothing is judged apart', async () => {
    const { report } = await proveStory({
      contract: { criteria: [criterion('tests'), REGRESSION] },
    });
    expect(report.columns.map(({ kind }) => kind)).not.toContain('output_garbled');
  });
});
