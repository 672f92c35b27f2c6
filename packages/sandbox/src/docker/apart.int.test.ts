import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RunOutcome, RunRequest, SandboxLimits } from '../port.ts';
import { type EngineBench, openEngineBench } from '../testing/engine.ts';
import { LIMITS, never, run, textOf, withSession } from '../testing/harness.ts';
import { imageWithout } from '../testing/images.ts';
import { testTree, type TestFile } from '../testing/trees.ts';

const MIB = 1_024 * 1_024;

let bench: EngineBench;
beforeAll(async () => {
  bench = await openEngineBench();
});
afterEach(() => bench.assertNothingLeft());

/** Runs a program of the package's, with Python, as its user. */
function check(
  program: string,
  options: {
    readonly limits?: Partial<SandboxLimits>;
    readonly request?: Partial<RunRequest>;
    readonly tree?: Readonly<Record<string, TestFile>>;
  } = {},
): Promise<RunOutcome> {
  const session = {
    verifierPackage: testTree({ 'check.py': `import os, subprocess, sys, time\n${program}` }),
    tree: testTree(options.tree ?? {}),
    limits: { ...LIMITS, ...options.limits },
  };
  const command = 'exec python3 -I $KERVYXA_VERIFIER_PACKAGE/check.py';
  return withSession(bench, session, (opened) =>
    run(opened, command, { package: 'apart', ...options.request }),
  );
}

