import { availableParallelism } from 'node:os';
import { crc32 } from 'node:zlib';
import { sealTree, systemClock, type TreeArchive, type TreeEntry } from '@kervyxa/core';
import { createDockerSandbox } from '@kervyxa/sandbox/docker';
import { ensureReady } from '@kervyxa/setup';
import { beforeAll, describe, expect, it } from 'vitest';
import { packDependencies } from './index.ts';
import { lockfileOf, startRegistry } from './testing/registry.ts';

// Keeps R-DEPS-OFFLINE.

type Sandbox = ReturnType<typeof createDockerSandbox>;
type Session = Awaited<ReturnType<Sandbox['openSession']>>;
type RunOutcome = Awaited<ReturnType<Session['runSetup']>>;

const { signal } = new AbortController();
const LIMITS = {
  memoryBytes: 512 * 1_048_576,
  cpuCount: Math.min(2, availableParallelism()),
  pidsMax: 128,
  workspaceBytes: 128 * 1_048_576,
  outputBytes: 1_048_576,
};
// From the registry itself: real packages, one of them with a dependency of its own.
const PACKAGES = {
  'date-fns': {
    version: '3.6.0',
    integrity:
      'sha512-fRHTG8g/Gif+kSh50gaGEdToemgfj74aRX3swtiouboip5JDLAyDE9F11nHMIcvOaXeOC6D7SpNhi7uFyB7Uww==',
  },
  'is-number': {
    version: '6.0.0',
    integrity:
      'sha512-Wu1VHeILBK8KAWJUAiSZQX94GmOE45Rg6/538fKwiloUu21KncEkYGPqob2oSZ5mUT73vLGrHQjKw3KMPwfDzg==',
  },
  '@types/ms': {
    version: '0.7.34',
    integrity:
      'sha512-nG96G3Wp6acyAgJqGasjODb+acrI7KltPiRxzHPXnP3NgI28bpQDRv53olbqGXbfcgF5aiiHmO3xpwEpS5Ld9g==',
  },
};

let sandbox: Sandbox;
let images: ReadonlyMap<string, string>;
beforeAll(async () => {
  const { dockerHost, runtimes } = await ensureReady();
  images = new Map([...runtimes].map(([name, { imageId }]) => [name, imageId]));
  const toolsImage = imageOf('kervyxa-runtime/node:22');
  sandbox = createDockerSandbox({ dockerHost, toolsImage, clock: systemClock });
});

function imageOf(name: string): string {
  const image = images.get(name);
  if (image === undefined) throw new Error(`expected the image ${name}, got none`);
  return image;
}

function treeOf(files: Readonly<Record<string, string>>): Promise<TreeArchive> {
  return sealTree(
    Object.entries(files).map(([path, text]): TreeEntry => {
      const content = Buffer.from(text);
      return { type: 'file', path, executable: false, size: content.length, content };
    }),
  );
}

interface Work {
  readonly image: string;
  readonly files: Readonly<Record<string, string>>;
  readonly dependencies: TreeArchive;
  readonly setup: readonly string[];
  readonly command: string;
}

/** Set-up and one command, as a verification would run them; answers the command's outcome. */
async function runOffline(work: Work): Promise<RunOutcome> {
  const { dependencies, image } = work;
  const tree = await treeOf(work.files);
  const session = await sandbox.openSession(
    { image, limits: LIMITS, tree, verifierPackage: null, dependencies, runsMax: 1 },
    signal,
  );
  const requestOf = (command: string) => ({
    command,
    timeoutMs: 100_000,
    package: 'none' as const,
  });
  try {
    for (const command of work.setup) {
      const outcome = await session.runSetup(requestOf(command), signal);
      if (outcome.exitCode !== 0) return outcome;
    }
    const run = await session.stage(requestOf(work.command), signal);
    return await run.release(signal);
  } finally {
    await session.close();
  }
}

function textOf({ exitCode, stdout, stderr }: RunOutcome): string {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();
  return exitCode === 0
    ? text(stdout.head)
    : `${exitCode} ${text(stdout.head)}${text(stderr.head)}`;
}

const toManifest = (lockfile: string): string => JSON.stringify(JSON.parse(lockfile).packages['']);

