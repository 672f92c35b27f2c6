import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type EngineBench, openEngineBench } from '../testing/engine.ts';
import { startEngineProxy } from '../testing/engine-proxy.ts';
import { commitImage, importImage } from '../testing/images.ts';
import { LIMITS, never, run, runOnce, textOf, toRequest, withSession } from '../testing/harness.ts';
import { testTree } from '../testing/trees.ts';
import { removeContainer, removeSession } from './cleanup.ts';
import { connectEngine } from './engine.ts';
import { createDockerSandbox } from './index.ts';
import { SESSION_LABEL } from './labels.ts';

let bench: EngineBench;
beforeAll(async () => {
  bench = await openEngineBench();
});
afterEach(() => bench.assertNothingLeft());

const tree = testTree({ 'a.txt': 'A' });

describe('Ctrl-C', () => {
  it('C10 in the middle of a run leaves no container and no volume', async () => {
    const abort = new AbortController();
    const reason = new Error('interrupted');
    await withSession(bench, { tree }, async (session) => {
      const staged = await session.stage(
        toRequest('echo started; sleep 300', { onOutput: () => abort.abort(reason) }),
        abort.signal,
      );
      await expect(staged.release(abort.signal)).rejects.toBe(reason);
    });
    await bench.assertNothingLeft();
  });

  it('in the middle of a set-up, with runs not staged yet', async () => {
    const abort = new AbortController();
    await withSession(bench, { tree }, async (session) => {
      const setup = session.runSetup(
        toRequest('echo started; sleep 300', { onOutput: () => abort.abort(new Error('stop')) }),
        abort.signal,
      );
      await expect(setup).rejects.toThrow('stop');
      await expect(session.stage(toRequest('true'), abort.signal)).rejects.toThrow('stop');
    });
  });

  it('while the tree is unpacked', async () => {
    const abort = new AbortController();
    const endless = {
      ...tree,
      open: async function* open(signal: AbortSignal) {
        for await (const chunk of tree.open(signal)) {
          abort.abort(new Error('stop'));
          yield chunk;
        }
      },
    };
    const { sandbox, image } = bench;
    const request = { image, limits: LIMITS, tree: endless, verifierPackage: null, runsMax: 1 };
    const session = await sandbox.openSession(request, abort.signal);
    await expect(session.ready).rejects.toThrow('stop');
    await expect(session.stage(toRequest('true'), never)).rejects.toThrow('stop');
    await session.close();
  });

  it('while a container is started, and close comes before its start has ended', async () => {
    const { sandbox, image } = bench;
    const request = { image, limits: LIMITS, tree, verifierPackage: null, runsMax: 2 };
    const session = await sandbox.openSession(request, never);
    const staging = session.stage(toRequest('true'), never);
    await session.close();
    const staged = await staging;
    await expect(staged.release(never)).rejects.toMatchObject({ code: 'SANDBOX_MISUSED' });
    await staged.dispose();
  });
});

describe('a run that somebody else kills', () => {
  it.each(['kill', 'stop'])('with a %s of the engine is lost, and no crash', async (way) => {
    const { docker } = bench;
    await withSession(bench, { tree }, async (session) => {
      const told = Promise.withResolvers<void>();
      const staged = await session.stage(
        toRequest("trap '' TERM; echo started; sleep 300", { onOutput: () => told.resolve() }),
        never,
      );
      const outcome = staged.release(never);
      outcome.catch(() => undefined);
      await told.promise;
      const ours = await bench.ours();
      const running = await docker.listContainers();
      const [found] = running.filter(
        ({ Id, Command }) => ours.includes(Id) && Command.includes('echo started'),
      );
      const container = docker.getContainer(found?.Id ?? '');
      await (way === 'stop' ? container.stop({ t: 0 }) : container.kill());
      await expect(outcome).rejects.toMatchObject({ code: 'SANDBOX_RUN_LOST' });
    });
  });

  it('by its own hand has crashed, and is not lost', async () => {
    await withSession(bench, { tree }, async (session) => {
      expect(await run(session, 'kill -9 $$')).toMatchObject({ exitCode: 137, timedOut: false });
    });
  });
});

