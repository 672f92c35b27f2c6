import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EngineBench, openEngineBench } from '../testing/engine.ts';
import { createDockerSandbox } from './index.ts';
import { never, run, runOnce, textOf, toRequest, withSession } from '../testing/harness.ts';

const UNSEEN = 'the cgroups of the engine can not be seen from here';

let bench: EngineBench;
beforeAll(async () => {
  bench = await openEngineBench();
});
afterAll(() => bench.assertNothingLeft());

/** Takes what the kernel counts for each user, or for the whole machine, until it gets no more. */
const TAKE = `import array, ctypes, os, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
rt = ctypes.CDLL("librt.so.1", use_errno=True)

class Queue(ctypes.Structure):
    _fields_ = [(name, ctypes.c_long) for name in ("flags", "messages", "bytes", "now", "a", "b", "c", "d")]

def inotify(at):
    return libc.inotify_init() >= 0

def timer(at):
    return libc.timer_create(1, None, ctypes.byref(ctypes.c_void_p())) == 0

def queue(at):
    return rt.mq_open(b"/%d" % at, 0o102, 0o600, ctypes.byref(Queue(0, 10, 8192))) >= 0

def lock(at):
    return libc.shmctl(libc.shmget(0, 1 << 20, 0o1600), 11, None) >= 0

def terminal(at):
    return os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY) >= 0

kept = []
def passed(at):
    if at % 4 == 0: kept.append(socket.socketpair())
    kept[-1][0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0] * 200))])
    return True

def take(one, most):
    try:
        for at in range(most):
            if not one(at): return at
    except OSError:
        return at
    return most

most = int(sys.argv[1])
print(*[take(one, most) for one in (inotify, timer, queue, lock, passed, terminal)])
`;

it('C19 takes all processes, watches, timers, queues and terminals that it can get: its neighbour has its own', async () => {
  const take = (most: number): string =>
    `cat >take.py <<'END'\n${TAKE}\nEND\npython3 take.py ${most}`;
  const crowd = 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 60 & done';
  await withSession(bench, {}, (greedy) =>
    withSession(bench, {}, async (neighbour) => {
      const taken = Promise.withResolvers<string>();
      const stop = new AbortController();
      const staged = await greedy.stage(
        toRequest(`${crowd}; ${crowd}; ${take(200_000)}; sleep 60`, {
          onOutput: (_, chunk) => taken.resolve(Buffer.from(chunk).toString()),
        }),
        never,
      );
      const end = staged.release(stop.signal).catch(() => undefined);
      const counts = (await taken.promise).trim().split(' ').map(Number);
      expect(counts).toHaveLength(6);
      expect(Math.max(...counts)).toBeLessThan(200_000);
      // As many as the whole machine has would be some thousand.
      expect(counts.at(-1)).toBe(64);

      const left = await run(neighbour, `${crowd}; ${crowd}; ${take(2)}`);
      expect(left).toMatchObject({ exitCode: 0, pidsLimitHit: false });
      expect(textOf(left)).toBe('2 2 2 2 2 2\n');
      stop.abort(new Error('enough'));
      await end;
    }),
  );
});

it('queues datagrams in its loopback: counted as its memory', async (context) => {
  const outcome = await withSession(bench, {}, (session) =>
    run(
      session,
      `exec python3 -c '
import socket
kept = []
for _ in range(150):
    a, b = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in "ab"]
    b.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    b.bind(("127.0.0.1", 0)); b.setblocking(False); kept.append(b)
    for _ in range(8): a.sendto(bytes(50000), b.getsockname())
total = 0
for b in kept:
    try:
        while True: total += len(b.recv(65536))
    except OSError: pass
print(total)'`,
    ),
  );
  if (outcome.peakMemoryBytes === null) return context.skip(UNSEEN);
  const queued = Number(textOf(outcome));
  expect(queued).toBeGreaterThan(10_000_000);
  expect(outcome.peakMemoryBytes).toBeGreaterThan(queued);
});

it('drives the host out of memory by what no cgroup counts: every run is stopped and lost, and none fails for it', async (context) => {
  const { dockerHost, image } = bench;
  const { peakMemoryBytes } = await runOnce(bench, 'true');
  if (peakMemoryBytes === null) return context.skip(UNSEEN);
  const gate = Promise.withResolvers<void>();
  let available = 64 * 1_024 ** 3;
  const sandbox = createDockerSandbox({
    dockerHost,
    toolsImage: image,
    readAvailableBytes: async () => available,
  });
  await withSession({ sandbox, image }, {}, async (session) => {
    const onOutput = (): void => gate.resolve();
    const staged = await session.stage(toRequest('echo on; sleep 300', { onOutput }), never);
    const end = staged.release(never);
    await gate.promise;
    available = 1_024;
    await expect(end).rejects.toMatchObject({ code: 'SANDBOX_RUN_LOST' });
    available = 64 * 1_024 ** 3;
    expect(await run(session, 'exit 3')).toMatchObject({ exitCode: 3 });
  });
});