// Keeps R-SANDBOX-APART.
describe('kervyxa-run', () => {
  it('hands on every argument to the byte: newlines, quotes, dashes, nothing, no UTF-8, very long', async () => {
    const outcome = await check(`
args = [b"", b"'", b"''", b'"', b"-n", b"--", b"a b", b"\\n", b"a\\n\\n", b"\\n'\\n", b"$HOME \`id\` $(id)", b"\\\\", b"\\\\n",
        b"*", b"~", bytes(range(1, 256)), bytes(range(1, 256)) * 20 + b"'\\n", b"'" * 70000, b"x" * 131000]
show = b'import os, sys; sys.stdout.buffer.write(b"".join(b"%d:%s," % (len(a), a) for a in map(os.fsencode, sys.argv[1:])))'
got = subprocess.run([b"kervyxa-run", b"python3", b"-c", show, *args], capture_output=True)
print(got.returncode, got.stdout == b"".join(b"%d:%s," % (len(a), a) for a in args), got.stderr)`);
    expect(textOf(outcome)).toBe("0 True b''\n");
  });

  it('ends as the command ends: any status, a signal, no such command, no folder that it may enter', async () => {
    const outcome = await check(
      `
ends = [subprocess.run(["kervyxa-run", *args], stderr=subprocess.DEVNULL).returncode for args in [
    ["true"], ["sh", "-c", "exit 3"], ["sh", "-c", "exit 255"], ["sh", "-c", "kill -9 $$"], ["sh", "-c", "kill -INT $$"],
    ["no-such-command"], ["/etc/passwd"], ["./a b/-x"], []]]
print(ends, subprocess.run(["kervyxa-run", "true"], cwd=os.environ["TMPDIR"], stderr=subprocess.DEVNULL).returncode)`,
      { tree: { 'a b/-x': { script: '#!/bin/sh\nexit 9' } } },
    );
    expect(textOf(outcome)).toBe('[0, 3, 255, 137, 130, 127, 126, 9, 125] 126\n');
  });

  it('relays stdin, stdout and stderr whole, each apart, whichever side stops first', async () => {
    const outcome = await check(`
big = os.urandom(3_000_000)
def ran(*args, **more): return subprocess.run(["kervyxa-run", *args], capture_output=True, **more)
got = ran("sh", "-c", "tee /dev/stderr", input=big)
print(got.returncode, got.stdout == big, got.stderr == big)
print(ran("head", "-c", "9", input=big).stdout == big[:9], ran("true", input=big).returncode)
print(ran("cat", "/dev/stdin", stdin=subprocess.DEVNULL), ran("cat", "/dev/stdin", input=b"late").stdout)
never = os.pipe()[0]
print(ran("echo", "x", stdin=never).stdout, ran("sh", "-c", "exec <&- >&- 2>&-; exit 4").returncode)
print(subprocess.run("kervyxa-run yes | head -n 1; kervyxa-run pwd | cat", shell=True, capture_output=True).stdout)`);
    expect(textOf(outcome).split('\n')).toEqual([
      '0 True True',
      'True 0',
      "CompletedProcess(args=['kervyxa-run', 'cat', '/dev/stdin'], returncode=0, stdout=b'', stderr=b'') b'late'",
      "b'x\\n' 4",
      "b'y\\n/workspace\\n'",
      '',
    ]);
  });

  it('runs many at once, and leaves nothing of any behind', async () => {
    const outcome = await check(
      `
many = [subprocess.Popen(["kervyxa-run", "sh", "-c", f"cat; exit {i}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) for i in range(8)]
print([(p.communicate(b"%d" % i)[0], p.returncode) for i, p in enumerate(many)] == [(b"%d" % i, i) for i in range(8)])
print({subprocess.run(["kervyxa-run", "true"]).returncode for i in range(20)}, os.listdir("/kervyxa/calls"))`,
      { limits: { pidsMax: 128 } },
    );
    expect(textOf(outcome)).toBe("True\n{0} ['requests']\n");
  });

  it('takes the command and all that it started with it, killed by a time-out of the check’s', async () => {
    const outcome = await check(`
started = "echo $$ >/tmp/pid; sleep 300 & wait"
def gone():
    pid = open("/tmp/pid").read().strip()
    for i in range(500):
        if not os.path.exists("/proc/" + pid): return True
        time.sleep(0.01)
print(subprocess.run(["timeout", "-s", "KILL", "1", "kervyxa-run", "sh", "-c", started]).returncode, gone())
try: subprocess.run(["kervyxa-run", "sh", "-c", started], capture_output=True, timeout=1)
except subprocess.TimeoutExpired: print("late", gone())
print(subprocess.run(["kervyxa-run", "true"]).returncode)`);
    expect(textOf(outcome)).toBe('-9 True\nlate True\n0\n');
  });

  it('steps aside where the code itself uses it, as it does in every other run', async () => {
    const nested =
      'kervyxa-run sh -c "id -un; kervyxa-run id -un; kervyxa-run exit9 || kervyxa-run sh -c \\"exit 9\\""';
    await withSession(bench, {}, async (session) => {
      for (const access of ['none', 'apart'] as const) {
        const outcome = await run(session, nested, { package: access });
        expect([textOf(outcome), outcome.exitCode]).toEqual(['nobody\nnobody\n', 9]);
      }
    });
  });

  it('starts what every other run starts: the same user, rights, limits, environment and folder', async () => {
    const look = `env | sort; umask; pwd; id -un; id -gn; id -Gn; nice; ulimit -a; cat /proc/self/oom_score_adj; ls /proc/self/fd
      grep -E "Cap|NoNewPrivs|Seccomp:|SigIgn|SigBlk" /proc/self/status; echo x >/workspace/x && echo x >~/x && echo wrote`;
    const texts = await withSession(bench, { tree: testTree({}) }, async (session) => [
      textOf(await run(session, look)),
      textOf(await run(session, `kervyxa-run sh -c '${look}'`)),
      textOf(await run(session, `kervyxa-run sh -c '${look}'`, { package: 'apart' })),
    ]);
    expect(texts[0]).toMatch(/^wrote$/m);
    expect(texts.slice(1)).toEqual([texts[0], texts[0]]);
  });
});

