import type { ContractInput } from '@kervyxa/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openAttackBench, type AttackBench } from './attack-bench.ts';

// A hidden check that starts the solver's program with kervyxa-run and compares what it answers. The program is to print
// its input twice.

const ANSWER = 'kervyxa-answer-4711';
const HIDDEN = {
  'check.sh': `asked=$(cut -c 1-7 "$KERVYXA_VERIFIER_PACKAGE/answer.txt")
wanted=$(cat "$KERVYXA_VERIFIER_PACKAGE/answer.txt")
kept=$(mktemp); echo "$wanted" >"$kept"; exec 8<"$kept"
[ "$(printf %s "$asked" | kervyxa-run sh hello.sh)" = "$asked$asked" ] || exit 1
[ "$(printf %s "$asked" | kervyxa-run sh leave.sh >/dev/null; kervyxa-run cat left.txt)" = "$wanted" ]
`,
  'answer.txt': `${ANSWER}\n`,
};
const HONEST = 'x=$(cat); echo "$x$x"\n';

function withHiddenCheck(contract: ContractInput): void {
  contract.constraints.maxChangedFiles = 4;
  contract.criteria.push({
    id: 'hidden',
    title: 'The answers are right',
    type: 'exit_code',
    visibility: 'hidden',
    command: 'sh "$KERVYXA_VERIFIER_PACKAGE/check.sh"',
    expectedExitCode: 0,
    timeoutSeconds: 3,
  });
}

/** What the program does with what it may not have; each leaves it where the check looks. */
const THEFTS = {
  'reads the package':
    'cat "$KERVYXA_VERIFIER_PACKAGE"/* /kervyxa/sealed/package/answer.txt >left.txt',
  'leaves a link to it': 'ln -s "$KERVYXA_VERIFIER_PACKAGE/answer.txt" left.txt',
  'reads the check’s environment, descriptors and folder':
    'cat /proc/[0-9]*/environ /proc/[0-9]*/fd/8 /proc/[0-9]*/cwd/../kervyxa/sealed/package/answer.txt /proc/[0-9]*/root/kervyxa/sealed/package/answer.txt >left.txt',
  'reads the check’s temporary files': 'cat /kervyxa/sealed/own/tmp/* >left.txt',
  'reads the check’s memory': `python3 -c '
import glob
for path in glob.glob("/proc/[0-9]*"):
    try:
        for line in open(path + "/maps"):
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            with open(path + "/mem", "rb") as memory:
                memory.seek(start); data = memory.read(end - start)
            at = data.find(b"kervyxa-" + b"answer")
            if at >= 0: open("left.txt", "wb").write(data[at:at + ${ANSWER.length}])
    except (OSError, ValueError, OverflowError): pass'`,
  'behaves only where the package is':
    'ls "$KERVYXA_VERIFIER_PACKAGE"/answer.txt && echo x >left.txt',
};

const branchOf = (name: string): string => name.replaceAll(/\W+/g, '-');

let bench: AttackBench;
let commits: Record<string, string> = {};
const base = (): string => commits['base'] ?? '';
beforeAll(async () => {
  bench = await openAttackBench();
  const start = { 'check.sh': 'true\n', 'hello.sh': 'echo x\n' };
  commits = await bench.build('apart', [
    { name: 'base', files: { ...start, 'leave.sh': 'true\n', 'harness.js': HARNESS } },
    ...Object.entries({
      ...Object.fromEntries(
        Object.entries(THEFTS).map(([name, act]) => [
          name,
          { 'hello.sh': HONEST, 'leave.sh': `${act}\n` },
        ]),
      ),
      ...KILLS,
    }).map(([name, files]) => ({ name: branchOf(name), parents: ['base'], files })),
  ]);
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

const HARNESS = `
const { spawnSync } = require('node:child_process');
spawnSync('sh', ['measured.sh'], { stdio: 'ignore' });
console.log('KERVYXA_METRIC=1');
`;
const KILLS = {
  'kills what asks it': { 'hello.sh': 'kill -9 $PPID\n' },
  'kills all that it may': { 'hello.sh': HONEST, 'leave.sh': 'kill -9 -1\n' },
  'kills the harness': {
    'hello.sh': HONEST,
    'measured.sh': 'echo KERVYXA_METRIC=9999 >/proc/$PPID/fd/1; kill -9 $PPID\n',
  },
};

// Keeps R-SANDBOX-APART.
describe('against a hidden check', () => {
  it.each(
    Object.keys(THEFTS).map((name) => [name.startsWith('behaves') ? 'H19' : 'H14 H16', name]),
  )(
    '%s %s: FAIL EXIT_CODE_MISMATCH, and the answer is in nothing that was printed',
    async (_, name) => {
      const { said, reasons, output } = await bench.attack('apart', base(), {
        commit: commits[branchOf(name)] ?? '',
        hidden: HIDDEN,
        contract: withHiddenCheck,
      });
      expect(said).toBe('FAIL EXIT_CODE_MISMATCH');
      expect(reasons[0]?.subject).toBe('hidden');
      expect([...output.values()].join('')).not.toContain(ANSWER);
    },
  );

  it.each([
    ['kills what asks it', 'FAIL EXIT_CODE_MISMATCH'],
    ['kills all that it may', 'FAIL TIME_LIMIT'],
  ])('H17 %s: %s', async (name, verdict) => {
    const { said } = await bench.attack('apart', base(), {
      commit: commits[branchOf(name)] ?? '',
      hidden: HIDDEN,
      contract: withHiddenCheck,
    });
    expect(said).toBe(verdict);
  });

  it('H17 writes a metric into the harness’s stdout and kills it: FAIL CRASHED', async () => {
    const { said, criteria } = await bench.attack('apart', base(), {
      commit: commits[branchOf('kills the harness')] ?? '',
      contract: (contract) => {
        contract.constraints.allowedLanguages = ['shell', 'javascript'];
        contract.criteria.push({
          id: 'score',
          title: 'The score is high enough',
          type: 'benchmark',
          visibility: 'public',
          command: 'node harness.js',
          source: 'marker',
          metric: { name: 'score', unit: 'points', op: 'gte', threshold: 10 },
          timeoutSeconds: 20,
        });
      },
    });
    expect(said).toBe('FAIL CRASHED');
    expect(criteria.at(-1)?.metric).toBeNull();
  });

  it('H16 prints what was asked for: the check passes what is right, so all above fail for what they are', async () => {
    const honest = await bench.build('honest', [
      { name: 'base', files: { 'check.sh': 'true\n', 'hello.sh': 'true\n', 'leave.sh': 'true\n' } },
      {
        name: 'good',
        parents: ['base'],
        files: { 'hello.sh': HONEST, 'leave.sh': `echo ${ANSWER} >left.txt\n` },
      },
    ]);
    const { said } = await bench.attack('honest', honest.base, {
      commit: honest.good,
      hidden: HIDDEN,
      contract: withHiddenCheck,
    });
    expect(said).toBe('PASS');
  });
});
