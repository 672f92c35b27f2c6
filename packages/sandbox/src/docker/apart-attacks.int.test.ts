import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RunOutcome, RunRequest } from '../port.ts';
import { type EngineBench, openEngineBench } from '../testing/engine.ts';
import { LIMITS, never, run, textOf, toRequest, withSession } from '../testing/harness.ts';
import { type TestFile, testTree } from '../testing/trees.ts';

const MIB = 1_024 * 1_024;

let bench: EngineBench;
beforeAll(async () => {
  bench = await openEngineBench();
});
afterEach(() => bench.assertNothingLeft());

/** Runs a check of the package's on the solver's code, both in Python. The check has the answer; the code wants it. */
function runCheck(
  check: string,
  code: string,
  more: Partial<RunRequest> = {},
): Promise<RunOutcome> {
  const verifierPackage = testTree({
    'check.py': `import os, subprocess, sys, time\ncode = ["kervyxa-run", "python3", "code.py"]\n${check}`,
    'answer.txt': 'KERVYXA-ANSWER',
  });
  const tree = testTree({ 'code.py': code });
  const limits = { ...LIMITS, memoryBytes: 256 * MIB };
  const command =
    'ANSWER=KERVYXA-ANSWER exec python3 -I $KERVYXA_VERIFIER_PACKAGE/check.py </dev/null';
  return withSession(bench, { verifierPackage, tree, limits }, (session) =>
    run(session, command, { package: 'apart', ...more }),
  );
}

/** A check that holds the answer in every way there is, while the code runs. */
const HOLD = `
folder = os.environ["KERVYXA_VERIFIER_PACKAGE"]
held = open(folder + "/answer.txt"); answer = held.read()
kept = open(os.environ["TMPDIR"] + "/answer", "w"); kept.write(answer); kept.flush()
os.chdir(folder)`;

