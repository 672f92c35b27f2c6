import { setImmediate as turn } from 'node:timers/promises';
import { type CheckerPackage, createConformance } from '@kervyxa/checker';
import { contractDigest } from '@kervyxa/contract';
import { systemClock } from '@kervyxa/core';
import { createFakeIntake, fakeCommitId, type FakeTree } from '@kervyxa/intake/fake';
import { createFakeSandbox, type FakeCommand } from '@kervyxa/sandbox/fake';
import { describe, expect, it } from 'vitest';
import type { VerificationEvent } from './events.ts';
import { createGate } from './gate.ts';
import type { VerificationResult } from './result.ts';
import {
  artifactIn,
  CHECKER_COMMAND,
  checkerPackage,
  PYTHON_IMAGE,
  says,
  tellsWhether42,
} from './testing/checker-package.ts';
import { checkerCriterion, contractWith, criterion } from './testing/contract.ts';
import { verifyCommit, type VerifierDeps } from './verify-commit.ts';

const [base, head] = [fakeCommitId('base'), fakeCommitId('head')];
const image = `sha256:${'1'.repeat(64)}`;

interface Story {
  readonly package?: CheckerPackage;
  /** What the solver submits; the right answer where it is left out. */
  readonly tree?: FakeTree;
  readonly program?: FakeCommand;
  readonly commands?: Readonly<Record<string, FakeCommand>>;
  /** Of the checker criterion. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly others?: ReturnType<typeof criterion>[];
  readonly deps?: Partial<VerifierDeps>;
  readonly isGiven?: boolean;
}

async function tell(
  story: Story = {},
): Promise<{ result: VerificationResult; events: VerificationEvent[] }> {
  const checker = story.package ?? checkerPackage();
  const asked = checkerCriterion('answer', checker.digest, story.fields);
  const contract = contractWith({
    repository: { url: 'https://git.kervyxa.example/base.git', baseCommit: base },
    criteria: [asked, ...(story.others ?? [])],
  });
  const events: VerificationEvent[] = [];
  const result = await verifyCommit(
    {
      intake: createFakeIntake({
        commits: {
          [base]: { tree: { 'a.js': 'base\n' } },
          [head]: { tree: story.tree ?? { 'out/answer.txt': '42\n' }, parents: [base] },
        },
      }),
      sandbox: createFakeSandbox({
        commands: { [CHECKER_COMMAND]: story.program ?? tellsWhether42, ...story.commands },
      }),
      clock: systemClock,
      runtimes: new Map([
        ['kervyxa-runtime/node:22', image],
        ['kervyxa-runtime/python:1', PYTHON_IMAGE],
      ]),
      coreCount: 2,
      ...story.deps,
    },
    {
      contract,
      contractDigest: contractDigest(contract),
      repositoryUrl: 'https://git.kervyxa.example/solver.git',
      commit: head,
      verifierPackage: null,
      checkers: new Map(story.isGiven === false ? [] : [[checker.digest, checker]]),
    },
    { signal: new AbortController().signal, onEvent: (event) => events.push(event) },
  );
  return { result, events };
}

async function endOf(story: Story): Promise<string> {
  const { result } = await tell(story);
  const [first] = result.criteria;
  return `${result.verdict} ${first?.reason ?? first?.status}`;
}

/** Right on the package's fixtures, and as given on what is submitted under the name `answer.txt`. */
function onSubmission(behave: FakeCommand): FakeCommand {
  return (view) => {
    if (!view.input.has('artifacts/answer/answer.txt')) return call(tellsWhether42, view);
    return call(behave, view);
  };
}

function call(command: FakeCommand, view: Parameters<Extract<FakeCommand, Function>>[0]) {
  return typeof command === 'function' ? command(view) : command;
}

// Keeps R-CHECKER-CRITERION.
describe('a checker criterion', () => {
  it('passes what its stage verifies, from the file of the commit alone', async () => {
    const seen: string[][] = [];
    const { result } = await tell({
      tree: { 'out/answer.txt': '42\n', 'a.js': 'not asked for\n' },
      program: (view) => {
        seen.push([...view.input.keys()].filter((path) => !path.endsWith('/')).toSorted());
        return call(tellsWhether42, view);
      },
    });
    expect(result).toMatchObject({
      verdict: 'PASS',
      criteria: [{ id: 'answer', type: 'checker', status: 'pass', metric: null, exitCode: null }],
      inputs: null,
    });
    expect(seen.at(-1)).toContain('artifacts/answer/answer.txt');
    expect(seen.flat().join(' ')).not.toContain('a.js');
  });

  it('fails what its stage refutes, with the reason of its program', async () => {
    const { result } = await tell({ tree: { 'out/answer.txt': '41\n' } });
    expect(result).toMatchObject({
      verdict: 'FAIL',
      reasons: [{ code: 'REFUTED', subject: 'answer', message: expect.stringContaining('looked') }],
    });
  });

  it('H27 sees no result that the solver brings along, in the file or beside it', async () => {
    const verified = '{"result": "verified"}';
    const trees: FakeTree[] = [
      { 'out/answer.txt': verified, 'a.js': 'base\n' },
      { 'out/answer.txt': '41\n', 'a.js': 'base\n', 'out/result.json': verified },
      { 'out/answer.txt': '41\n', 'a.js': 'base\n', 'result.json': verified },
    ];
    for (const tree of trees) expect(await endOf({ tree })).toBe('FAIL REFUTED');
  });

  it('has the score of a score stage for its metric', async () => {
    const scored = checkerPackage();
    const contract: CheckerPackage['contract'] = {
      ...scored.contract,
      result_kind: 'score',
      score: { unit: 'points', direction: 'higher_is_better', description: 'Counted.' },
      conformance_fixtures: scored.contract.conformance_fixtures.map((each) =>
        each.expected_result === 'verified' ? { ...each, expected_score: 7 } : each,
      ),
    };
    const { result } = await tell({
      package: checkerPackage({ contract }),
      program: (view) =>
        artifactIn(view, 'answer') === '42\n'
          ? says({ result: 'verified', score: 7 })
          : says({ result: 'refuted' }),
    });
    expect(result.criteria[0]).toMatchObject({ status: 'pass', metric: 7 });
  });

  it.each<[string, FakeTree]>([
    ['no file', { 'a.js': 'head\n' }],
    [
      'a link where a file is asked for',
      { 'out/answer.txt': { symlink: '../a.js' }, 'a.js': '42\n' },
    ],
    ['a folder', { 'out/answer.txt/x': '42\n' }],
    ['more bytes than the role takes', { 'out/answer.txt': '4'.repeat(10_001) }],
  ])(
    'H26 is not asked about a commit with %s: nobody is refuted, and nothing runs',
    async (_, tree) => {
      const { result } = await tell({ tree, program: { exitCode: 9 } });
      expect(result).toMatchObject({
        verdict: 'INCONCLUSIVE',
        reasons: [
          { code: 'REQUIREMENTS_UNMET', message: expect.stringContaining('out/answer.txt') },
        ],
      });
    },
  );

  it.each<[string, string, FakeCommand]>([
    ['does not decide', 'CHECK_INCONCLUSIVE', says({ result: 'inconclusive' })],
    ['crashes', 'VERIFIER_BROKEN', { exitCode: 1 }],
    ['leaves nothing', 'VERIFIER_BROKEN', {}],
    ['claims trouble of ours', 'VERIFIER_BROKEN', says({ result: 'error' })],
    ['runs out of time twice', 'VERIFIER_BROKEN', { hangs: 'until_timeout' }],
  ])('H28 is INCONCLUSIVE, and no refusal, where its program %s: %s', async (_, reason, behave) => {
    expect(await endOf({ program: onSubmission(behave) })).toBe(`INCONCLUSIVE ${reason}`);
  });

  it('gives a late program a second try, with nothing beside it', async () => {
    const waits: string[] = [];
    const gate = createGate();
    let tries = 0;
    const { result } = await tell({
      program: onSubmission((view) => {
        tries += 1;
        return tries === 1 ? { hangs: 'until_timeout' } : call(tellsWhether42, view);
      }),
      deps: {
        gate: {
          beside: gate.beside,
          alone: (work, signal) => {
            waits.push('alone');
            return gate.alone(work, signal);
          },
        },
      },
    });
    expect([result.verdict, tries, waits]).toEqual(['PASS', 2, ['alone']]);
  });

  it('took as long as its program ran, however long it waited for its turn', async () => {
    let nowMs = 0;
    const gate = createGate();
    const { result } = await tell({
      deps: {
        clock: { ...systemClock, monotonicMs: () => nowMs },
        gate: {
          ...gate,
          beside: (work, signal) => {
            nowMs += 60_000;
            return gate.beside(work, signal);
          },
        },
      },
    });
    // What the fake says of every run.
    expect(result.criteria).toMatchObject([{ status: 'pass', durationMs: 0 }]);
  });

  it('gives its program no more time than the contract does', async () => {
    const { result } = await tell({
      fields: { timeoutSeconds: 7 },
      program: onSubmission({ hangs: 'until_timeout' }),
    });
    expect(result.reasons[0]?.message).toMatch(/\b7 s/);
  });

  it('decides nothing by a package that does not give the results of its own fixtures', async () => {
    const program: FakeCommand = says({ result: 'verified' });
    const { result } = await tell({ program });
    expect(result).toMatchObject({
      verdict: 'INCONCLUSIVE',
      reasons: [{ code: 'VERIFIER_BROKEN', message: expect.stringContaining('NOT_CONFORMANT') }],
    });
  });

  it('runs the fixtures once for all that share what was seen of them', async () => {
    const conformance = createConformance();
    let runs = 0;
    const program: FakeCommand = (view) => {
      runs += 1;
      return call(tellsWhether42, view);
    };
    for (const _ of [1, 2]) await tell({ program, deps: { conformance } });
    expect(runs).toBe(2 + 2);
  });

  it('is ERROR where who runs it takes a missed fixture for trouble of its own', async () => {
    const conformance = () => Promise.reject(new Error('conformed when it was approved'));
    expect(await endOf({ deps: { conformance } })).toBe('ERROR INTERNAL');
  });

  it('is ERROR where the image of its runtime is not here', async () => {
    expect(await endOf({ deps: { runtimes: new Map([['kervyxa-runtime/node:22', image]]) } })).toBe(
      'ERROR IMAGE_UNAVAILABLE',
    );
  });

  it('runs in the image that approval froze, and in no other of the same name', async () => {
    const frozen = `sha256:${'3'.repeat(64)}`;
    const fields = {
      checker: {
        sha256: checkerPackage().digest,
        runtime: `kervyxa-runtime/python:1@${frozen}`,
      },
    };
    const holding = (...images: string[]) => ({
      sandbox: createFakeSandbox({
        commands: { [CHECKER_COMMAND]: tellsWhether42 },
        images: Object.fromEntries([image, ...images].map((each) => [each, each])),
      }),
    });
    expect(await endOf({ fields, deps: holding(frozen) })).toBe('PASS pass');
    expect(await endOf({ fields, deps: holding(PYTHON_IMAGE) })).toBe('ERROR IMAGE_UNAVAILABLE');
  });

  it('is ERROR, never PASS or FAIL, where what it reads was changed meanwhile', async () => {
    for (const text of ['42\n', '41\n']) {
      const program = onSubmission((view) => ({
        ...call(tellsWhether42, view),
        meanwhileChanged: 'tree',
      }));
      expect(await endOf({ program, tree: { 'out/answer.txt': text } })).toBe(
        'ERROR INPUTS_CHANGED',
      );
    }
  });

  it('can read an answer in words from a file of the commit', async () => {
    const words = checkerPackage();
    const contract: CheckerPackage['contract'] = {
      ...words.contract,
      submission_requirements: {
        accepts_text_only: true,
        answer_format_md: 'A number.',
        required_artifacts: [],
      },
      conformance_fixtures: words.contract.conformance_fixtures.map((each) => ({
        ...each,
        inputs: {
          reference: {},
          artifacts: [],
          summary_text: each.expected_result === 'verified' ? '42' : '41',
        },
      })),
    };
    const program: FakeCommand = (view) => {
      const text = Buffer.from((view.input.get('summary.md') ?? '') as string).toString();
      return says({ result: text.trim() === '42' ? 'verified' : 'refuted' });
    };
    const story = {
      package: checkerPackage({ contract }),
      fields: { artifacts: [], summary: 'ANSWER.md' },
      program,
    };
    expect(await endOf({ ...story, tree: { 'ANSWER.md': '42\n' } })).toBe('PASS pass');
    expect(await endOf({ ...story, tree: { 'ANSWER.md': '41\n' } })).toBe('FAIL REFUTED');
    expect(await endOf({ ...story, tree: { 'a.js': '42\n' } })).toBe(
      'INCONCLUSIVE REQUIREMENTS_UNMET',
    );
    expect(
      await endOf({ ...story, tree: { 'ANSWER.md': Uint8Array.from([0x34, 0x32, 0xff]) } }),
    ).toBe('INCONCLUSIVE REQUIREMENTS_UNMET');
  });
});

// Keeps R-CHECKER-CRITERION.
describe('a checker criterion that can not run here', () => {
  const stages: CheckerPackage['contract']['stages'] = [
    ...checkerPackage().contract.stages,
    {
      key: 'opinion',
      kind: 'review',
      title: 'Opinion',
      description_md: 'People judge.',
      evidence_schema: null,
      review_protocol_id: 'rpt_01jf90aa4rrc',
      rule_owner: null,
      acceptance: null,
      external_system: null,
    },
    {
      key: 'accepted',
      kind: 'external',
      title: 'Accepted',
      description_md: 'The archive takes it.',
      evidence_schema: null,
      review_protocol_id: null,
      rule_owner: 'partner',
      acceptance: null,
      external_system: 'The Archive',
    },
  ];
  const mixed = checkerPackage({ contract: { stages } });

  it.each<[string, RegExp, Story]>([
    ['a package that was not given', /--checker DIR/, { isGiven: false }],
    ['no package at all', /names no checker package/, { fields: { checker: null } }],
    ['a stage that is not there', /no stage other/, { fields: { stage: 'other' } }],
    [
      'a stage that people judge',
      /review, by protocol rpt_01jf90aa4rrc/,
      { package: mixed, fields: { stage: 'opinion' } },
    ],
    [
      'a stage that somebody else settles',
      /The Archive/,
      { package: mixed, fields: { stage: 'accepted' } },
    ],
    [
      'files that do not fill a role',
      /requires an artifact.*answer/,
      { fields: { artifacts: [] } },
    ],
    [
      'a file for a role that is not there',
      /takes no artifact for the role more/,
      {
        fields: {
          artifacts: [
            { role: 'answer', path: 'out/answer.txt' },
            { role: 'more', path: 'more.txt' },
          ],
        },
      },
    ],
    [
      'a summary that nobody reads',
      /takes no answer in words/,
      { fields: { summary: 'ANSWER.md' } },
    ],
    [
      'a reference input that nothing is bound to',
      /requires a reference input key_sheet/,
      {
        package: checkerPackage({
          contract: {
            reference_inputs: [
              {
                key: 'key_sheet',
                required: true,
                sealed: false,
                media_types: [],
                max_bytes: 10,
                description: 'Keys.',
              },
            ],
          },
        }),
      },
    ],
  ])('names %s: INCONCLUSIVE, and the message says what is missing', async (_, message, story) => {
    const { result } = await tell(story);
    expect(result).toMatchObject({
      verdict: 'INCONCLUSIVE',
      reasons: [{ code: 'STAGE_UNAVAILABLE', message: expect.stringMatching(message) }],
    });
  });
});

// Keeps R-HIDDEN-UNTOLD.
describe('checkers beside other criteria', () => {
  it('run before all that is hidden where they are public, and after all that is public where they are hidden', async () => {
    const visibilities = [
      ['public', 'answer c-public c-hidden'],
      ['hidden', 'c-public c-hidden answer'],
    ] as const;
    for (const [visibility, order] of visibilities) {
      const { result, events } = await tell({
        fields: { visibility },
        others: [criterion('c-hidden', { visibility: 'hidden' }), criterion('c-public')],
        commands: { 'c-public': {}, 'c-hidden': {} },
      });
      expect(result.verdict).toBe('PASS');
      const started = events.flatMap((event) =>
        event.kind === 'step_started' && event.step.kind === 'criterion'
          ? [event.step.id.replace('criterion:', '')]
          : [],
      );
      expect(started.join(' ')).toBe(order);
    }
  });

  it('run no more at a time than there are cores for', async () => {
    let [running, most] = [0, 0];
    const conformance = createConformance();
    await tell({ deps: { conformance } });
    const sandbox = createFakeSandbox({ commands: { [CHECKER_COMMAND]: tellsWhether42 } });
    await tell({
      deps: {
        conformance,
        sandbox: {
          ...sandbox,
          inspect: (signal) => sandbox.inspect(signal),
          resolveImage: (reference, signal) => sandbox.resolveImage(reference, signal),
          reap: (signal) => sandbox.reap(signal),
          openSession: async (request, signal) => {
            running += 1;
            most = Math.max(most, running);
            await turn();
            running -= 1;
            return sandbox.openSession(request, signal);
          },
        },
      },
      others: ['b', 'c', 'd'].map((id) => checkerCriterion(id, checkerPackage().digest)),
    });
    expect(most).toBe(2);
  });

  it('tell of each step once, with what its program printed', async () => {
    const { events } = await tell({
      program: (view) => ({ ...call(tellsWhether42, view), stdout: 'looking\n' }),
    });
    expect(
      events.flatMap((event) =>
        'step' in event && event.step.kind === 'criterion' ? [event.kind] : [],
      ),
    ).toEqual(['step_started', 'step_finished']);
    const printed = events.flatMap((event) =>
      event.kind === 'output' ? [`${event.stepId} ${Buffer.from(event.chunk).toString()}`] : [],
    );
    expect(printed).toEqual(['criterion:answer looking\n']);
  });
});
