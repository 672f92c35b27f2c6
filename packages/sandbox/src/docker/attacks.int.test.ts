import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type EngineBench, openEngineBench } from '../testing/engine.ts';
import { LIMITS, never, run, runOnce, textOf, toRequest, withSession } from '../testing/harness.ts';
import { testTree } from '../testing/trees.ts';

const MIB = 1_024 * 1_024;

let bench: EngineBench;
beforeAll(async () => {
  bench = await openEngineBench();
});
afterEach(() => bench.assertNothingLeft());

// Keeps R-SANDBOX-WALLS.
describe('code that wants out', () => {
  it('C05 C31 has no capability, no way to gain one, and no way to write but three folders', async () => {
    const outcome = await runOnce(
      bench,
      `id -un; id -gn; grep -E 'Cap(Eff|Bnd)|NoNewPrivs|Seccomp:' /proc/self/status
       find / -xdev -writable -type d 2>/dev/null | sort
       for at in / /etc /dev /usr /kervyxa /kervyxa/sealed/package /kervyxa/probe /kervyxa/deps; do touch $at/x 2>/dev/null && echo wrote $at; done
       for at in /workspace /tmp /dev/shm; do touch $at/x && echo may write $at; done`,
    );
    expect(textOf(outcome).split('\n')).toEqual([
      'nobody',
      'nogroup',
      'CapEff:\t0000000000000000',
      'CapBnd:\t0000000000000000',
      'NoNewPrivs:\t1',
      'Seccomp:\t2',
      '/tmp',
      '/workspace',
      'may write /workspace',
      'may write /tmp',
      'may write /dev/shm',
      '',
    ]);
  });

  it('C42 opens sockets to everywhere and reaches only itself; localhost resolves', async () => {
    const outcome = await runOnce(
      bench,
      `node -e '
        const net = require("net"), dns = require("dns");
        const reach = (host, port) => new Promise((done) => {
          const socket = net.connect({ host, port, timeout: 3000 });
          socket.on("connect", () => done("reached")).on("error", (e) => done(e.code)).on("timeout", () => done("timeout"));
        });
        const server = net.createServer((s) => s.end()).listen(0, "127.0.0.1", async () => {
          console.log(await reach("localhost", server.address().port));
          for (const host of ["169.254.169.254", "1.1.1.1", "172.17.0.1"]) console.log(await reach(host, 80));
          dns.lookup("example.com", (e) => { console.log(e.code); server.close(); });
        });'
       cat /etc/resolv.conf | grep -v '^nameserver 127.0.0.1$'`,
    );
    expect(textOf(outcome)).toBe('reached\nENETUNREACH\nENETUNREACH\nENETUNREACH\nEAI_AGAIN\n');
  });

  it('C32 C33 calls what reaches other processes, the kernel or the host, and is refused', async () => {
    const outcome = await runOnce(
      bench,
      `python3 -c '
import ctypes, os, socket, errno
libc = ctypes.CDLL(None, use_errno=True)
def call(name, number, *args):
    ctypes.set_errno(0)
    got = libc.syscall(number, *args)
    print(name, "done" if got >= 0 else errno.errorcode[ctypes.get_errno()])
for name, number in dict(ptrace=101, process_vm_readv=310, kcmp=312, pidfd_getfd=438, io_uring_setup=425, bpf=321,
                         keyctl=250, mount=165, unshare=272, setns=308, userfaultfd=323, perf_event_open=298, cachestat=451,
                         clone3=435, open_by_handle_at=304, io_setup=206, future=999).items():
    call(name, number, 0, 0, 0, 0, 0)
call("clone a user namespace", 56, 0x10000000 | 17, 0, 0, 0, 0)
call("mknod of a whiteout", 133, b"/workspace/w", 0o020600, 0)
call("mknod of a pipe", 133, b"/workspace/p", 0o010600, 0)
def sock(name, *args):
    try:
        socket.socket(*args)
        print(name, "done")
    except OSError as e: print(name, errno.errorcode[e.errno])
sock("vsock", socket.AF_VSOCK, socket.SOCK_STREAM)
sock("packet", socket.AF_PACKET, socket.SOCK_STREAM)
sock("crypto", 38, socket.SOCK_STREAM)
sock("netlink of routes", socket.AF_NETLINK, socket.SOCK_RAW, 0)
sock("netlink of audits", socket.AF_NETLINK, socket.SOCK_RAW, 9)
sock("ping", socket.AF_INET, socket.SOCK_DGRAM, 1)
sock("sctp", socket.AF_INET6, socket.SOCK_STREAM, 132)
'`,
    );
    expect(textOf(outcome).trim().split('\n')).toEqual([
      'ptrace EPERM',
      'process_vm_readv EPERM',
      'kcmp EPERM',
      'pidfd_getfd EPERM',
      'io_uring_setup EPERM',
      'bpf EPERM',
      'keyctl EPERM',
      'mount EPERM',
      'unshare EPERM',
      'setns EPERM',
      'userfaultfd EPERM',
      'perf_event_open EPERM',
      'cachestat EPERM',
      'clone3 ENOSYS',
      'open_by_handle_at EPERM',
      'io_setup ENOSYS',
      'future ENOSYS',
      'clone a user namespace EPERM',
      'mknod of a whiteout EPERM',
      'mknod of a pipe done',
      'vsock EPERM',
      'packet EPERM',
      'crypto EPERM',
      'netlink of routes done',
      'netlink of audits EPERM',
      'ping EPERM',
      'sctp EPERM',
    ]);
  });

  it('C33 asks for its network interfaces as honest servers do, and gets an answer', async () => {
    const outcome = await runOnce(
      bench,
      'node -p "Object.keys(os.networkInterfaces()).join()"; python3 -c "import socket; print(socket.if_nameindex())"',
    );
    expect(textOf(outcome)).toBe("lo\n[(1, 'lo')]\n");
  });

  it('C32 has filters compiled into kernel memory that all containers share, and is refused, with odd high bits too', async () => {
    const outcome = await runOnce(
      bench,
      `python3 -c '
import ctypes, errno, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
def call(name, number, *args):
    got = libc.syscall(number, *[ctypes.c_ulong(arg) for arg in args])
    print(name, "done" if got >= 0 else errno.errorcode[ctypes.get_errno()])
code = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(code)))
at, high = ctypes.addressof(program), 1 << 32
kept = socket.socket(socket.AF_INET6)
fd = kept.fileno()
number = ctypes.c_int(1)
one = ctypes.addressof(number)
call("seccomp", 317, 1, 0, at)
for name, option in (("socket", 26), ("port", 51)):
    call(name, 54, fd, 1, option, at, 16)
    call(name + ", high", 54, fd, high + 1, high + option, at, 16)
call("v6only", 54, fd, 41, 26, one, 4)
call("reuse", 54, fd, 1, 2, one, 4)
call("name", 157, 15, at)
call("no new privileges", 157, 38, 1, 0, 0, 0)
call("sync", 162)
call("syncfs", 306, 999)
'`,
    );
    const lines = textOf(outcome).trim().split('\n');
    const done = lines.filter((line) => line.endsWith(' done'));
    expect(done).toEqual(
      ['v6only', 'reuse', 'name', 'no new privileges', 'sync', 'syncfs'].map(
        (name) => `${name} done`,
      ),
    );
    expect(lines).toHaveLength(11);
  });

  it('C37 H19 looks for what tells one run from another, and finds none, not the size of what is hidden', async () => {
    // The engine made one of the folders just now; which minute it is every run may know.
    const look = `env | sort; hostname; cat /proc/self/cgroup /proc/1/cmdline /etc/hosts; id -un; ls -l /kervyxa /kervyxa/* | sed -E 's/[A-Z][a-z]{2} +[0-9]+ [0-9:]{5} /NOW /'
      cut -d ' ' -f 4- /proc/self/mountinfo | sed -E 's/[0-9a-f]{64}|[A-Z0-9]{26}/ID/g; s/[ug]id=[0-9]+//g; s/master:[0-9]+/master/; s/shared:[0-9]+/shared/' | sort
      stat -f -c '%n %b %c' $KERVYXA_VERIFIER_PACKAGE $KERVYXA_PROBE $KERVYXA_DEPS`;
    const empty = { verifierPackage: testTree({}), probeInputs: testTree({}) };
    const large = {
      verifierPackage: testTree({ 'secret.sh': 'x'.repeat(3 * MIB) }),
      probeInputs: testTree({ 'secret.json': 'x'.repeat(5 * MIB) }),
    };
    const texts = await Promise.all(
      [empty, large, {}].map((request) =>
        withSession(bench, request, async (session) => {
          const seen = [textOf(await run(session, look))];
          if (request === large) return seen;
          for (const access of ['probe', 'shared'] as const) {
            seen.push(textOf(await run(session, look, { package: access })));
          }
          return seen;
        }),
      ),
    );
    const [first = '', ...others] = texts.flat();
    expect(first).toContain('KERVYXA_VERIFIER_PACKAGE=/kervyxa/sealed/package');
    expect(first).not.toMatch(/hidden|empty|secret/);
    expect(others).toEqual(Array.from({ length: 6 }, () => first));
  });

  it('M02 looks for the line that was on stdin once it is read: in no file, environment or memory but its reader’s', async () => {
    const stdinLine = 'KERVYXA-TOKEN-7f3a9c';
    // Says how often it finds the line, which its own memory never holds in one piece until then.
    const look = `exec python3 -c '
import glob, os
parts = [b"KERVYXA-TOK", b"EN-7f3a9c"]
def count(data):
    pieces = data.split(parts[0])[1:]
    return sum(piece.startswith(parts[1]) for piece in pieces)
found = 0
for process in glob.glob("/proc/[0-9]*"):
    if process == "/proc/%d" % os.getpid(): continue
    for name in ("cmdline", "environ"): found += count(open(process + "/" + name, "rb").read())
    for line in open(process + "/maps"):
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        try:
            with open(process + "/mem", "rb") as memory:
                memory.seek(start); found += count(memory.read(end - start))
        except (OSError, ValueError, OverflowError): pass
for folder in ("/tmp", "/dev/shm", "/workspace", "/kervyxa"):
    for top, _, names in os.walk(folder):
        for name in names: found += count(open(os.path.join(top, name), "rb").read())
print(found > 0, os.read(0, 100))'`;
    const looks = ['cat >/dev/null', 'read -r kept; (sleep 9; :) &', 'cat >/tmp/kept'];
    const texts = await Promise.all(
      looks.map(async (before) =>
        textOf(await runOnce(bench, `${before}\n${look}`, { request: { stdinLine } })),
      ),
    );
    expect(texts).toEqual(["False b''\n", "True b''\n", "True b''\n"]);
  });

  it('C38 counts the machine and sees what the contract gives', async () => {
    const text = textOf(
      await runOnce(bench, `nproc; node -p 'os.availableParallelism()'; ulimit -c; ulimit -n`),
    );
    expect(text).toBe('1\n1\n0\n1024\n');
  });
});

