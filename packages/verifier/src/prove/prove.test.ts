import { defineErrors } from '@kervyxa/core';
import { fakeCommitId, type FakeTree } from '@kervyxa/intake/fake';
import type { FakeBehaviour, FakeCommand } from '@kervyxa/sandbox/fake';
import { describe, expect, it } from 'vitest';
import {
  artifactIn,
  CHECKER_COMMAND,
  checkerPackage,
  says,
  tellsWhether42,
} from '../testing/checker-package.ts';
import { checkerCriterion, criterion } from '../testing/contract.ts';
import {
  proof,
  proveStory,
  REGRESSION,
  tellsAnswer,
  textIn,
  TREES,
  type ProvingStory,
} from '../testing/proving-story.ts';
import { isAsWanted } from './report.ts';

const [GOOD, BAD] = [proof('good', 'PASS'), proof('bad', 'FAIL')];

/** Each finding as `CODE pointer`. */
async function findingsOf(story: ProvingStory): Promise<string[]> {
  const { report } = await proveStory(story);
  return report.findings.map(({ code, pointer }) => `${code} ${pointer}`);
}

/** Behaves in turn as the list says, on the known-good program only; elsewhere it fails. */
function inTurn(...ends: FakeBehaviour[]): FakeCommand {
  let runs = 0;
  return (view) => {
    if (!textIn(view, 'answer.js').includes('42')) return { exitCode: 1 };
    runs += 1;
    return ends[(runs - 1) % ends.length] ?? {};
  };
}