describe('a tree that breaks off', () => {
  it('fails the session with what broke it, and is never run half', async () => {
    const broken = {
      ...tree,
      open: async function* open(signal: AbortSignal) {
        const [header] = await Array.fromAsync(tree.open(signal));
        if (header !== undefined) yield header;
        throw new Error('object store went away');
      },
    };
    await withSession(bench, { tree: broken }, async (session) => {
      await expect(session.stage(toRequest('true'), never)).rejects.toThrow(
        'object store went away',
      );
      await expect(session.ready).rejects.toThrow('object store went away');
    });
  });

  it('fails the session where it is shorter than its archive says', async () => {
    const short = {
      ...tree,
      open: async function* open(signal: AbortSignal) {
        const [header] = await Array.fromAsync(tree.open(signal));
        if (header !== undefined) yield header;
      },
    };
    await withSession(bench, { tree: short }, async (session) => {
      const failed = { code: 'SANDBOX_WORKSPACE_FAILED' };
      await expect(session.stage(toRequest('true'), never)).rejects.toMatchObject(failed);
    });
  });
});

describe('an engine that is gone', () => {
  it('is said to be so', async () => {
    const sandbox = createDockerSandbox({
      dockerHost: 'unix:///nowhere/docker.sock',
      toolsImage: bench.image,
    });
    const gone = { code: 'SANDBOX_ENGINE_UNAVAILABLE' };
    await expect(sandbox.resolveImage(bench.image, never)).rejects.toMatchObject(gone);
    await expect(
      withSession({ sandbox, image: bench.image }, {}, async () => undefined),
    ).rejects.toMatchObject(gone);
    await expect(sandbox.inspect(never)).rejects.toMatchObject(gone);
    await expect(sandbox.reap(never)).rejects.toMatchObject(gone);
  });

  it('M19 C44 BUG-32 dies in the middle of a run: trouble of ours at once, not a verdict and not a hang', async () => {
    const proxy = await startEngineProxy(bench.dockerHost);
    const { image } = bench;
    const sandbox = createDockerSandbox({
      dockerHost: proxy.dockerHost,
      toolsImage: image,
      labels: { 'dev.kervyxa.test-cut': proxy.dockerHost },
    });
    const request = { image, limits: LIMITS, tree, verifierPackage: null, runsMax: 1 };
    const session = await sandbox.openSession(request, never);
    const staged = await session.stage(
      toRequest('echo started; sleep 300', { onOutput: () => proxy.cut() }),
      never,
    );
    await expect(staged.release(never)).rejects.toMatchObject({ traits: { fault: 'infra' } });
    await expect(session.close()).rejects.toMatchObject({ traits: { fault: 'infra' } });
    await proxy.close();
    // The run goes on where the engine can't be told: the reaper finds it, since its keeper has ended.
    const keepers = {
      label: [`dev.kervyxa.test-cut=${proxy.dockerHost}`, 'dev.kervyxa.role=keeper'],
    };
    for (const { Id } of await bench.docker.listContainers({ all: true, filters: keepers })) {
      await bench.docker.getContainer(Id).wait();
    }
    expect(await bench.sandbox.reap(never)).toBeGreaterThan(0);
    const left = { label: [`dev.kervyxa.test-cut=${proxy.dockerHost}`] };
    expect(await bench.docker.listContainers({ all: true, filters: left })).toEqual([]);
  });

  it.each([
    ['says that its disk is full', 500, 'write: no space left on device', 'SANDBOX_DISK_FULL'],
    ['answers nonsense', 500, 'oops', 'SANDBOX_ENGINE_UNAVAILABLE'],
  ])('%s when a container is created', async (_, status, message, code) => {
    const proxy = await startEngineProxy(bench.dockerHost, {
      answer: (_method, path) => (path.includes('/containers/create') ? { status, message } : null),
    });
    const { image } = bench;
    const sandbox = createDockerSandbox({ dockerHost: proxy.dockerHost, toolsImage: image });
    await expect(withSession({ sandbox, image }, {}, async () => undefined)).rejects.toMatchObject({
      code,
    });
    await proxy.close();
  });
});

