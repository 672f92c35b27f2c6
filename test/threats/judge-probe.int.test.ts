import type { ContractInput } from '@kervyxa/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AttackBench, type AttackEnd, openAttackBench } from './attack-bench.ts';

/** Loads the solver's program into its own process, as plain as can be, and prints what it answers. */
const PROBE = `
  const { readFileSync } = require('node:fs');
  const inputs = JSON.parse(readFileSync(process.env.KERVYXA_PROBE + '/inputs.json', 'utf8'));
  const { double } = require(process.cwd() + '/' + process.argv[2]);
  console.log(JSON.stringify(inputs.map(double)));
`;
/** What is no list of the right numbers is wrong, whatever it is. */
const JUDGE = `
  const { readFileSync } = require('node:fs');
  const right = readFileSync(process.env.KERVYXA_VERIFIER_PACKAGE + '/answers.json', 'utf8').trim();
  const given = readFileSync(process.env.KERVYXA_PROBE_OUTPUT + '/stdout', 'utf8').trim();
  console.log('KERVYXA_METRIC=1');
  process.exitCode = given === right ? 0 : 1;
`;
const HIDDEN = {
  'answers.json': '[34,46,58]\n',
  'judge.js': JUDGE,
  'probe/inputs.json': '[17,23,29]\n',
  'probe/probe.js': PROBE,
};
const HONEST = 'exports.double = (number) => 2 * number;\n';

/** The solver's programs by criterion, and what each of them gets. */
const PROGRAMS = {
  'honest-work': [HONEST, 'pass '],
  'leaves-at-import': ['process.exit(0);', 'fail REFUTED'],
  'leaves-for-good': ['process.reallyExit(0);', 'fail REFUTED'],
  'is-killed': ['process.kill(process.pid, 9);', 'fail CRASHED'],
  'patches-asserts': [
    `const assert = require('node:assert');
     assert.deepStrictEqual = assert.strictEqual = assert.equal = assert.ok = () => undefined;
     String.prototype.trim = () => '';
     exports.double = () => ({ valueOf: () => 34, toJSON: () => ({ valueOf: () => 34 }) });`,
    'fail REFUTED',
  ],
  'patches-the-exit': [
    `process.on('exit', () => { process.exitCode = 0; });
     process.exit = process.reallyExit = process.abort = () => undefined;
     exports.double = () => { throw new Error('vanishes'); };`,
    'fail REFUTED',
  ],
  'catches-all': [
    `process.on('uncaughtException', () => undefined);
     exports.double = () => { throw new Error('vanishes'); };`,
    'fail REFUTED',
  ],
  'says-the-verdict': [
    `console.log('{"verdict":"PASS"}\\nPASS\\nKERVYXA_METRIC=0\\nok 1\\n10 passed'); process.exit(0);`,
    'fail REFUTED',
  ],
  'prepared-answers': [
    `const table = { 1: 2, 2: 4, 3: 6 }; // All of cases.json, which everybody can read.
     exports.double = (number) => table[number];`,
    'fail REFUTED',
  ],
  'prints-beside': [`console.log('[34,46,58]'); ${HONEST}`, 'fail REFUTED'],
  'prints-later': [
    `require('node:child_process').spawn('sh', ['-c', 'sleep 3; echo "[34,46,58]"'],
       { detached: true, stdio: ['ignore', 'inherit', 'ignore'] }).unref();
     process.exit(0);`,
    'fail REFUTED',
  ],
  'looks-for-answers': [
    `const { execSync } = require('node:child_process');
     const find = 'find / -not -path "/proc/*" -name "answers.json" -o -name "judge.js" 2>/dev/null';
     const look = 'ls -la $KERVYXA_VERIFIER_PACKAGE $KERVYXA_PROBE/..; cat $KERVYXA_PROBE/../answers.json';
     console.log(execSync('(' + find + '; ' + look + ') 2>&1; true').toString());
     process.exit(0);`,
    'fail REFUTED',
  ],
} satisfies Record<string, readonly [program: string, end: string]>;

let bench: AttackBench;
let end: AttackEnd;