describe('npm ci --offline in a run', () => {
  it.each([
    ['without addresses', (_name: string) => ({})],
    [
      'with addresses of a registry that nobody can reach',
      (name: string) => ({ resolved: `https://registry.invalid/${name}/-/x-1.0.0.tgz` }),
    ],
  ])('installs real packages of a lock file %s', async (_title, addressOf) => {
    const plain = lockfileOf(PACKAGES);
    const place = { folder: process.cwd(), env: process.env };
    const { archive } = await packDependencies(
      { lockfiles: [{ name: 'package-lock.json', text: plain }], requirements: [] },
      { place, signal },
    );
    const entries = Object.entries(PACKAGES);
    const lockfile = lockfileOf(
      Object.fromEntries(entries.map(([name, entry]) => [name, { ...entry, ...addressOf(name) }])),
    );
    const outcome = await runOffline({
      image: imageOf('kervyxa-runtime/node:22'),
      files: { 'package.json': toManifest(lockfile), 'package-lock.json': lockfile },
      dependencies: archive,
      setup: ['npm ci --offline'],
      command: `node -e "console.log(require('date-fns').format(new Date(0), 'yyyy-MM-dd'), require('is-number')(5))"`,
    });
    expect(textOf(outcome)).toBe('1970-01-01 true\n');
  });

  it('installs what is pinned for other machines and in other places: aliases, and not what is for Windows', async () => {
    const registry = await startRegistry();
    try {
      const integrity = await registry.publish('real', '1.2.3');
      const nested = await registry.publish('real', '2.0.0');
      const lockfile = JSON.stringify({
        name: 'p',
        version: '1.0.0',
        lockfileVersion: 3,
        requires: true,
        packages: {
          '': {
            name: 'p',
            version: '1.0.0',
            workspaces: ['w'],
            dependencies: { alias: 'npm:real@1.2.3' },
            optionalDependencies: { 'only-windows': '1.0.0' },
          },
          w: { name: 'w', version: '1.0.0', dependencies: { real: '2.0.0' } },
          'node_modules/w': { resolved: 'w', link: true },
          'node_modules/alias': { name: 'real', version: '1.2.3', integrity },
          'node_modules/real': { version: '2.0.0', integrity: nested },
          'node_modules/only-windows': {
            version: '1.0.0',
            integrity,
            optional: true,
            os: ['win32'],
          },
        },
      });
      const { archive } = await packDependencies(
        { lockfiles: [{ name: 'package-lock.json', text: lockfile }], requirements: [] },
        {
          place: {
            folder: process.cwd(),
            env: { ...process.env, npm_config_registry: registry.url },
          },
          signal,
        },
      );
      const outcome = await runOffline({
        image: imageOf('kervyxa-runtime/node:22'),
        files: {
          'package.json': toManifest(lockfile),
          'package-lock.json': lockfile,
          'w/package.json': JSON.stringify({
            name: 'w',
            version: '1.0.0',
            dependencies: { real: '2.0.0' },
          }),
          'w/index.js': `module.exports = require('real');`,
        },
        dependencies: archive,
        setup: ['npm ci --offline'],
        command: `node -e "console.log(require('alias'), require('w'))"`,
      });
      expect(textOf(outcome)).toBe('1.2.3 2.0.0\n');
    } finally {
      await registry.close();
    }
  });
});

describe('pip in a run', () => {
  it('installs a wheel by its hash, without an index', async () => {
    const registry = await startRegistry();
    try {
      const sha256 = registry.upload('greeter', 'greeter-1.0-py3-none-any.whl', makeWheel());
      const requirements = `greeter==1.0 --hash=sha256:${sha256}\n`;
      const env = { ...process.env, PIP_INDEX_URL: `${registry.url}/simple` };
      const { archive } = await packDependencies(
        { lockfiles: [], requirements: [{ name: 'requirements.txt', text: requirements }] },
        { place: { folder: process.cwd(), env }, signal },
      );
      const outcome = await runOffline({
        image: imageOf('kervyxa-runtime/python:1'),
        files: { 'requirements.txt': requirements },
        dependencies: archive,
        setup: ['pip install --no-index --target vendor -r requirements.txt'],
        command: `PYTHONPATH=vendor python3 -c 'import greeter; print(greeter.HELLO)'`,
      });
      expect(textOf(outcome)).toBe('hello from a wheel\n');
    } finally {
      await registry.close();
    }
  });
});

function makeWheel(): Buffer {
  const info = 'greeter-1.0.dist-info';
  return makeZip({
    'greeter.py': `HELLO = 'hello from a wheel'\n`,
    [`${info}/METADATA`]: 'Metadata-Version: 2.1\nName: greeter\nVersion: 1.0\n',
    [`${info}/WHEEL`]:
      'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/RECORD`]: `greeter.py,,\n${info}/METADATA,,\n${info}/WHEEL,,\n${info}/RECORD,,\n`,
  });
}

/** A zip archive of files as they are, uncompressed. */
function makeZip(files: Readonly<Record<string, string>>): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const [path, text] of Object.entries(files)) {
    const [name, content] = [Buffer.from(path), Buffer.from(text)];
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    // 1980-01-01, the first day that a zip archive knows.
    common.writeUInt16LE(0x21, 8);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(content.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), common, name, content]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    centrals.push(Buffer.from('PK\u0001\u0002'), Buffer.from([20, 0]), common, rest, name);
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(centrals);
  const end = Buffer.alloc(18);
  const count = Object.keys(files).length;
  end.writeUInt16LE(count, 4);
  end.writeUInt16LE(count, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, central, Buffer.from('PK\u0005\u0006'), end]);
}