describe('code that wants more', () => {
  it('BUG-19 C16 allocates beyond its memory: the kernel kills it, and we say so', async () => {
    const outcome = await runOnce(bench, `exec python3 -c 'x = bytearray(400_000_000)'`);
    expect(outcome).toMatchObject({ exitCode: 137, oomKilled: true, timedOut: false });
  });

  it('C15 BUG-20 loses a child for memory and ends with 0: both are reported', async () => {
    const outcome = await runOnce(bench, `python3 -c 'x = bytearray(400_000_000)'; exit 0`);
    expect(outcome).toMatchObject({ exitCode: 0, oomKilled: true });
  });

  it('has its peak memory measured from outside', async () => {
    const outcome = await runOnce(bench, `python3 -c 'x = bytearray(60_000_000); del x'`);
    expect(outcome.peakMemoryBytes).toBeGreaterThan(60_000_000);
    expect(outcome.peakMemoryBytes).toBeLessThan(90_000_000);
  });

  it('keeps its data in sockets to itself: counted as its memory', async () => {
    const outcome = await runOnce(
      bench,
      `python3 -c '
import socket
listener = socket.socket(); listener.bind(("127.0.0.1", 0)); listener.listen(99); held = []; total = 0
for _ in range(60):
    a = socket.socket(); a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
    a.connect(listener.getsockname()); held += [a, listener.accept()[0]]; a.setblocking(False)
    try:
        while total < 100_000_000: total += a.send(bytes(65536))
    except OSError: pass
print(total)'`,
    );
    expect(Number(textOf(outcome))).toBeGreaterThan(90_000_000);
    expect(outcome.peakMemoryBytes).toBeGreaterThan(90_000_000);
  });

  it('C18 BUG-40 is a fork bomb: forks are refused, and nothing is left', async () => {
    const outcome = await runOnce(bench, 'bomb() { bomb | bomb & }; bomb; sleep 1; exit 1');
    expect(outcome).toMatchObject({ pidsLimitHit: true, timedOut: false });
    expect(outcome.exitCode).not.toBe(0);
  });

  it('forks within its limit and is not blamed', async () => {
    expect(
      await runOnce(bench, 'for i in 1 2 3; do sleep 0.01 & done; wait; exit 1'),
    ).toMatchObject({ exitCode: 1, pidsLimitHit: false });
  });

  it('BUG-34 C20 prints for ever: killed at the limit, with little memory of ours', async () => {
    const before = process.memoryUsage().rss;
    const outcome = await runOnce(bench, 'yes', { limits: { outputBytes: 200 * MIB } });
    expect(outcome).toMatchObject({ outputExceeded: true, exitCode: 137, timedOut: false });
    expect(outcome.stdout.bytesTotal).toBeGreaterThan(200 * MIB);
    expect(outcome.stdout.head.length).toBe(64 * 1_024);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MIB);
  });

  it('C20 floods both streams with bare newlines: the limit is on their sum', async () => {
    const outcome = await runOnce(bench, `yes '' & yes '' >&2`, { limits: { outputBytes: MIB } });
    expect(outcome.outputExceeded).toBe(true);
    expect(outcome.stdout.bytesTotal + outcome.stderr.bytesTotal).toBeGreaterThan(MIB);
  });

  it('C02 C04 fills its workspace: ENOSPC, not an OOM kill', async () => {
    const outcome = await runOnce(
      bench,
      'for i in 1 2 3 4 5; do head -c 5000000 /dev/zero > $i || exit 9; done',
    );
    expect(outcome).toMatchObject({ exitCode: 9, workspaceFull: true, oomKilled: false });
  });

  it('C03 makes files without end: no inode is left, and the host has all of its own', async () => {
    const outcome = await runOnce(
      bench,
      `node -e 'for (let i = 0; ; i += 1) fs.closeSync(fs.openSync("f" + i, "w"))' 2>/dev/null || ls -f | wc -l; exit 1`,
      { limits: { memoryBytes: 512 * MIB } },
    );
    expect(outcome).toMatchObject({ exitCode: 1, workspaceFull: true, oomKilled: false });
    expect(Number(textOf(outcome))).toBeGreaterThan(65_000);
    expect(Number(textOf(outcome))).toBeLessThan(65_600);
  });

  it('writes one file larger than its workspace, sparse or not, and is stopped', async () => {
    const outcome = await runOnce(bench, 'truncate -s 17M sparse && echo made');
    expect(outcome.exitCode).not.toBe(0);
    expect(textOf(outcome)).toBe('');
  });

  it('C01 builds a program in its workspace and runs it', async () => {
    const outcome = await runOnce(bench, `printf '#!/bin/sh\\necho ran' > x; chmod +x x; ./x`);
    expect(textOf(outcome)).toBe('ran\n');
  });

  it('uses semaphores and a home, as honest programs do', async () => {
    const outcome = await runOnce(
      bench,
      `python3 -c 'import multiprocessing; multiprocessing.Lock()' && echo > ~/.cache && echo fine`,
    );
    expect(textOf(outcome)).toBe('fine\n');
  });
});

