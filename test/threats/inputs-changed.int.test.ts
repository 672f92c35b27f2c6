import type { Sandbox, SandboxSession } from '@kervyxa/sandbox';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openAttackBench, type AttackBench } from './attack-bench.ts';

let bench: AttackBench;
beforeAll(async () => {
  bench = await openAttackBench();
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

const TREE = '/k/tree';

/** Writes into the checkout as root, from a container of its own that is gone when this resolves. */
async function changeCheckout(): Promise<void> {
  const { docker, ours, image } = bench.engine;
  const there = new Set(await ours());
  const containers = (await docker.listContainers()).filter(({ Id }) => there.has(Id));
  const mount = containers.flatMap(({ Mounts }) => Mounts).find((one) => one.Destination === TREE);
  if (mount?.Name === undefined) throw new Error('expected a volume with the checkout, got none');
  const container = await docker.createContainer({
    Image: image,
    User: '0:0',
    Cmd: ['sh', '-ec', `echo "echo hello" >${TREE}/tree/hello.sh`],
    HostConfig: {
      NetworkMode: 'none',
      Mounts: [{ Type: 'volume', Source: mount.Name, Target: TREE }],
    },
  });
  try {
    await container.start();
    expect(await container.wait()).toEqual({ StatusCode: 0 });
  } finally {
    await container.remove({ force: true });
  }
}

/** This machine's engine, with somebody who changes the checkout once a command has ended. */
function meddledWith({ openSession, ...sandbox }: Sandbox): Sandbox {
  return {
    ...sandbox,
    openSession: async (request, signal) => {
      const session = await openSession(request, signal);
      const stage: SandboxSession['stage'] = async (asked, abort) => {
        const staged = await session.stage(asked, abort);
        return {
          readFile: (path, bytesMax, each) => staged.readFile(path, bytesMax, each),
          dispose: () => staged.dispose(),
          release: async (each) => {
            const outcome = await staged.release(each);
            await changeCheckout();
            return outcome;
          },
        };
      };
      return {
        strategy: session.strategy,
        ready: session.ready,
        runSetup: (asked, abort) => session.runSetup(asked, abort),
        measure: (abort) => session.measure(abort),
        close: () => session.close(),
        stage,
      };
    },
  };
}

// Keeps R-INPUTS-MEASURED.
it('C46 changes the checkout from outside while a commit is judged: ERROR, whether its check passed or failed', async () => {
  const { base, right, wrong } = await bench.build('meddled', [
    { name: 'base', files: { 'check.sh': 'sh hello.sh | grep -qx hello\n', 'hello.sh': 'true\n' } },
    { name: 'right', parents: ['base'], files: { 'hello.sh': 'printf "hello\\n"\n' } },
    { name: 'wrong', parents: ['base'], files: { 'hello.sh': 'echo bye\n' } },
  ]);
  const { sandbox } = bench.engine;
  const asIs = {
    inspect: (signal: AbortSignal) => sandbox.inspect(signal),
    resolveImage: (reference: string, signal: AbortSignal) =>
      sandbox.resolveImage(reference, signal),
    openSession: (...asked: Parameters<Sandbox['openSession']>) => sandbox.openSession(...asked),
    reap: (signal: AbortSignal) => sandbox.reap(signal),
  };
  for (const commit of [right, wrong]) {
    const end = await bench.attack('meddled', base, { commit, sandbox: meddledWith(asIs) });
    expect(end.said).toBe('ERROR INPUTS_CHANGED');
    expect(end.result.inputs).toBeNull();
  }
  const alone = await bench.attack('meddled', base, { commit: right });
  expect(alone.said).toBe('PASS');
  expect(alone.result.inputs).toEqual({
    checkout: expect.stringMatching(/^[0-9a-f]{64}$/),
    package: null,
    dependencies: null,
  });
});