// Keeps R-SANDBOX-APART.
describe('code that a check started, and that wants the hidden answer', () => {
  it('H14 H16 reads, watches and maps package, memory, environment, descriptors and temporary files: refused, each', async () => {
    const outcome = await runCheck(
      `${HOLD}\nsys.exit(subprocess.run([*code, str(os.getpid())], cwd="/workspace").returncode)`,
      `
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
pid = sys.argv[1]
def tell(name, get):
    try: print(name, repr(get())[:200])
    except OSError as e: print(name, errno.errorcode[e.errno])
def call(name, number, *args):
    tell(name, lambda: libc.syscall(number, *args) if libc.syscall(number, *args) >= 0 else (_ for _ in ()).throw(OSError(ctypes.get_errno(), "")))
package = os.environ["KERVYXA_VERIFIER_PACKAGE"]
for path in (package, package + "/answer.txt", "/kervyxa/sealed", "/kervyxa/sealed/own/tmp/answer", "/kervyxa/calls"):
    tell("read " + path, lambda: os.listdir(path) if os.path.isdir(path) else open(path).read())
    call("watch " + path, 254, libc.inotify_init(), path.encode(), 0xfff)
tell("statvfs", lambda: os.statvfs(package))
for one in (pid, "1"):
    for name in ("environ", "mem", "maps", "auxv", "syscall", "stack", "io", "pagemap", "fd", "fdinfo", "map_files", "cwd", "root", "exe", "ns"):
        path = f"/proc/{one}/{name}"
        tell(path.replace(pid, "PID"), lambda: os.listdir(path) if name in ("fd", "fdinfo", "map_files", "cwd", "root", "ns") else open(path, "rb").read(99))
call("process_vm_readv", 310, int(pid), 0, 0, 0, 0, 0)
call("ptrace", 101, 16, int(pid), 0, 0)
call("pidfd_getfd", 438, libc.syscall(434, int(pid), 0), 3, 0)
call("kcmp", 312, int(pid), os.getpid(), 0, 3, 1)
call("open_by_handle_at", 304, 0, 0, 0)
tell("be the other", lambda: os.setuid(os.stat("/proc/" + pid).st_uid))
tell("be in its group", lambda: os.setgroups([os.stat("/proc/" + pid).st_gid]))
print("fds", sorted({os.readlink("/proc/self/fd/" + fd).rsplit("/", 1)[-1] for fd in ("0", "1", "2")}))`,
    );
    const said = textOf(outcome).trim().split('\n');
    expect(outcome.exitCode).toBe(0);
    expect(said.at(-1)).toBe("fds ['err', 'null', 'out']");
    const refused = /^.+ (EACCES|EPERM)$/;
    expect(said.slice(0, -1).filter((line) => !refused.test(line))).toEqual([]);
    expect(said).toHaveLength(11 + 30 + 7 + 1);
    expect(textOf(outcome)).not.toContain('KERVYXA-ANSWER');
  });

  it('H14 searches every file and every process for the answer: found nowhere', async () => {
    const outcome = await runCheck(
      `${HOLD}\nsys.exit(subprocess.run(code, cwd="/workspace").returncode)`,
      `
import os, sys
parts = [b"KERVYXA-", b"ANSWER"]
found = set()
for top, folders, names in os.walk("/"):
    if top in ("/sys", "/usr", "/lib", "/lib64", "/bin", "/sbin", "/proc/sys"): folders.clear(); continue
    for name in names:
        path = os.path.join(top, name)
        try:
            if not os.path.isfile(path) or name in ("kmsg", "pagemap", "mem"): continue
            data = open(path, "rb").read(1 << 22)
        except OSError: continue
        if any(piece.startswith(parts[1]) for piece in data.split(parts[0])[1:]): found.add(path)
print(sorted(found))`,
    );
    expect(textOf(outcome)).toBe('[]\n');
  });

  it('H16 signals, slows, limits and hurts the check’s processes: refused, each, and the check goes on', async () => {
    const outcome = await runCheck(
      `result = subprocess.run([*code, str(os.getpid())])\nprint("judged", result.returncode)\nsys.exit(3)`,
      `
import errno, os, resource, signal, sys
pid = int(sys.argv[1])
def tell(name, act):
    try: print(name, repr(act()))
    except OSError as e: print(name, errno.errorcode[e.errno])
for number in (0, 9, 15, 18, 19): tell(f"kill {number}", lambda: os.kill(pid, number))
tell("kill its group", lambda: os.killpg(os.getpgid(pid), 9))
tell("kill init", lambda: os.kill(1, 9))
tell("pidfd", lambda: signal.pidfd_send_signal(os.pidfd_open(pid), 9))
tell("join its group", lambda: os.setpgid(0, os.getpgid(pid)))
tell("renice", lambda: os.setpriority(os.PRIO_PROCESS, pid, 19))
tell("renice user", lambda: os.setpriority(os.PRIO_USER, os.stat(f"/proc/{pid}").st_uid, 19))
tell("affinity", lambda: os.sched_setaffinity(pid, {0}))
tell("scheduler", lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)))
tell("limits", lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (1, 1)))
tell("oom", lambda: open(f"/proc/{pid}/oom_score_adj", "w").write("1000"))
tell("cgroup", lambda: open("/sys/fs/cgroup/pids/cgroup.procs", "w").write(str(pid)))
tell("terminal", lambda: os.open("/dev/tty", os.O_RDWR))
for path in ("/kervyxa/calls/x", "/kervyxa/sealed/x", "/usr/local/bin/kervyxa-run"):
    tell("make " + path, lambda: os.open(path, os.O_CREAT | os.O_WRONLY))
tell("swap the pipe", lambda: os.rename("/kervyxa/calls/requests", "/kervyxa/calls/x"))
tell("remove the pipe", lambda: os.unlink("/kervyxa/calls/requests"))
tell("close the pipe", lambda: os.chmod("/kervyxa/calls/requests", 0))
sys.stdout.flush()
os.kill(0, 9)`,
    );
    const said = textOf(outcome).trim().split('\n');
    expect(outcome.exitCode).toBe(3);
    expect(said.at(-1)).toBe('judged 137');
    const refused = /^.+ (EACCES|EPERM|EROFS|ENXIO)$/;
    expect(said.slice(0, -1).filter((line) => !refused.test(line))).toEqual([]);
    expect(said).toHaveLength(24);
  });
});

