import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { ContractInput } from '@kervyxa/contract';
import type { Sandbox } from '@kervyxa/sandbox';
import { createDockerSandbox } from '@kervyxa/sandbox/docker';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import {
  type EngineProxy,
  type EngineProxyOptions,
  startEngineProxy,
} from '../../packages/sandbox/src/testing/engine-proxy.ts';
import { commitImage } from '../../packages/sandbox/src/testing/images.ts';
import { type AttackBench, openAttackBench } from './attack-bench.ts';

const run = promisify(execFile);
const LABEL = 'dev.kervyxa.test-restart';

let bench: AttackBench;
let commits: { readonly base: string; readonly slow: string; readonly passes: string };
beforeAll(async () => {
  bench = await openAttackBench();
  commits = await bench.build('engine', [
    { name: 'base', files: { 'check.sh': 'sh hello.sh\n', 'hello.sh': 'exit 1\n' } },
    { name: 'slow', parents: ['base'], files: { 'hello.sh': 'echo started; sleep 300\n' } },
    { name: 'passes', parents: ['base'], files: { 'hello.sh': 'exit 0\n' } },
  ]);
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

/** A sandbox on the bench's engine, through a proxy that can break; what it leaves then is reaped, and is gone. */
async function behindProxy(
  options: EngineProxyOptions,
  work: (sandbox: Sandbox, proxy: EngineProxy) => Promise<void>,
): Promise<void> {
  const { docker, dockerHost, image, sandbox: real } = bench.engine;
  const proxy = await startEngineProxy(dockerHost, options);
  const labels = { [LABEL]: proxy.dockerHost };
  const filters = { label: [`${LABEL}=${proxy.dockerHost}`] };
  try {
    await work(
      createDockerSandbox({ dockerHost: proxy.dockerHost, toolsImage: image, labels }),
      proxy,
    );
  } finally {
    await proxy.close();
    const keepers = { label: [...filters.label, 'dev.kervyxa.role=keeper'] };
    for (const { Id } of await docker.listContainers({ all: true, filters: keepers })) {
      await docker.getContainer(Id).wait();
    }
    await real.reap(new AbortController().signal);
  }
  expect(await docker.listContainers({ all: true, filters })).toEqual([]);
  expect((await docker.listVolumes({ filters })).Volumes ?? []).toEqual([]);
}

// A real restart would take the containers of everybody who uses the engine.
it.each(['a criterion', 'a set-up step'])(
  'C44 BUG-32 the engine stops in the middle of %s: ERROR ENGINE_UNAVAILABLE, and the next try decides',
  async (what) => {
    const slowSetup = ({ environment }: ContractInput): void => {
      environment.setup = [{ command: 'sh check.sh', timeoutSeconds: 60 }];
    };
    await behindProxy({}, async (sandbox, proxy) => {
      const { said, criteria } = await bench.attack('engine', commits.base, {
        commit: commits.slow,
        sandbox,
        onOutput: () => proxy.cut(),
        ...(what === 'a set-up step' && { contract: slowSetup }),
      });
      expect(said).toBe('ERROR ENGINE_UNAVAILABLE');
      expect(criteria[0]).toMatchObject({ exitCode: null });
    });
    const again = await bench.attack('engine', commits.base, { commit: commits.passes });
    expect(again.said).toBe('PASS');
  },
);

it.each([
  ['creates a container', 'POST', /\/containers\/create/],
  ['starts one', 'POST', /\/start$/],
  ['reads a file of one', 'GET', /\/archive\?/],
] as const)(
  'BUG-42 the disk is full when the engine %s: ERROR HOST_DISK_FULL',
  async (_, method, path) => {
    const message = 'mkdir /var/lib/engine/x: no space left on device';
    const isFull: EngineProxyOptions = {
      answer: (asked, url) =>
        asked === method && path.test(url) ? { status: 500, message } : null,
    };
    await behindProxy(isFull, async (sandbox) => {
      const { said } = await bench.attack('engine', commits.base, {
        commit: commits.passes,
        sandbox,
        contract: (contract) => {
          contract.criteria = [
            {
              id: 'is-there',
              title: 'It is there',
              type: 'file_assertion',
              visibility: 'public',
              command: 'sh check.sh',
              timeoutSeconds: 20,
              path: 'hello.sh',
              assertion: { op: 'exists' },
            },
          ];
        },
      });
      expect(said).toBe('ERROR HOST_DISK_FULL');
    });
  },
);

it('BUG-42 the disk for fetched repositories is full: ERROR HOST_DISK_FULL', async (context) => {
  const cache = join(dirname(bench.served), 'cache');
  await mkdir(cache, { recursive: true });
  const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', cache]).then(
    () => true,
    () => false,
  );
  if (!mounted) return context.skip('this user may not mount a small disk');
  try {
    const { said } = await bench.attack('engine', commits.base, { commit: commits.passes });
    expect(said).toBe('ERROR HOST_DISK_FULL');
  } finally {
    await run('umount', [cache]);
  }
});

it('C43 the tag of an image is moved: PASS on the one that was frozen, ERROR IMAGE_UNAVAILABLE where it is gone', async () => {
  const { docker } = bench.engine;
  const tag = { repo: `kervyxa-threats/moving-${process.pid}`, tag: '1' };
  const on = (image: string) => (contract: ContractInput) => {
    contract.environment.image = image;
  };
  const attack = (image: string) =>
    bench.attack('engine', commits.base, { commit: commits.passes, contract: on(image) });
  const frozen = await commitImage(bench.engine, { Labels: { is: 'frozen' } });
  const other = await commitImage(bench.engine, { Labels: { is: 'other' } });
  try {
    await docker.getImage(frozen).tag(tag);
    await docker.getImage(other).tag(tag);
    const { said, result } = await attack(frozen);
    expect(said).toBe('PASS');
    expect(result.imageDigest).toBe(frozen);
    await expect(attack(`${tag.repo}:${tag.tag}`)).rejects.toMatchObject({
      code: 'SANDBOX_IMAGE_NOT_PINNED',
    });
  } finally {
    await docker.getImage(frozen).remove({ force: true });
    await docker.getImage(other).remove({ force: true });
  }
  expect((await attack(frozen)).said).toBe('ERROR IMAGE_UNAVAILABLE');
});
