import type { FakeCommand } from '@kervyxa/sandbox/fake';
import { describe, expect, it } from 'vitest';
import type { ContractTerms, SandboxStage } from '../contract/schema.ts';
import type { CheckerPackage } from '../package/checker-package.ts';
import { fakeDeps, says } from '../testing/fake-deps.ts';
import { answerOf, fixtureOf, scriptPackage, STAGE_KEY } from '../testing/script-package.ts';
import { createConformance } from './conformance.ts';
import { walkStages } from './walk-stages.ts';

const never = new AbortController().signal;
const [SCRIPT] = scriptPackage('').contract.stages as [SandboxStage];
const NULLS = { evidence_schema: null, acceptance: null };
const REVIEW = {
  ...SCRIPT,
  ...NULLS,
  key: 'reading',
  kind: 'review',
  review_protocol_id: 'rpt_0123456789',
} as const;
const EXTERNAL = {
  ...SCRIPT,
  ...NULLS,
  key: 'accepted',
  kind: 'external',
  rule_owner: 'partner',
  external_system: 'The Archive',
} as const;

const scoreOf = (key: string): number => (key === 'second' ? 2 : 1);

/** Says verified of `right` and of the stage's own key, and else refuted. */
const honest: FakeCommand = ({ input }) => {
  const manifest = JSON.parse(String(input.get('manifest.json')));
  const text = String(input.get(manifest.artifacts[0].path.slice('/input/'.length)));
  const isRight = text === 'right' || text === manifest.stage_key;
  const score = manifest.result_kind === 'score' ? scoreOf(manifest.stage_key) : null;
  const reason = manifest.stage_key;
  return says(isRight ? { result: 'verified', reason, score } : { result: 'refuted', reason });
};

function packageOf(stages: ContractTerms['stages']): CheckerPackage {
  const fixtures = stages.flatMap((stage) => {
    if (stage.kind !== 'sandbox') return [];
    const { key: stage_key, result_kind: kind } = stage;
    const score = kind === 'score' ? scoreOf(stage_key) : null;
    return [
      { ...fixtureOf(`${stage_key}_good`, 'verified', 'right', score), stage_key },
      { ...fixtureOf(`${stage_key}_bad`, 'refuted', 'wrong'), stage_key },
    ];
  });
  const checker = scriptPackage('# scripted', {
    contract: { stages, conformance_fixtures: fixtures },
    fixtureFiles: ['right', 'wrong'],
  });
  const program = checker.programs.get(STAGE_KEY);
  if (program === undefined) throw new Error('expected the program of the package');
  const programs = new Map(
    stages.flatMap(({ key, kind }) => (kind === 'sandbox' ? [[key, program] as const] : [])),
  );
  return { ...checker, programs };
}

const walk = (
  stages: ContractTerms['stages'],
  { text = 'right', stageKey = null, command = honest }: WalkOptions = {},
) =>
  walkStages(
    { ...fakeDeps(command), conformance: createConformance() },
    { package: packageOf(stages), stageKey, submission: answerOf(text), reference: new Map() },
    never,
  );

interface WalkOptions {
  readonly text?: string;
  readonly stageKey?: string | null;
  readonly command?: FakeCommand;
}

const SECOND: SandboxStage = { ...SCRIPT, key: 'second' };

describe('the stages of a package', () => {
  it('all verify, in order', async () => {
    const report = await walk([SCRIPT, SECOND]);
    expect(report).toMatchObject({ result: 'verified', score: null });
    expect(report.stages.map(({ reason }) => reason)).toEqual([STAGE_KEY, 'second']);
  });

  it('stop at the first that refutes', async () => {
    const report = await walk([SCRIPT, SECOND], { text: 'wrong' });
    expect(report.result).toBe('refuted');
    expect(report.stages.map(({ result }) => result)).toEqual(['refuted', 'not_run']);
  });

  it('refute late', async () => {
    const report = await walk([SCRIPT, SECOND], { text: STAGE_KEY });
    expect(report.result).toBe('refuted');
    expect(report.stages.map(({ result }) => result)).toEqual(['verified', 'refuted']);
  });

  it.each([
    ['people', REVIEW, 'review by people under protocol rpt_0123456789'],
    ['a system elsewhere', EXTERNAL, 'a judgment of The Archive'],
  ] as const)('wait for %s: inconclusive, and the mechanism is named', async (_, stage, said) => {
    const report = await walk([SCRIPT, stage, SECOND]);
    expect(report.result).toBe('inconclusive');
    expect(report.stages.map(({ result, problem }) => [result, problem])).toEqual([
      ['verified', null],
      ['inconclusive', 'STAGE_UNAVAILABLE'],
      ['not_run', null],
    ]);
    expect(report.stages[1]?.reason).toContain(said);
  });

  it('have a program that verifies everything: it decides nothing', async () => {
    const report = await walk([SCRIPT], { command: says({ result: 'verified' }) });
    expect(report).toMatchObject({
      result: 'inconclusive',
      stages: [{ problem: 'NOT_CONFORMANT', reason: expect.stringContaining('answer_bad') }],
    });
  });

  it('measure twice: the last number is the score, and there is none where one refutes', async () => {
    const stages = [SCRIPT, SECOND].map((stage) => ({ ...stage, result_kind: 'score' as const }));
    expect(await walk(stages)).toMatchObject({ result: 'verified', score: 2 });
    expect(await walk(stages, { text: STAGE_KEY })).toMatchObject({
      result: 'refuted',
      score: null,
      stages: [{ score: 1 }, { score: null }],
    });
  });

  it('are asked for one of them alone', async () => {
    const report = await walk([SCRIPT, SECOND], { text: STAGE_KEY, stageKey: 'second' });
    expect(report.stages.map(({ key, result }) => [key, result])).toEqual([['second', 'refuted']]);
  });
});