describe('code that wants to stay', () => {
  it('C41 BUG-6 leaves a process behind that holds its stdout: it dies with the run', async () => {
    const outcome = await runOnce(bench, 'setsid sh -c "sleep 300; echo late" & echo done');
    expect(outcome).toMatchObject({ exitCode: 0, timedOut: false });
    expect(textOf(outcome)).toBe('done\n');
  });

  it('closes its streams and goes on: the run lasts until it ends', async () => {
    const outcome = await runOnce(bench, 'exec >&- 2>&-; sleep 0.5; exit 7');
    expect(outcome).toMatchObject({ exitCode: 7, timedOut: false });
  });

  it('C08 kills the gate and all it may: the run ends, and nothing is taken for trouble of ours', async () => {
    expect(await runOnce(bench, 'kill -9 -1; exit 0')).toMatchObject({ timedOut: false });
  });

  it('BUG-24 ignores TERM and spins: gone at its time-out, with its container', async () => {
    const outcome = await runOnce(bench, 'trap "" TERM INT HUP; while :; do :; done', {
      request: { timeoutMs: 500 },
    });
    expect(outcome).toMatchObject({ timedOut: true, exitCode: 137 });
  });

  it('BUG-36 C22 prints one line without a newline and ends at once, a hundred times: it is never lost', async () => {
    await withSession(bench, { runsMax: 100 }, async (session) => {
      const texts = new Set<string>();
      for (let count = 0; count < 100; count += 1) {
        texts.add(textOf(await run(session, 'printf KERVYXA_METRIC=1')));
      }
      expect([...texts]).toEqual(['KERVYXA_METRIC=1']);
    });
  });
});