// Keeps R-SANDBOX-APART.
describe('code that a check started, and that wants a better verdict', () => {
  const judge = 'first = subprocess.run(code); print("first", first.returncode, flush=True)';

  it('H16 writes into the streams of the container: it has none, and the check’s only word counts', async () => {
    const outcome = await runCheck(
      `${judge.replace('run(code)', 'run(code, capture_output=True)')}\nsys.exit(1)`,
      `
import glob, os
for path in ["/dev/stdout", "/dev/stderr", "/dev/console", "/dev/tty", *glob.glob("/proc/[0-9]*/fd/[0-9]*"), *glob.glob("/proc/*/task/*/fd/*")]:
    try: os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), b"KERVYXA_METRIC=1\\n")
    except OSError: pass`,
    );
    expect(outcome.exitCode).toBe(1);
    // Its pipes alone were there to write to, and what it made of them is no status.
    expect(textOf(outcome)).toBe('first 125\n');
    expect(outcome.stderr.bytesTotal).toBe(0);
  });

  it('H16 puts programs where the check’s PATH looks first: kervyxa-run starts its own tools', async () => {
    const shim = {
      script: '#!/bin/sh\nid -un >>/tmp/shim; cat "$KERVYXA_VERIFIER_PACKAGE"/*; exit 0\n',
    };
    const names = ['cat', 'mkdir', 'mkfifo', 'rm', 'sed', 'pwd', 'sh', 'kervyxa-run'];
    const tree = testTree(
      Object.fromEntries(names.map((name): [string, TestFile] => [`bin/${name}`, shim])),
    );
    const command =
      'PATH=/workspace/bin:$PATH; /usr/local/bin/kervyxa-run env "it\'s" </etc/hosts; /usr/bin/cat /tmp/shim';
    const outcome = await withSession(
      bench,
      { tree, verifierPackage: testTree({ answer: 'KERVYXA-ANSWER' }) },
      (session) => run(session, command, { package: 'apart' }),
    );
    expect(outcome.stdout.bytesTotal).toBe(0);
  });

  it('H17 kills what started it: the check is told of an end that it lost, which is no 0', async () => {
    const outcome = await runCheck(
      `${judge}\nprint("next", subprocess.run(["kervyxa-run", "echo", "well"]).returncode)`,
      'import os\nos.kill(os.getppid(), 9)',
    );
    expect(textOf(outcome)).toBe('first 125\nwell\nnext 0\n');
  });

  it.each([
    ['kills all that it may', 'os.kill(-1, 9)'],
    ['stops all that it may', 'os.kill(-1, 19); os.kill(0, 19)'],
  ])('H17 %s: nothing is started again, and the time-out ends the check', async (_, act) => {
    const outcome = await runCheck(
      `subprocess.Popen(code).wait(1) if ${act.includes('19') ? 'False' : 'True'} else subprocess.Popen(code)
time.sleep(0.5)
sys.exit(subprocess.run(["kervyxa-run", "true"]).returncode)`,
      `import os\n${act}`,
      { timeoutMs: 3_000 },
    );
    expect(outcome).toMatchObject({ timedOut: true, exitCode: 137 });
  });

  it('H17 leaves a process that holds its streams: the check waits, and the time-out ends both', async () => {
    const outcome = await runCheck(
      `${judge}\nsys.exit(0)`,
      'import os, time\nif os.fork() == 0: os.setsid(); time.sleep(300)',
      { timeoutMs: 2_000 },
    );
    expect(outcome).toMatchObject({ timedOut: true, exitCode: 137 });
  });

  it('H16 fills what is shared, forks and floods: the check loses, and is not lost', async () => {
    const acts = [
      `for n in range(99): open(f"/tmp/{n}", "wb").write(bytes(1 << 20))`,
      `while True: os.fork()`,
      `while True: os.write(1, bytes(1 << 16))`,
      `x = bytearray(400_000_000)`,
    ];
    const outcomes = await Promise.all(
      acts.map((act) =>
        runCheck(
          `made = open(os.environ["TMPDIR"] + "/f", "w")
ended = subprocess.Popen(code, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
sys.exit(1 if len(ended.stdout.read(1 << 20)) or ended.wait() else made.write("x" * 100_000) * 0)`,
          `import os\n${act}`,
          { timeoutMs: 5_000 },
        ),
      ),
    );
    expect(outcomes.map(({ exitCode }) => exitCode !== 0)).toEqual([true, true, true, true]);
    expect(outcomes[3]?.oomKilled).toBe(true);
  });

  it('H16 shuts the check out of the workspace in set-up: the check fails, and no engine is blamed', async () => {
    await withSession(bench, {}, async (session) => {
      await session.runSetup(toRequest('echo x >f; chmod 000 f; chmod 700 .'), never);
      expect(await run(session, 'true', { package: 'apart' })).toMatchObject({ exitCode: 1 });
      expect(await run(session, '! cat f 2>/dev/null && chmod 600 f && cat f')).toMatchObject({
        exitCode: 0,
      });
    });
  });

  it('H16 sees of a check the arguments, and of its command, environment and files nothing', async () => {
    const outcome = await runCheck(
      'subprocess.run([*code, str(os.getpid())])',
      `
import sys
for pid in ("1", sys.argv[1]):
    words = open(f"/proc/{pid}/cmdline").read().split("\\0")
    print([word for word in words if "check.py" in word or "ANSWER" in word])`,
    );
    expect(textOf(outcome)).toBe("[]\n['/kervyxa/sealed/package/check.py']\n");
  });
});
