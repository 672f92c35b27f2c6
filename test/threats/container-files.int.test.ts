import type { ContractInput } from '@kervyxa/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AttackBench, openAttackBench } from './attack-bench.ts';

let bench: AttackBench;
beforeAll(async () => {
  bench = await openAttackBench();
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

type Criteria = ContractInput['criteria'];
const BASE = { name: 'base', files: { 'check.sh': 'sh hello.sh\n', 'hello.sh': 'exit 1\n' } };

/** That there is a file, whatever is in it. */
function isThere(path: string): Criteria {
  return [
    {
      id: 'is-there',
      title: 'There is a result',
      type: 'file_assertion',
      visibility: 'public',
      command: 'sh hello.sh',
      timeoutSeconds: 20,
      path,
      assertion: { op: 'exists' },
    },
  ];
}

/** That it is small. */
function isSmall(path: string): Criteria {
  return [
    {
      id: 'is-small',
      title: 'The result is small',
      type: 'benchmark',
      visibility: 'public',
      command: 'sh hello.sh',
      timeoutSeconds: 20,
      source: 'artifact_bytes',
      path,
      metric: { name: 'size', unit: 'bytes', op: 'lte', threshold: 1_000_000_000 },
    },
  ];
}

describe('BUG-39 C28 C29 where a result is expected', () => {
  const MADE: readonly (readonly [what: string, script: string, path: string])[] = [
    ['a link to a file of the host', 'ln -s /etc/passwd result', 'result'],
    ['a link to a secret of the process that looks', 'ln -s /proc/self/environ result', 'result'],
    ['a link to a file beside it', 'echo 1 >real; ln -s real result', 'result'],
    ['a link in its path', 'ln -s /etc out', 'out/passwd'],
    ['a link in its path that leads back', 'echo 1 >passwd; ln -s . out', 'out/passwd'],
    ['a link that leads to itself', 'ln -s result result', 'result'],
    ['a pipe', 'mkfifo result', 'result'],
    ['a socket', `python3 -c 'import socket; socket.socket(1).bind("result")'`, 'result'],
    ['a folder', 'mkdir result', 'result'],
    [
      'a link that changes with a file until the end',
      'echo 1 >real; (while :; do ln -sf /etc/passwd result; ln -f real result; done) 2>&- & sleep 0.3; ln -sf /etc/passwd result; kill -STOP $!; [ -L result ] || ln -sf /etc/passwd result',
      'result',
    ],
  ];
  let commits: Record<string, string>;
  beforeAll(async () => {
    commits = await bench.build('made', [
      BASE,
      ...MADE.map(([, script], at) => ({
        name: `made-${at}`,
        parents: ['base'],
        files: { 'hello.sh': `${script}\nexit 0\n` },
      })),
    ]);
  });

  it.each(MADE.map(([what, , path], at) => [what, path, at] as const))(
    'BUG-39 C28 C29 the run leaves %s: FAIL ASSERTION_FAILED, and no size is read: FAIL METRIC_MISSING',
    async (_, path, at) => {
      const { base = '', [`made-${at}`]: commit = '' } = commits;
      const saidOf = async (criteria: Criteria): Promise<string> => {
        const { said } = await bench.attack('made', base, {
          commit,
          contract: (contract) => Object.assign(contract, { criteria }),
        });
        return said;
      };
      expect(await saidOf(isThere(path))).toBe('FAIL ASSERTION_FAILED');
      expect(await saidOf(isSmall(path))).toBe('FAIL METRIC_MISSING');
    },
  );

  it.each([
    ['result.sh', '/etc/passwd'],
    ['src.sh', '/'],
    ['src.sh', '../../..'],
  ])(
    'BUG-39 the commit has a link %s to %s: FAIL UNSAFE_PATH, and nothing runs',
    async (path, target) => {
      const name = `link-${target.length}`;
      const { base, cheat } = await bench.build(name, [
        { ...BASE, name: 'base' },
        { name: 'cheat', parents: ['base'], files: { [path]: { symlink: target } } },
      ]);
      const { said, criteria } = await bench.attack(name, base, {
        commit: cheat,
        contract: (contract) => Object.assign(contract, { criteria: isThere(path) }),
      });
      expect(said).toBe('FAIL UNSAFE_PATH');
      expect(criteria[0]?.status).toBe('not_run');
    },
  );
});

describe('BUG-41 code that runs while something is installed or built', () => {
  // Says which of its ways out it found; the check passes only where it looked, and found none.
  const ATTEMPTS = `echo looked >looked
for at in / /etc /usr /var /root /kervyxa /dev; do touch $at/x 2>/dev/null && echo "wrote $at" >>found; done
node -e 'for (const host of ["1.1.1.1", "169.254.169.254", "172.17.0.1"])
  require("net").connect(80, host).on("connect", () => fs.appendFileSync("found", host)).on("error", () => {})'
grep -q 'CapEff:.0000000000000000' /proc/self/status || echo capable >>found
ls -A $KERVYXA_VERIFIER_PACKAGE | grep . >>found
env | grep -iE 'token|secret|password|docker' >>found
exit 0`;
  const SETUPS = {
    npm: 'npm install --offline --no-audit --no-fund --foreground-scripts',
    python: 'python3 setup.py --version',
  };
  const base = {
    'check.sh': 'grep -q looked looked && ! grep . found\n',
    'hello.sh': 'exit 1\n',
    'package.json': '{"name":"it","version":"1.0.0"}',
    'setup.py': 'print("1.0.0")\n',
  };
  const install = (script: string): Record<string, string> => ({
    'package.json': '{"name":"it","version":"1.0.0","scripts":{"postinstall":"sh hello.sh"}}',
    'hello.sh': script,
  });
  const build = (script: string): Record<string, string> => ({
    'setup.py': 'import os, sys\nsys.exit(os.system("sh hello.sh") and 1)\n',
    'hello.sh': script,
  });
  const attack = async (
    name: string,
    setup: keyof typeof SETUPS,
    files: Record<string, string>,
    timeoutSeconds = 30,
  ): Promise<string> => {
    const commits = await bench.build(name, [
      { name: 'base', files: base },
      { name: 'cheat', parents: ['base'], files },
    ]);
    const { said } = await bench.attack(name, commits.base, {
      commit: commits.cheat,
      hidden: { 'secret.sh': 'exit 0' },
      contract: ({ environment, constraints }) => {
        environment.setup = [{ command: SETUPS[setup], timeoutSeconds }];
        constraints.allowedLanguages = ['shell', 'json', 'python'];
      },
    });
    return said;
  };

  it('BUG-41 npm runs the postinstall of the commit: it writes and reaches nothing beside its workspace: PASS', async () => {
    expect(await attack('npm-out', 'npm', install(ATTEMPTS))).toBe('PASS');
  });

  it('BUG-41 python runs the setup.py of the commit: it writes and reaches nothing beside its workspace: PASS', async () => {
    expect(await attack('python-out', 'python', build(ATTEMPTS))).toBe('PASS');
  });

  it.each([
    ['floods', 'yes'],
    ['bombs', 'bomb() { bomb | bomb & }; bomb; sleep 2; exit 1'],
    ['takes memory', `python3 -c 'bytearray(400000000)'`],
    ['fills', 'for i in 1 2 3; do head -c 8000000 /dev/zero >$i || exit 1; done'],
  ])('BUG-41 a setup.py that %s: FAIL SETUP_FAILED', async (what, script) => {
    const name = `python-${what.replace(' ', '-')}`;
    expect(await attack(name, 'python', build(script))).toBe('FAIL SETUP_FAILED');
  });

  it('BUG-41 a setup.py that hangs: FAIL SETUP_FAILED', async () => {
    const hang = `trap '' TERM; sleep 9999`;
    expect(await attack('python-hangs', 'python', build(hang), 2)).toBe('FAIL SETUP_FAILED');
  });
});