// Keeps R-SANDBOX-FRESH.
describe('code that wants to reach the next run', () => {
  const tree = testTree({
    'a.txt': 'A',
    'folder/b.txt': 'B',
    'go.sh': { script: '#!/bin/sh\necho went' },
    'to-host': { link: '/etc/hostname' },
  });

  it('rewrites the tree, moves its folders and deletes the rest: the next run sees none of it', async () => {
    await withSession(bench, { tree }, async (session) => {
      await session.runSetup(toRequest('echo S > s.txt; mkdir made; chmod 700 made'), never);
      const spoil =
        'echo X > a.txt; mv folder moved; rm s.txt; rmdir made; chmod 000 go.sh; ls -d moved';
      expect(textOf(await run(session, spoil))).toBe('moved\n');
      const text = textOf(
        await run(session, 'cat a.txt folder/b.txt s.txt; ./go.sh; stat -c %a made'),
      );
      expect(text).toBe('ABS\nwent\n700\n');
    });
  });

  it('C28 C29 BUG-39 replaces an artifact by a link to a file of the host: not read', async () => {
    await withSession(bench, { tree }, async (session) => {
      const ended = await run(
        session,
        'ln -s /proc/1/environ env; mkdir d; mkfifo d/fifo; ln -s / root; cp -P to-host copied',
        {},
        async (staged) => [
          await staged.readFile('to-host', MIB, never),
          await staged.readFile('env', MIB, never),
          await staged.readFile('d/fifo', MIB, never),
          await staged.readFile('root/etc/passwd', MIB, never),
          await staged.readFile('copied', MIB, never),
        ],
      );
      expect(ended.looked?.map((reading) => reading.kind)).toEqual(
        Array.from({ length: 5 }, () => 'not_regular'),
      );
    });
  });

  it('leaves a sparse file: its size is what it claims, and it is read in no more than that', async () => {
    await withSession(bench, {}, async (session) => {
      const ended = await run(session, 'truncate -s 15M sparse', {}, async (staged) => [
        await staged.readFile('sparse', MIB, never),
        await staged.readFile('sparse', 16 * MIB, never),
      ]);
      expect(ended.looked).toMatchObject([
        { kind: 'too_large', bytesMax: MIB },
        { kind: 'file', bytesTotal: 15 * MIB, lineCount: 1 },
      ]);
    });
  });

  it('leaves links in a circle and times of no calendar: not read, and no trouble of ours', async () => {
    await withSession(bench, {}, async (session) => {
      const ended = await run(
        session,
        'ln -s a b; ln -s b a; echo x > old; touch -d @-99999999999 old; mkdir d; echo x > d/f; touch -d @999999999999 d; echo x > f',
        {},
        async (staged) => [
          await staged.readFile('a', MIB, never),
          await staged.readFile('a/f', MIB, never),
          await staged.readFile('old', MIB, never),
          await staged.readFile('d/f', MIB, never),
          await staged.readFile('f', MIB, never),
        ],
      );
      const kinds = ended.looked?.map((reading) => reading.kind);
      expect(kinds).toEqual([...Array.from({ length: 4 }, () => 'not_regular'), 'file']);
    });
  });

  // As many files as fit, but for a few that are given back.
  const fill = (spared: number): string =>
    `echo x > result; mkdir d; node -e 'let i = 0; try { for (;; i += 1) fs.closeSync(fs.openSync("d/" + i, "w")) } catch {}
      for (let k = 0; k < ${spared}; k += 1) fs.unlinkSync("d/" + k)'`;

  it.each([0, 1, 3])(
    'leaves room for %d more files, fewer than an engine needs to look: its own doing',
    async (spared) => {
      const limits = { ...LIMITS, memoryBytes: 512 * MIB };
      await withSession(bench, { limits }, async (session) => {
        const ended = await run(session, fill(spared), {}, (staged) =>
          staged.readFile('result', MIB, never),
        );
        expect(ended.exitCode).toBe(0);
        expect(['not_regular', 'file']).toContain(ended.looked?.kind);
      });
    },
  );

  it('fills the workspace in a set-up step, so that the next one can not start: its own doing', async () => {
    const limits = { ...LIMITS, memoryBytes: 512 * MIB };
    await withSession(bench, { limits }, async (session) => {
      expect(await session.runSetup(toRequest(fill(0)), never)).toMatchObject({ exitCode: 0 });
      const second = await session.runSetup(toRequest('true'), never);
      expect(second).toMatchObject({ exitCode: 1, workspaceFull: true });
    });
  });

  it('nests folders in a set-up until copying them up takes minutes in the kernel: refused, modes or not', async () => {
    const limits = { ...LIMITS, memoryBytes: 512 * MIB };
    const nest = `python3 -c '
import os
os.mkdir("top"); os.chdir("top")
for i in range(3000): os.mkdir("d"); os.chdir("d")' && chmod 000 top`;
    await withSession(bench, { limits }, async (session) => {
      const outcome = await session.runSetup(toRequest(nest), never);
      expect(outcome).toMatchObject({ exitCode: 1, workspaceFull: true });
    });
  });

  it('C26 C27 has a tree with folder names that a runner could trip over', async () => {
    const odd = testTree({
      'kervyxa/package/x': 'mine',
      workspace: { link: '/tmp' },
      'upper/work': 'mine',
      '-rf': 'mine',
      "it's; touch x": 'mine',
    });
    await withSession(bench, { tree: odd }, async (session) => {
      const text = textOf(await run(session, 'pwd -P; ls $KERVYXA_VERIFIER_PACKAGE; ls'));
      expect(text).toBe("/workspace\n-rf\nit's; touch x\nkervyxa\nupper\nworkspace\n");
    });
  });

  // Its pages belong to the keeper that wrote them: they count against the host.
  it('reads a dependency bundle that is larger than its memory', async () => {
    const dependencies = testTree({ big: 'x'.repeat(48 * MIB) });
    const limits = { ...LIMITS, memoryBytes: 32 * MIB };
    await withSession(bench, { dependencies, limits }, async (session) => {
      const outcome = await run(session, 'cat $KERVYXA_DEPS/big | wc -c');
      expect(outcome).toMatchObject({ exitCode: 0, oomKilled: false });
      expect(textOf(outcome)).toBe(`${48 * MIB}\n`);
    });
  });

  it('writes into what a bundle lays out in its home: beside the files, for itself alone', async () => {
    const dependencies = testTree({
      home: { folder: true },
      'home/.cache': { folder: true },
      'home/.cache/a': 'bundled ',
    });
    await withSession(bench, { dependencies }, async (session) => {
      const command =
        'cat ~/.cache/a; ! echo mine >~/.cache/a && echo mine >~/.cache/b && ls ~/.cache';
      for (const text of ['bundled a\nb\n', 'bundled a\nb\n']) {
        expect(textOf(await run(session, `[ ! -e ~/.cache/b ] && ${command}`))).toBe(text);
      }
    });
  });

  it('gets the hidden package read-only', async () => {
    const verifierPackage = testTree({ 'check.sh': 'true' });
    await withSession(bench, { verifierPackage }, async (session) => {
      const outcome = await run(session, 'echo false > $KERVYXA_VERIFIER_PACKAGE/check.sh', {
        package: 'shared',
      });
      expect(outcome.exitCode).not.toBe(0);
    });
  });
});

it('starts a session with limits beyond the host: not tried, not called the solver’s fault', async () => {
  await expect(
    withSession(bench, { limits: { ...LIMITS, cpuCount: 10_000 } }, async () => undefined),
  ).rejects.toMatchObject({ code: 'SANDBOX_HOST_TOO_SMALL' });
});