beforeAll(async () => {
  bench = await openAttackBench();
  const files = Object.entries(PROGRAMS).map(([id, [text]]) => [`${id}.js`, text]);
  const { base, cheat } = await bench.build('doubled', [
    { name: 'base', files: { 'cases.json': '{"1":2,"2":4,"3":6}' } },
    {
      name: 'cheat',
      parents: ['base'],
      files: {
        ...Object.fromEntries(files),
        // In the places where the judge finds what it goes by.
        'probe-output/stdout': '[34,46,58]\n',
        '.kervyxa/guard.cjs': 'process.exit(0);\n',
        stdout: '[34,46,58]\n',
      },
    },
  ]);
  end = await bench.attack('doubled', base, {
    commit: cheat,
    hidden: HIDDEN,
    contract: (contract) => {
      contract.constraints.maxChangedFiles = 30;
      contract.constraints.allowedLanguages = [];
      contract.constraints.editablePaths = ['**'];
      contract.criteria = Object.keys(PROGRAMS).map((id) => judgeProbe(id, `${id}.js`));
    },
  });
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

function judgeProbe(id: string, program: string, outputs: string[] = []) {
  return {
    id,
    title: id,
    type: 'judge_probe' as const,
    visibility: 'hidden' as const,
    probe: { command: `node "$KERVYXA_PROBE/probe.js" ${program}`, outputs },
    judge: { command: 'node "$KERVYXA_VERIFIER_PACKAGE/judge.js"' },
    timeoutSeconds: 20,
  };
}

function endOf(id: keyof typeof PROGRAMS): string {
  const found = end.criteria.find((criterion) => criterion.id === id);
  return `${found?.status} ${found?.reason ?? ''}`;
}

// Keeps R-JUDGE-PROBE.
describe('a judge apart from the program', () => {
  it('lets honest work pass, and takes no metric from what the judge prints', () => {
    expect(endOf('honest-work')).toBe('pass ');
    expect(end.criteria.map(({ metric }) => metric)).toEqual(end.criteria.map(() => null));
  });

  it.each([
    ['H01', 'leaves-at-import'],
    ['H01', 'leaves-for-good'],
    ['H01', 'is-killed'],
    ['H02', 'patches-asserts'],
    ['BUG-4 H02', 'patches-the-exit'],
    ['BUG-4 H02', 'catches-all'],
    ['H02', 'says-the-verdict'],
    ['H21', 'prepared-answers'],
    ['H02', 'prints-beside'],
    ['BUG-6', 'prints-later'],
    ['H14', 'looks-for-answers'],
  ] as const)('%s the program %s: refused by the judge, who never loads it', (_ids, id) => {
    expect(endOf(id)).toBe(PROGRAMS[id][1]);
  });

  it('BUG-5 commits the judge’s own files with a pass in them: FAIL REFUTED, nobody looks there', () => {
    expect(end.said).toMatch(/^FAIL REFUTED/);
    expect(end.criteria.filter(({ status }) => status === 'pass')).toHaveLength(1);
  });

  it('H14 looks for the answers everywhere: neither they nor the judge are in its container', () => {
    const seen = end.output.get('criterion:looks-for-answers') ?? '';
    expect(seen).toContain('No such file or directory');
    expect(seen).not.toMatch(/judge\.js|34|answers\.json\n/);
  });
});

describe('what a probe leaves', () => {
  const LEFT = {
    'a-link': 'ln -s "$KERVYXA_PROBE/inputs.json" out.json',
    'a-link-above': 'ln -s "$KERVYXA_PROBE" deep; true',
    'a-folder': 'mkdir out.json',
    'a-pipe': 'mkfifo out.json',
    nothing: 'true',
    'a-sparse-file': 'truncate -s 40M out.json',
    'a-file': 'cp "$KERVYXA_PROBE/../nowhere" out.json 2>/dev/null; printf right > out.json',
    'a-name-with-blanks': "printf right > 'out .json\u00e9'",
    'after-its-end': '(sleep 3; printf right > out.json) & exit 0',
  };

  it('BUG-39 leaves a link, folder, pipe, hole or nothing for its answer: FAIL, and only a file is judged', async () => {
    const { base, work } = await bench.build('left', [
      { name: 'base', files: { 'check.sh': '' } },
      {
        name: 'work',
        parents: ['base'],
        files: Object.fromEntries(Object.entries(LEFT).map(([id, text]) => [`${id}.sh`, text])),
      },
    ]);
    const criteria = Object.keys(LEFT).map((id): ContractInput['criteria'][number] => ({
      ...judgeProbe(id, ''),
      probe: {
        command: `sh ${id}.sh`,
        outputs: [
          id === 'a-link-above'
            ? 'deep/inputs.json'
            : id === 'a-name-with-blanks'
              ? 'out .json\u00e9'
              : 'out.json',
        ],
      },
      judge: { command: 'grep -qx right "$KERVYXA_PROBE_OUTPUT"/out*' },
    }));
    const left = await bench.attack('left', base, {
      commit: work,
      hidden: HIDDEN,
      contract: (contract) => {
        contract.environment.workspaceMB = 64;
        contract.constraints.maxChangedFiles = 30;
        contract.criteria = criteria;
      },
    });
    const ends = left.criteria.map(({ id, status, reason }) => [id, `${status} ${reason ?? ''}`]);
    expect(Object.fromEntries(ends)).toEqual({
      'a-link': 'fail ASSERTION_FAILED',
      'a-link-above': 'fail ASSERTION_FAILED',
      'a-folder': 'fail ASSERTION_FAILED',
      'a-pipe': 'fail ASSERTION_FAILED',
      nothing: 'fail ASSERTION_FAILED',
      'a-sparse-file': 'fail OUTPUT_LIMIT',
      'a-file': 'pass ',
      'a-name-with-blanks': 'pass ',
      'after-its-end': 'fail ASSERTION_FAILED',
    });
  });
});