it.each([
  ['at its time-out', 'sleep 300', { timedOut: true, outputExceeded: false }],
  ['after a flood', 'yes', { timedOut: false, outputExceeded: true }],
])(
  'C09 outlives our kill %s: what we saw of it stands, and it did not choose trouble',
  async (_, command, seen) => {
    const proxy = await startEngineProxy(bench.dockerHost, {
      answer: (_method, path) =>
        path.endsWith('/kill') ? { status: 500, message: 'did not receive an exit event' } : null,
    });
    const { image } = bench;
    const sandbox = createDockerSandbox({ dockerHost: proxy.dockerHost, toolsImage: image });
    await withSession({ sandbox, image }, {}, async (session) => {
      const outcome = await run(session, command, { timeoutMs: 2_000 });
      expect(outcome).toMatchObject({ ...seen, exitCode: 137 });
    });
    await proxy.close();
  },
);

it('removes nothing though it is asked to: the close fails, and the next program’s reaper has it', async () => {
  let refuses = true;
  const proxy = await startEngineProxy(bench.dockerHost, {
    answer: (method) =>
      method === 'DELETE' && refuses ? { status: 500, message: 'device busy' } : null,
  });
  const { image } = bench;
  const labels = { 'dev.kervyxa.test-refused': proxy.dockerHost };
  const sandbox = createDockerSandbox({ dockerHost: proxy.dockerHost, toolsImage: image, labels });
  const request = { image, limits: LIMITS, tree, verifierPackage: null, runsMax: 1 };
  const session = await sandbox.openSession(request, never);
  await expect(session.close()).rejects.toMatchObject({ code: 'SANDBOX_CLEANUP_FAILED' });
  refuses = false;
  const left = { all: true, filters: { label: [`dev.kervyxa.test-refused=${proxy.dockerHost}`] } };
  for (const { Id } of await bench.docker.listContainers(left)) {
    await bench.docker.getContainer(Id).wait();
  }
  expect(await sandbox.reap(never)).toBeGreaterThan(0);
  expect(await bench.docker.listContainers(left)).toEqual([]);
  await proxy.close();
});

describe('an image', () => {
  it('is not there', async () => {
    const missing = `sha256:${'0'.repeat(64)}`;
    await expect(bench.sandbox.resolveImage(missing, never)).rejects.toMatchObject({
      code: 'SANDBOX_IMAGE_UNAVAILABLE',
    });
  });

  it('C06 declares a volume, which would be written without a limit: refused', async () => {
    const image = await commitImage(bench, { Volumes: { '/data': {} } });
    await expect(bench.sandbox.resolveImage(image, never)).rejects.toMatchObject({
      code: 'SANDBOX_IMAGE_UNFIT',
    });
    await bench.docker.getImage(image).remove();
  });

  it('C07 C36 has an entry point, a shell, a user, steps and an environment of its own: none of them counts', async () => {
    const image = await commitImage(bench, {
      Entrypoint: ['/bin/echo', 'swallowed'],
      Cmd: ['x'],
      User: '0:0',
      Env: [
        'NODE_OPTIONS=--require /evil.js',
        'SECRET=1',
        'PATH=/evil',
        'LD_PRELOAD=/evil.so',
        'BASH_ENV=/evil.sh',
        'ENV=/evil.sh',
        'PYTHONSTARTUP=/evil.py',
        'KERVYXA_VERIFIER_PACKAGE=/evil',
      ],
      Healthcheck: { Test: ['CMD', 'false'] },
      WorkingDir: '/nowhere',
      StopSignal: 'SIGCONT',
      Shell: ['/bin/false'],
      OnBuild: ['RUN false'],
      ExposedPorts: { '80/tcp': {} },
    });
    const look = 'id -un; pwd; env | sort';
    const own = textOf(await runOnce(bench, look));
    const outcome = await runOnce({ ...bench, image }, `${look}; exit 1`);
    await bench.docker.getImage(image).remove();
    expect(outcome.exitCode).toBe(1);
    expect(textOf(outcome)).toBe(own);
    expect(own).toMatch(/^nobody\n\/workspace\n/);
    const names = own.split('\n').flatMap((line) => line.split('=', 1));
    expect(names.filter((name) => /^[A-Z]/.test(name) && !name.startsWith('KERVYXA_'))).toEqual([
      'CI',
      'HOME',
      'HOSTNAME',
      'LANG',
      'NODE_OPTIONS',
      'NPM_CONFIG_USERCONFIG',
      'PATH',
      'PIP_CONFIG_FILE',
      'PWD',
      'PYTHONDONTWRITEBYTECODE',
      'TMPDIR',
      'TZ',
    ]);
  });

  it('BUG-27 has no shell: trouble of ours, never a verdict', async () => {
    const image = await importImage(bench, testTree({ 'a.txt': 'A' }));
    await expect(
      withSession({ ...bench, image }, {}, (session) => run(session, 'true')),
    ).rejects.toMatchObject({ code: 'SANDBOX_IMAGE_UNAVAILABLE' });
    await bench.docker.getImage(image).remove();
  });
});