// Keeps R-SANDBOX-APART.
describe('a check apart from the code that it judges', () => {
  it('has no capability, a home and temporary files of its own, its stdin and streams by name, and no way to write elsewhere', async () => {
    const command = `id -un; umask; pwd; cat $KERVYXA_VERIFIER_PACKAGE/a; cat /dev/stdin; echo err >/dev/stderr; echo out >/dev/stdout
      grep -E 'Cap|NoNewPrivs|Seccomp:' /proc/self/status | cut -f 2 | sort -u; env | grep -c KERVYXA_COMMAND
      for at in / /workspace /kervyxa /kervyxa/sealed/package; do touch $at/x 2>/dev/null && echo wrote $at; done
      echo x >~/x && mktemp | cut -d / -f 1-5`;
    const outcome = await withSession(
      bench,
      { verifierPackage: testTree({ a: 'hidden\n' }) },
      (session) => run(session, command, { package: 'apart', stdinLine: 'a line' }),
    );
    expect(textOf(outcome).split('\n')).toEqual([
      'check',
      '0077',
      '/workspace',
      'hidden',
      'a line',
      'out',
      '0000000000000000',
      '1',
      '2',
      '0',
      '/kervyxa/sealed/own/tmp',
      '',
    ]);
    expect(Buffer.from(outcome.stderr.head).toString()).toBe('err\n');
  });

  it('is measured and limited with the code: memory, its kill, processes, output, time, files', async () => {
    const cases = await Promise.all([
      check('subprocess.run(["kervyxa-run", "python3", "-c", "x = bytearray(60_000_000)"])'),
      check('subprocess.run(["kervyxa-run", "python3", "-c", "x = bytearray(400_000_000)"])'),
      check(
        'sys.exit(subprocess.run(["kervyxa-run", "sh", "-c", "b() { b | b & }; b; sleep 1; exit 1"]).returncode)',
      ),
      check('os.execvp("kervyxa-run", ["kervyxa-run", "yes"])', { limits: { outputBytes: MIB } }),
      check('os.execvp("kervyxa-run", ["kervyxa-run", "sleep", "300"])', {
        request: { timeoutMs: 1_000 },
      }),
      check(
        'sys.exit(subprocess.run(["kervyxa-run", "sh", "-c", "head -c 20000000 /dev/zero >x"]).returncode)',
      ),
    ]);
    const [measured, killed, forked, printed, slept, filled] = cases;
    expect(measured?.peakMemoryBytes).toBeGreaterThan(60_000_000);
    expect(measured?.peakMemoryBytes).toBeLessThan(100_000_000);
    expect(killed).toMatchObject({ exitCode: 0, oomKilled: true });
    expect(forked).toMatchObject({ pidsLimitHit: true, timedOut: false });
    expect(printed).toMatchObject({ outputExceeded: true, exitCode: 137 });
    expect(slept).toMatchObject({ timedOut: true, exitCode: 137 });
    expect(filled).toMatchObject({ workspaceFull: true });
    expect(filled?.exitCode).not.toBe(0);
  });

  it('has the files that the code left read when it has ended', async () => {
    await withSession(bench, {}, async (session) => {
      const ended = await run(
        session,
        'kervyxa-run sh -c "echo made >made; chmod 600 made"; ! cat made',
        { package: 'apart' },
        (staged) => staged.readFile('made', 100, never),
      );
      expect(ended).toMatchObject({ exitCode: 0, looked: { kind: 'file', bytesTotal: 5 } });
    });
  });

  it('runs on an image without setpriv: as a command that is not there, which no solver is blamed for', async () => {
    const image = await imageWithout(bench, '/usr/bin/setpriv');
    const outcome = await withSession({ ...bench, image }, {}, (session) =>
      run(session, 'exit 0', { package: 'apart' }),
    );
    expect(outcome).toMatchObject({ exitCode: 127, stdout: { bytesTotal: 0 } });
    expect(Buffer.from(outcome.stderr.head).toString()).toMatch(/expected setpriv of util-linux/);
    await bench.docker.getImage(image).remove();
  });
});