// Keeps R-PROVE-STEPS.
describe('proving', () => {
  it('proves a contract that tells done from not done, and shows every column', async () => {
    const { report } = await proveStory();
    expect(report.findings).toEqual([]);
    expect(report.isProved).toBe(true);
    expect(report.columns.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual([
      'base FAIL',
      'good-1 PASS',
      'bad-1 FAIL',
      'empty-diff FAIL',
      'reverted-1 FAIL',
      'tests-deleted FAIL',
      'exits-1 FAIL',
    ]);
    expect(report.criteria.map(({ id }) => id)).toEqual(['tests', 'works']);
    expect(report.replays.map(({ criterionId, runs }) => [criterionId, runs.length])).toEqual([
      ['tests', 3],
      ['works', 3],
    ]);
  });

  it('answers the same twice, but for times', async () => {
    const [one, two] = [await proveStory(), await proveStory()].map(({ report }) =>
      JSON.stringify(report, (key, value: unknown) => (key.startsWith('duration') ? 0 : value)),
    );
    expect(one).toBe(two);
  });

  it('tells how far it is, with the columns that it knows of', async () => {
    const { events } = await proveStory();
    const told = events.map((event) => {
      if (event.kind === 'column_finished') return `end ${event.column.id}`;
      return `${event.kind === 'replay_finished' ? 'replay' : 'start'} ${event.done}/${event.total}`;
    });
    expect(told.join(', ')).toBe(
      'start 0/3, end base, start 1/3, end good-1, start 2/3, end bad-1, replay 1/3, replay 2/3, replay 3/3, ' +
        'start 3/7, end empty-diff, start 4/7, end reverted-1, start 5/7, end tests-deleted, start 6/7, end exits-1',
    );
  });

  it('needs no claim of commits of proof', async () => {
    expect(await findingsOf({ contract: { submission: { claim: 'trailer' } } })).toEqual([]);
  });

  it('ends with the reason of an aborted signal', async () => {
    const reason = new Error('the user gave up');
    await expect(proveStory({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe('proving the base', () => {
  it('H23 has a criterion that passes whatever is there: BASE_ALREADY_PASSES, and every cheat passes', async () => {
    expect(await findingsOf({ commands: { tests: {} } })).toEqual([
      'BASE_ALREADY_PASSES /criteria',
      'CHEAT_PASSES /criteria',
      'PROOF_NOT_REPRODUCED /proof/1',
    ]);
  });

  it('H24 has a regression criterion that fails at base: BASE_FAILS_REGRESSION, by its place, with its log', async () => {
    const works: FakeCommand = (view) =>
      textIn(view, 'answer.js').includes('42') ? {} : { exitCode: 1, stderr: 'was never so\n' };
    const { report } = await proveStory({ commands: { works } });
    expect(report.findings).toMatchObject([
      { code: 'BASE_FAILS_REGRESSION', pointer: '/criteria/1', evidence: 'was never so' },
    ]);
    expect(report.isProved).toBe(false);
  });

  it.each([
    ['a typo, pytset: the shell finds no such command (BUG-16)', { exitCode: 127 }],
    ['a file that is no program', { exitCode: 126 }],
    ['more memory than it may', { exitCode: 137, oomKilled: true }],
    ['more time than it may', { hangs: 'until_timeout' }],
  ] as const)('needs %s: the contract is broken, and nothing else is run', async (_, behaviour) => {
    const { report } = await proveStory({ commands: { tests: behaviour } });
    expect(report.findings).toMatchObject([{ code: 'CONTRACT_BROKEN', pointer: '/criteria/0' }]);
    expect(report.columns.map(({ id }) => id)).toEqual(['base']);
  });

  it('has a set-up that fails at base: broken, with its log', async () => {
    const setup = [
      { command: 'install', timeoutSeconds: 10 },
      { command: 'build', timeoutSeconds: 10 },
    ];
    const build = { exitCode: 2, stderr: 'no such package\n' };
    const { report } = await proveStory({
      contract: { environment: { setup } },
      commands: { install: {}, build },
    });
    expect(report.findings).toMatchObject([
      { code: 'CONTRACT_BROKEN', pointer: '/environment/setup/1', evidence: 'no such package' },
    ]);
  });

  it('has a criterion that can not run here: broken, not proved', async () => {
    const judged = {
      id: 'later',
      title: 'Later',
      visibility: 'hidden' as const,
      timeoutSeconds: 5,
      type: 'checker' as const,
      checker: { sha256: 'a'.repeat(64) },
      stage: 'main',
    };
    const criteria = [criterion('tests'), REGRESSION, judged];
    expect(await findingsOf({ contract: { criteria } })).toEqual(['CONTRACT_BROKEN /criteria/2']);
  });

  it('has a base that no workspace can hold: broken', async () => {
    const name = 'n'.repeat(256);
    const trees = { base: { ...TREES.base, [name]: '' }, good: TREES.good };
    expect(await findingsOf({ trees })).toEqual(['CONTRACT_BROKEN ']);
  });
});

describe('proving commits of proof', () => {
  it('names no known-good or no known-bad commit', async () => {
    expect(await findingsOf({ contract: { proof: [] } })).toEqual([
      'PROOF_MISSING /proof',
      'PROOF_MISSING /proof',
    ]);
    const onlyBad = await proveStory({ contract: { proof: [BAD] } });
    expect(onlyBad.report.findings).toMatchObject([
      { code: 'PROOF_MISSING', message: expect.stringContaining('known-good') },
    ]);
    const onlyGood = await proveStory({ contract: { proof: [GOOD] } });
    expect(onlyGood.report.findings).toMatchObject([
      { code: 'PROOF_MISSING', message: expect.stringContaining('known-bad') },
    ]);
    expect(onlyGood.report.columns.map(({ id }) => id)).toContain('exits-1');
  });

  it('BUG-10 has a reference that fails: PROOF_NOT_REPRODUCED, and no cheat is made of it', async () => {
    const tests = { exitCode: 1, stderr: 'the reference fails\n' };
    const { report } = await proveStory({ commands: { tests } });
    expect(report.findings).toMatchObject([
      {
        code: 'PROOF_NOT_REPRODUCED',
        pointer: '/proof/0',
        message: expect.stringMatching(/^expected PASS of \w{12}, got FAIL \(EXIT_CODE_MISMATCH/),
        evidence: expect.stringContaining('the reference fails'),
      },
    ]);
    expect(report.columns.map(({ id }) => id)).toEqual(['base', 'good-1', 'bad-1']);
    expect(report.replays.map(({ runs }) => runs.length)).toEqual([3, 3]);
    expect(report.notes).toEqual(['No known-good commit passes, so no cheat was tried.']);
  });

  it('has a reference whose set-up fails, and not the base’s: refused with its log', async () => {
    const setup: FakeCommand = (view) =>
      textIn(view, 'answer.js').includes('42') ? { exitCode: 1, stderr: 'no room\n' } : {};
    const { report } = await proveStory({
      contract: { environment: { setup: [{ command: 'setup', timeoutSeconds: 10 }] } },
      commands: { setup },
    });
    expect(report.findings).toMatchObject([
      {
        code: 'PROOF_NOT_REPRODUCED',
        pointer: '/proof/0',
        evidence: expect.stringMatching(/^SETUP_FAILED at environment\.setup\[0\][^]*\nno room$/),
      },
    ]);
    expect(report.replays).toEqual([]);
  });

  it('has a known-bad commit that passes', async () => {
    const trees = { bad: { ...TREES.good, 'notes.txt': 'x\n' } };
    expect(await findingsOf({ trees })).toEqual(['PROOF_NOT_REPRODUCED /proof/1']);
  });

  it('has a known-bad commit that another criterion fails than the one that it names', async () => {
    const { report } = await proveStory({
      contract: { proof: [GOOD, proof('bad', 'FAIL', 'works'), proof('bad', 'FAIL', 'tests')] },
    });
    expect(report.findings).toMatchObject([
      {
        code: 'PROOF_NOT_REPRODUCED',
        pointer: '/proof/1',
        message: expect.stringContaining('expected criterion works to fail'),
      },
    ]);
  });

  it.each([
    ['the base itself', TREES.base],
    ['one that touches what is protected', { ...TREES.bad, 'test/x.js': '1' }],
  ])('names as known-bad only %s: no criterion has refused anything', async (_, bad) => {
    const { report } = await proveStory({ trees: { bad } });
    expect(report.findings).toMatchObject([
      {
        code: 'PROOF_MISSING',
        pointer: '/proof',
        message: expect.stringContaining('that a criterion refuses, got 1'),
      },
    ]);
    const contract = { proof: [GOOD, BAD, proof('worse', 'FAIL')] };
    const trees = { bad, worse: TREES.bad };
    expect(await findingsOf({ contract, trees })).toEqual([]);
  });

  it('names a criterion on a commit that policy refuses: it never ran', async () => {
    const { report } = await proveStory({
      contract: {
        constraints: { protectedPaths: ['README.md'] },
        proof: [GOOD, proof('other', 'FAIL', 'tests'), BAD],
      },
      trees: { other: { ...TREES.bad, 'README.md': 'mine\n' } },
    });
    expect(report.findings).toMatchObject([
      { pointer: '/proof/1', message: expect.stringContaining('got not run') },
    ]);
  });

  it('names a commit that nobody has, or a repository that git may not ask', async () => {
    const refused = defineErrors({
      INTAKE_URL_REFUSED: {
        fault: 'caller',
        retryable: false,
        httpStatus: 422,
        exitCode: 2,
        meaning: 'A refused URL.',
      },
    }).create('INTAKE_URL_REFUSED', { message: 'expected a public host, got 10.0.0.1' });
    const elsewhere = { ...proof('elsewhere', 'FAIL'), repository: 'https://10.0.0.1/x.git' };
    const { report } = await proveStory({
      contract: { proof: [GOOD, BAD, proof('nowhere', 'PASS'), elsewhere] },
      outcomes: { [elsewhere.commit]: refused },
    });
    expect(report.findings).toMatchObject([
      { pointer: '/proof/2', message: expect.stringContaining('INCONCLUSIVE (COMMIT_NOT_FOUND') },
      { pointer: '/proof/3', message: expect.stringContaining('expected a public host') },
    ]);
  });
});

describe('replaying the known-good commit', () => {
  it('BUG-11 has a criterion that fails 1 in 5: UNSTABLE_CRITERION, with every run', async () => {
    const tests = inTurn({}, {}, {}, {}, { exitCode: 3, stderr: 'unlucky\n' });
    const { report } = await proveStory({ commands: { tests }, replays: 5 });
    expect(report.findings).toMatchObject([
      {
        code: 'UNSTABLE_CRITERION',
        pointer: '/criteria/0',
        message: expect.stringContaining('4 × pass, exit 0; 1 × fail EXIT_CODE_MISMATCH, exit 3'),
        evidence: expect.stringMatching(/replay 5: fail [^]*unlucky$/),
      },
    ]);
  });

  it('BUG-11 fails at its first run, and only then: UNSTABLE_CRITERION, beside a reference that is not reproduced', async () => {
    const tests = inTurn({ exitCode: 3 }, {}, {});
    const { report } = await proveStory({ commands: { tests } });
    expect(report.findings.map(({ code }) => code).toSorted()).toEqual([
      'PROOF_NOT_REPRODUCED',
      'UNSTABLE_CRITERION',
    ]);
  });

  it('has a set-up that works only sometimes: no criterion is stable', async () => {
    let count = 0;
    const setup: FakeCommand = (view) => {
      if (!textIn(view, 'answer.js').includes('42')) return {};
      return { exitCode: (count += 1) % 3 === 0 ? 1 : 0 };
    };
    const found = await findingsOf({
      contract: { environment: { setup: [{ command: 'setup', timeoutSeconds: 10 }] } },
      commands: { setup },
    });
    expect(found).toEqual(expect.arrayContaining(['UNSTABLE_CRITERION /criteria/0']));
    expect(found).toContain('UNSTABLE_CRITERION /criteria/1');
  });

  const benchmark = (tolerance: number) =>
    criterion('bench', {
      type: 'benchmark',
      metric: { name: 'steps', unit: 'steps', op: 'lt', threshold: 100, tolerance },
    });
  const bench = inTurn(...[50, 52, 51].map((value) => ({ stdout: `KERVYXA_METRIC=${value}\n` })));

  it('has a metric that moves by more than its tolerance, and not where it may', async () => {
    const { report } = await proveStory({
      contract: { criteria: [benchmark(1), REGRESSION] },
      commands: { bench },
    });
    expect(report.findings).toMatchObject([
      {
        code: 'METRIC_UNSTABLE',
        pointer: '/criteria/0/metric',
        message: expect.stringContaining('at most 1, got 2 over 3 replays'),
        evidence: 'replay 1: 50\nreplay 2: 52\nreplay 3: 51',
      },
    ]);
    expect(report.replays[0]).toMatchObject({ metricSpread: 2, tolerance: 1 });
    const criteria = [benchmark(2), REGRESSION];
    expect(await findingsOf({ contract: { criteria }, commands: { bench } })).toEqual([]);
    const tenths = inTurn(...[0.1, 0.4, 0.2].map((at) => ({ stdout: `KERVYXA_METRIC=${at}\n` })));
    const contract = { criteria: [benchmark(0.3), REGRESSION] };
    expect(await findingsOf({ contract, commands: { bench: tenths } })).toEqual([]);
  });
});

// Keeps R-PROVE-CHEATS.
describe('commits that do not solve the task', () => {
  it('changes a file that nothing needs: the known-good without it passes', async () => {
    const { report } = await proveStory({
      trees: { good: { ...TREES.good, 'README.md': 'Read me, please\n' } },
    });
    expect(report.findings).toMatchObject([
      {
        code: 'CHEAT_PASSES',
        message: expect.stringContaining('without its change of README.md'),
        evidence: expect.stringContaining('+export const answer = 42;'),
      },
    ]);
  });

  it('deletes the tests, and nobody minds', async () => {
    const tests: FakeCommand = (view) =>
      textIn(view, 'answer.js').includes('42') ? {} : { exitCode: 1 };
    const { report } = await proveStory({
      contract: { constraints: { protectedPaths: [] } },
      commands: { tests },
    });
    expect(report.findings).toMatchObject([
      {
        code: 'CHEAT_PASSES',
        message: expect.stringContaining('without its tests: test/answer.test.js'),
        evidence: expect.stringContaining('deleted test/answer.test.js'),
        fix: 'Protect the tests in constraints.protectedPaths.',
      },
    ]);
    expect(await findingsOf({ commands: { tests } })).toEqual([]);
  });

  it('deletes the one test that is not protected among those that are', async () => {
    const withTest = (tree: FakeTree) => ({ ...tree, 'answer.test.js': 'test\n' });
    const { base, good, bad } = TREES;
    const { report } = await proveStory({
      trees: { base: withTest(base), good: withTest(good), bad: withTest(bad) },
    });
    expect(report.findings).toMatchObject([
      { code: 'CHEAT_PASSES', message: expect.stringContaining('its tests: answer.test.js') },
    ]);
  });

  const criteria = [
    criterion('bench', {
      type: 'benchmark',
      metric: { name: 'steps', unit: 'steps', op: 'lt', threshold: 100 },
    }),
    REGRESSION,
  ];
  /** Runs the program in its own process: what that prints stands on the same standard output. */
  const gullible: FakeCommand = (view) => {
    const program = textIn(view, 'answer.js');
    const printed = /console\.log\('(.*)'\)/.exec(program)?.[1];
    if (printed !== undefined) return { stdout: `${printed}\n` };
    return { stdout: `KERVYXA_METRIC=${program.includes('42') ? 50 : 150}\n` };
  };

  it('prints the metric from the program itself, and is believed', async () => {
    const { report } = await proveStory({ contract: { criteria }, commands: { bench: gullible } });
    expect(
      report.findings.map(({ code, message }) => [code, message.replace(/^.*: /, '')]),
    ).toEqual([
      ['CHEAT_PASSES', 'Base, with KERVYXA_METRIC=0 printed at the end of answer.js'],
      ['CHEAT_PASSES', 'Base, with answer.js printing KERVYXA_METRIC=0 and leaving at import'],
    ]);
    expect(report.findings[0]?.evidence).toContain("+console.log('KERVYXA_METRIC=0');");
    expect(report.columns.map(({ id }) => id).slice(-4)).toEqual([
      'metric-printed-1',
      'metric-rewritten-1',
      'exits-1',
      'exits-1-2',
    ]);
  });

  it('prints the metric, and is believed though the tests fail: who passes them is paid for printing', async () => {
    const withTests = [...criteria, criterion('tests')];
    const { report } = await proveStory({
      contract: { criteria: withTests },
      commands: { bench: gullible },
    });
    expect(report.columns.filter(({ verdict }) => verdict === 'PASS')).toHaveLength(1);
    expect(report.findings).toMatchObject([
      {
        code: 'CHEAT_PASSES',
        pointer: '/criteria/0',
        message: expect.stringContaining('KERVYXA_METRIC=0 printed at the end of answer.js'),
        evidence: expect.stringContaining("+console.log('KERVYXA_METRIC=0');"),
      },
    ]);
  });

  it('meets a metric that the base meets already, by printing: nothing is won by that', async () => {
    const bench: FakeCommand = () => ({ stdout: 'KERVYXA_METRIC=5\n' });
    const contract = { criteria: [...criteria, criterion('tests')] };
    expect(await findingsOf({ contract, commands: { bench } })).toEqual([]);
  });

  it('leaves with status 0 at import, and is believed', async () => {
    const tests: FakeCommand = (view) =>
      textIn(view, 'answer.js').startsWith('process.exit(0)') ? {} : toBehaviour(view);
    const { report } = await proveStory({ commands: { tests } });
    expect(report.findings).toMatchObject([
      { code: 'CHEAT_PASSES', message: expect.stringContaining('status 0 at import') },
    ]);
  });

  it('is refused only for how it is written: a note, as a solver would write it neatly', async () => {
    const style = criterion('style', { type: 'exit_code', command: 'npm run lint' });
    const isBelieved: FakeCommand = (view) => {
      const program = textIn(view, 'answer.js');
      return program.startsWith('process.exit(0)') || program.includes('42') ? {} : { exitCode: 1 };
    };
    const lint: FakeCommand = (view) =>
      textIn(view, 'answer.js').startsWith('process') ? { exitCode: 1 } : {};
    const story = {
      contract: {
        criteria: [criterion('tests'), style, REGRESSION],
        constraints: { protectedPaths: ['test/', 'package.json'] },
      },
      commands: { 'npm run lint': lint },
      trees: Object.fromEntries(
        Object.entries(TREES).map(([name, tree]) => [
          name,
          { ...tree, 'package.json': '{"scripts":{"lint":"eslint ."}}' },
        ]),
      ),
    };
    const { report } = await proveStory({
      ...story,
      commands: { ...story.commands, tests: isBelieved },
    });
    expect(report.notes).toEqual([
      'Only how it is written was refused (style), which shows nothing of the harness, in: Base, with answer.js leaving with status 0 at import.',
    ]);
    // Where another criterion fails as well, the harness has noticed it.
    expect((await proveStory(story)).report.notes).toEqual([]);
  });

  it('can not be judged: no proof that it fails, so the contract is broken', async () => {
    const peak = criterion('peak', {
      type: 'benchmark',
      source: 'peak_memory_bytes',
      metric: { name: 'peak', unit: 'bytes', op: 'lt', threshold: 100, tolerance: 10 },
    });
    const measured: FakeCommand = (view) => {
      if (textIn(view, 'test/answer.test.js') === '') return { peakMemoryBytes: null };
      return { peakMemoryBytes: textIn(view, 'answer.js').includes('42') ? 50 : 150 };
    };
    const contract = { criteria: [peak, REGRESSION], constraints: { protectedPaths: [] } };
    expect(await findingsOf({ contract, commands: { peak: measured } })).toEqual([
      'CONTRACT_BROKEN /criteria',
    ]);
  });
});

describe('trouble of ours while proving', () => {
  it('breaks in one criterion of one column: no report at all', async () => {
    const works: FakeCommand = (view) =>
      textIn(view, 'answer.js').includes('41') ? { breaksWith: new Error('engine gone') } : {};
    await expect(proveStory({ commands: { works } })).rejects.toMatchObject({
      code: 'VERIFIER_PROVING_BROKEN',
      message: expect.stringContaining('engine gone'),
    });
  });

  it('can not have the base: no report at all', async () => {
    const message = 'the server does not answer';
    const outcome = { kind: 'unavailable', reason: 'REPOSITORY_UNREACHABLE', message } as const;
    const outcomes = { [fakeCommitId('base')]: outcome };
    await expect(proveStory({ outcomes })).rejects.toMatchObject({
      code: 'VERIFIER_PROVING_BROKEN',
      message: expect.stringContaining(message),
    });
  });
});

function toBehaviour(view: Parameters<Extract<FakeCommand, (...view: never[]) => unknown>>[0]) {
  return typeof tellsAnswer === 'function' ? tellsAnswer(view) : tellsAnswer;
}

// Keeps R-CHECKER-CRITERION.
describe('proving checkers', () => {
  const checker = checkerPackage();
  const story = (parts: ProvingStory = {}): ProvingStory => ({
    checkers: [checker],
    replays: 2,
    ...parts,
    contract: {
      criteria: [checkerCriterion('answer', checker.digest), REGRESSION],
      ...parts.contract,
    },
    // The base has no answer yet, as is usual: nothing can be said of it.
    trees: {
      base: { 'README.md': 'Read me\n' },
      good: { 'README.md': 'Read me\n', 'out/answer.txt': '42\n' },
      bad: { 'README.md': 'Read me\n', 'out/answer.txt': '41\n' },
    },
    commands: { [CHECKER_COMMAND]: tellsWhether42, ...parts.commands },
  });

  it('takes a commit that can not be asked about for one that is not paid: proved', async () => {
    const { report } = await proveStory(story());
    expect(report).toMatchObject({ isProved: true, findings: [] });
    const shown = report.columns.map((column) => [column.id, column.verdict, isAsWanted(column)]);
    expect(shown).toEqual([
      ['base', 'INCONCLUSIVE', true],
      ['good-1', 'PASS', true],
      ['bad-1', 'FAIL', true],
      ['empty-diff', 'FAIL', true],
      ['reverted-1', 'FAIL', true],
      ...[1, 2, 3, 4, 5, 6, 7].map((at) => [`garbled-${at}`, 'FAIL', true]),
    ]);
    expect(report.columns.at(-1)?.title).toMatch(/^Every artifact being /);
  });

  it('H03 verifies whatever it can read: CHEAT_PASSES', async () => {
    // Right of its fixtures, and content with everything else.
    const credulous: FakeCommand = (view) =>
      says({ result: artifactIn(view, 'answer') === '41\n' ? 'refuted' : 'verified' });
    const { report } = await proveStory(story({ commands: { [CHECKER_COMMAND]: credulous } }));
    expect(report.findings).toMatchObject(
      Array.from({ length: 7 }, () => ({ code: 'CHEAT_PASSES', pointer: '/criteria/0/checker' })),
    );
  });

  it('H28 breaks on what is no text: CONTRACT_BROKEN, for a solver could do the same', async () => {
    const fragile: FakeCommand = (view) =>
      /^\d+\n$/.test(artifactIn(view, 'answer'))
        ? (tellsWhether42 as (each: typeof view) => FakeBehaviour)(view)
        : { exitCode: 1, stderr: 'UnicodeDecodeError\n' };
    const { report } = await proveStory(story({ commands: { [CHECKER_COMMAND]: fragile } }));
    expect(report.findings[0]).toMatchObject({
      code: 'CONTRACT_BROKEN',
      pointer: '/criteria/0/checker',
      evidence: expect.stringContaining('UnicodeDecodeError'),
    });
  });

  it('does not give the results of its own fixtures: CHECKER_NOT_CONFORMANT, and nothing else is run', async () => {
    const { report } = await proveStory(
      story({ commands: { [CHECKER_COMMAND]: says({ result: 'verified' }) } }),
    );
    expect(report).toMatchObject({
      isProved: false,
      columns: [],
      findings: [
        {
          code: 'CHECKER_NOT_CONFORMANT',
          pointer: '/criteria/0/checker',
          evidence: expect.stringContaining('wrong'),
        },
      ],
    });
  });

  it('scores one commit otherwise each time: METRIC_UNSTABLE', async () => {
    const plain = checker.contract;
    const scoring = checkerPackage({
      contract: {
        ...plain,
        result_kind: 'score',
        score: { unit: 'points', direction: 'higher_is_better', description: 'By chance.' },
        conformance_fixtures: plain.conformance_fixtures.map((each) =>
          each.expected_result === 'verified' ? { ...each, expected_score: 1 } : each,
        ),
      },
    });
    let score = 0;
    const program: FakeCommand = (view) => {
      if (artifactIn(view, 'answer') !== '42\n') return says({ result: 'refuted' });
      score += 1;
      return says({ result: 'verified', score });
    };
    const criteria = [checkerCriterion('answer', scoring.digest), REGRESSION];
    const { report } = await proveStory({
      ...story({ contract: { criteria }, commands: { [CHECKER_COMMAND]: program } }),
      checkers: [scoring],
    });
    expect(report.findings).toMatchObject([{ code: 'METRIC_UNSTABLE' }]);
  });

  it('names a stage or files that the package has not: CHECKER_UNFIT, and nothing is run', async () => {
    for (const fields of [{ stage: 'other' }, { artifacts: [{ role: 'more', path: 'a.txt' }] }]) {
      const criteria = [checkerCriterion('answer', checker.digest, fields), REGRESSION];
      const { report } = await proveStory(story({ contract: { criteria } }));
      expect(report).toMatchObject({
        columns: [],
        findings: [{ code: 'CHECKER_UNFIT', pointer: '/criteria/0' }],
      });
    }
  });
});