it('removes what another program is removing already: done only when it is gone', async () => {
  const engine = connectEngine(bench.dockerHost);
  const { id } = await bench.docker.createContainer({ Image: bench.image, Cmd: ['true'] });
  const removals = Array.from({ length: 8 }, async () => {
    await removeContainer(engine, id);
    await expect(bench.docker.getContainer(id).inspect()).rejects.toMatchObject({
      statusCode: 404,
    });
  });
  await Promise.all(removals);
});

it('removes a session that others are removing too: none of them finds something left', async () => {
  const engine = connectEngine(bench.dockerHost);
  const session = `test-left-${process.pid}`;
  const labels = { [SESSION_LABEL]: session };
  const { name } = await bench.docker.createVolume({ Labels: labels });
  for (const target of ['/one', '/two', '/three']) {
    const mount = { Type: 'volume', Source: name, Target: target } as const;
    const { id } = await bench.docker.createContainer({
      Image: bench.image,
      Cmd: ['sleep', '300'],
      Labels: labels,
      HostConfig: { Mounts: [mount] },
    });
    await bench.docker.getContainer(id).start();
  }
  await Promise.all(Array.from({ length: 6 }, () => removeSession(engine, session)));
  const filters = { label: [`${SESSION_LABEL}=${session}`] };
  expect(await bench.docker.listContainers({ all: true, filters })).toEqual([]);
  expect((await bench.docker.listVolumes({ filters })).Volumes ?? []).toEqual([]);
});

describe('a program that is killed', () => {
  it('C10 BUG-29 leaves runs of both layouts behind, and the next program removes them, but nothing of a living one', async () => {
    const script = `
      const { createDockerSandbox } = await import(${JSON.stringify(import.meta.resolve('./index.ts'))});
      const { testTree } = await import(${JSON.stringify(import.meta.resolve('../testing/trees.ts'))});
      const { LIMITS, never, toRequest } = await import(${JSON.stringify(import.meta.resolve('../testing/harness.ts'))});
      const image = ${JSON.stringify(bench.image)};
      const labels = { 'dev.kervyxa.test-killed': '1' };
      const sandbox = createDockerSandbox({ dockerHost: ${JSON.stringify(bench.dockerHost)}, toolsImage: image, labels });
      const tree = testTree({ 'a.txt': 'A' });
      const endless = toRequest('echo on; sleep 300', { onOutput: () => console.log('running') });
      await Promise.all(['workspace', 'inputs'].map(async (layout) => {
        const session = await sandbox.openSession(
          { image, limits: LIMITS, layout, tree, verifierPackage: null, runsMax: 2 }, never);
        await session.stage(toRequest('true'), never);
        const run = await session.stage(endless, never);
        await run.release(never);
      }));`;
    const victim = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = on(createInterface(victim.stdout), 'line');
    await lines.next();
    await lines.next();
    const filters = { label: ['dev.kervyxa.test-killed'] };
    await withSession(bench, { tree }, async (session) => {
      await bench.sandbox.reap(never);
      expect(await bench.docker.listContainers({ all: true, filters })).toHaveLength(6);
      victim.kill('SIGKILL');
      await once(victim, 'exit');
      const keepers = { label: [...filters.label, 'dev.kervyxa.role=keeper'] };
      for (const { Id } of await bench.docker.listContainers({ all: true, filters: keepers })) {
        await bench.docker.getContainer(Id).wait();
      }
      expect(await bench.sandbox.reap(never)).toBeGreaterThanOrEqual(6);
      expect(await bench.docker.listContainers({ all: true, filters })).toEqual([]);
      expect((await bench.docker.listVolumes({ filters })).Volumes ?? []).toEqual([]);
      expect(textOf(await run(session, 'cat a.txt'))).toBe('A');
    });
  });
});
