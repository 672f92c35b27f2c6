import type { Sandbox } from '@kervyxa/sandbox';
import { createDockerSandbox } from '@kervyxa/sandbox/docker';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import {
  type EngineProxy,
  type EngineProxyOptions,
  startEngineProxy,
} from '../../packages/sandbox/src/testing/engine-proxy.ts';
import { importImage } from '../../packages/sandbox/src/testing/images.ts';
import { testTree } from '../../packages/sandbox/src/testing/trees.ts';
import { type AttackBench, openAttackBench } from './attack-bench.ts';
import { submitPrograms } from './metric-bench.ts';

const { signal } = new AbortController();
let bench: AttackBench;
let commits: { readonly base: string; readonly slow: string; readonly passes: string };
beforeAll(async () => {
  bench = await openAttackBench();
  commits = await bench.build('engine', [
    { name: 'base', files: { 'check.sh': 'sh hello.sh\n', 'hello.sh': 'exit 1\n' } },
    { name: 'slow', parents: ['base'], files: { 'hello.sh': 'echo started; sleep 300\n' } },
    { name: 'passes', parents: ['base'], files: { 'hello.sh': 'echo 1 pass\n' } },
  ]);
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

it('M19 BUG-74 the engine dies while a run is attached: ERROR ENGINE_UNAVAILABLE, not a run without a metric', async () => {
  await behindProxy({}, async (sandbox, proxy) => {
    const { said, criteria } = await bench.attack('engine', commits.base, {
      commit: commits.slow,
      sandbox,
      onOutput: () => proxy.cut(),
    });
    expect(said).toBe('ERROR ENGINE_UNAVAILABLE');
    expect(criteria[0]).toMatchObject({ exitCode: null, metric: null });
  });
});

it('BUG-74 the engine can not say how a run ended: ERROR ENGINE_UNAVAILABLE, neither its pass nor its failure', async () => {
  let hasRun = false;
  const refusesInspection: EngineProxyOptions = {
    answer: (method, path) =>
      hasRun && method === 'GET' && /\/containers\/[^/]+\/json/.test(path)
        ? { status: 500, message: 'no such state' }
        : null,
  };
  await behindProxy(refusesInspection, async (sandbox) => {
    const { said } = await bench.attack('engine', commits.base, {
      commit: commits.passes,
      sandbox,
      onOutput: () => {
        hasRun = true;
      },
    });
    expect(hasRun).toBe(true);
    expect(said).toBe('ERROR ENGINE_UNAVAILABLE');
  });
});

it('BUG-74 prints "1 pass" and leaves with 1: FAIL EXIT_CODE_MISMATCH', async () => {
  const { said, ends } = await submitPrograms(bench, {
    bun: `echo ' 1 pass'; echo ' 0 fail'; exit 1`,
    marker: 'echo 1 pass; echo KERVYXA_METRIC=1; exit 1',
  });
  expect(said).toBe('FAIL EXIT_CODE_MISMATCH EXIT_CODE_MISMATCH');
  expect(ends).toEqual({
    bun: 'fail EXIT_CODE_MISMATCH',
    marker: 'fail EXIT_CODE_MISMATCH',
  });
});

it('BUG-74 connects to the outside, the host and the metadata service: refused, FAIL METRIC_MISSING', async () => {
  const hosts = ['1.1.1.1', '169.254.169.254', '172.17.0.1', '10.0.0.1'];
  const connect = (host: string): string =>
    `node -e 'const s = require("net").connect(80, "${host}"); s.on("connect", () => console.log("KERVYXA_METRIC=1")).on("error", (e) => console.log(e.code))'`;
  const programs = Object.fromEntries(
    hosts.map((host, at): [string, string] => [`host-${at}`, connect(host)]),
  );
  programs['name'] =
    `node -e 'require("dns").lookup("example.org", (e) => console.log(e ? "unknown" : "KERVYXA_METRIC=1"))'`;
  const { ends, output } = await submitPrograms(bench, programs);
  expect(new Set(Object.values(ends))).toEqual(new Set(['fail METRIC_MISSING']));
  for (const at of hosts.keys()) {
    expect(output.get(`criterion:host-${at}`)).toMatch(/^ENETUNREACH$/m);
  }
  expect(output.get('criterion:name')).toBe('unknown\n');
});

it('BUG-27 the image has no /bin/sh: ERROR IMAGE_UNAVAILABLE, not the solver’s failure', async () => {
  const { sandbox: real } = bench.engine;
  const image = await importImage(bench.engine, testTree({ 'a.txt': 'A' }));
  const sandbox: Sandbox = {
    inspect: (...args) => real.inspect(...args),
    resolveImage: async () => image,
    openSession: (...args) => real.openSession(...args),
    reap: (...args) => real.reap(...args),
  };
  const { said } = await bench.attack('engine', commits.base, { commit: commits.passes, sandbox });
  await bench.engine.docker.getImage(image).remove();
  expect(said).toBe('ERROR IMAGE_UNAVAILABLE');
});

it('BUG-27 the set-up fails before and after: INCONCLUSIVE SETUP_FAILED_AT_BASE; only after: FAIL SETUP_FAILED', async () => {
  const saidOf = async (command: string): Promise<string> => {
    const { said } = await bench.attack('engine', commits.base, {
      commit: commits.passes,
      contract: ({ environment }) => {
        environment.setup = [{ command, timeoutSeconds: 10 }];
      },
    });
    return said;
  };
  expect(await saidOf('test -e /opt/compiler')).toBe('INCONCLUSIVE SETUP_FAILED_AT_BASE');
  expect(await saidOf('grep -q exit hello.sh')).toBe('FAIL SETUP_FAILED');
});

it('BUG-16 the contract has a typo, pytset: INCONCLUSIVE COMMAND_NOT_FOUND, not the solver’s failure', async () => {
  const { said } = await bench.attack('engine', commits.base, {
    commit: commits.passes,
    contract: ({ criteria }) => Object.assign(criteria[0] ?? {}, { command: 'pytset -q' }),
  });
  expect(said).toBe('INCONCLUSIVE COMMAND_NOT_FOUND');
});

/** Runs a story on an engine behind a proxy, and afterwards removes what could not be removed through it. */
async function behindProxy(
  options: EngineProxyOptions,
  story: (sandbox: Sandbox, proxy: EngineProxy) => Promise<void>,
): Promise<void> {
  const { docker, dockerHost, image, sandbox } = bench.engine;
  const proxy = await startEngineProxy(dockerHost, options);
  const label = 'dev.kervyxa.test-threat';
  try {
    await story(
      createDockerSandbox({
        dockerHost: proxy.dockerHost,
        toolsImage: image,
        labels: { [label]: proxy.dockerHost },
      }),
      proxy,
    );
  } finally {
    await proxy.close();
    const filters = { label: [`${label}=${proxy.dockerHost}`] };
    const keepers = { label: [...filters.label, 'dev.kervyxa.role=keeper'] };
    for (const { Id } of await docker.listContainers({ all: true, filters: keepers })) {
      await docker.getContainer(Id).wait();
    }
    await sandbox.reap(signal);
    expect(await docker.listContainers({ all: true, filters })).toEqual([]);
  }
}
