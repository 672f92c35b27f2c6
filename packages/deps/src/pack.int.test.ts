import { hash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readTar } from '@kervyxa/core';
import cacache from 'cacache';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packDependencies, type DependencyBundle, type PackProgress } from './index.ts';
import { lockfileOf, startRegistry, type TestRegistry } from './testing/registry.ts';

// Keeps R-DEPS-SAME, R-DEPS-PINNED.

let home = '';
let registry: TestRegistry;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'deps-test-'));
  registry = await startRegistry();
});
afterEach(async () => {
  await registry.close();
  rmSync(home, { recursive: true });
});

interface Given {
  readonly lockfiles?: readonly string[];
  readonly requirements?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cache?: string;
  readonly signal?: AbortSignal;
  readonly bytesMax?: number;
  readonly onProgress?: (progress: PackProgress) => void;
}

/** Packs with the local registry, a cache of its own, and nothing of this machine's configuration. */
function pack({ lockfiles = [], requirements = [], ...given }: Given): Promise<DependencyBundle> {
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    npm_config_registry: `${registry.url}/`,
    npm_config_cache: join(home, given.cache ?? 'cache'),
    npm_config_globalconfig: join(home, 'no-npmrc'),
    npm_config_fetch_retries: '0',
    PIP_INDEX_URL: `${registry.url}/simple`,
    ...given.env,
  };
  const named = (text: string, at: number) => ({ name: `file ${at}`, text });
  return packDependencies(
    { lockfiles: lockfiles.map(named), requirements: requirements.map(named) },
    {
      place: { folder: home, env },
      signal: given.signal ?? new AbortController().signal,
      ...(given.onProgress && { onProgress: given.onProgress }),
      ...(given.bytesMax !== undefined && {
        limits: { entriesMax: 1_000, bytesMax: given.bytesMax },
      }),
    },
  );
}

async function filesOf({ archive }: DependencyBundle): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  await readTar(archive.open(new AbortController().signal), ({ path, type }) => {
    if (type === 'file') found.set(path, '');
    return (piece) => void found.set(path, (found.get(path) ?? '') + Buffer.from(piece).toString());
  });
  return found;
}

const failure = (code: string, ...parts: string[]) =>
  expect.objectContaining({
    code,
    message: expect.toSatisfy((text: string) => parts.every((part) => text.includes(part))),
  });

describe('a bundle', () => {
  it('is the same, whether lock files name addresses or not, in any order and after any cache', async () => {
    const a = { version: '1.0.0', integrity: await registry.publish('a', '1.0.0') };
    const b = { version: '2.0.0', integrity: await registry.publish('@s/b', '2.0.0') };
    const c = { version: '3.0.0', integrity: await registry.publish('a', '3.0.0') };
    const plain = [lockfileOf({ '@s/b': b, a }), lockfileOf({ a: c })];
    const addressed = lockfileOf({
      a: { ...a, resolved: `${registry.url}/a/-/a-1.0.0.tgz` },
      '@s/b': { ...b, resolved: `${registry.url}/@s/b/-/b-2.0.0.tgz` },
    });
    const first = await pack({ lockfiles: plain });
    const again = await pack({ lockfiles: plain.toReversed(), cache: 'another' });
    const other = await pack({ lockfiles: [lockfileOf({ a: c }), addressed], cache: 'third' });
    expect([again.sha256, other.sha256]).toEqual([first.sha256, first.sha256]);
    expect(first.packages.map(({ name, version }) => `${name}@${version}`)).toEqual([
      '@s/b@2.0.0',
      'a@1.0.0',
      'a@3.0.0',
    ]);
    expect(first.sha256).not.toBe((await pack({ lockfiles: [lockfileOf({ a })] })).sha256);
    const texts = [...(await filesOf(first))].flat().join('\n');
    expect(texts).not.toContain('127.0.0.1');
  });

  it('asks nothing of the network once npm has everything in its cache', async () => {
    const integrity = await registry.publish('a', '1.0.0');
    const lockfiles = [lockfileOf({ a: { version: '1.0.0', integrity } })];
    const { sha256 } = await pack({ lockfiles });
    const before = registry.requests.length;
    expect((await pack({ lockfiles })).sha256).toBe(sha256);
    expect(registry.requests).toHaveLength(before);
  });

  it('keeps what the registry tells in the cache of npm’s configuration, and asks whether it still holds', async () => {
    const a = { version: '1.0.0', integrity: await registry.publish('a', '1.0.0') };
    await pack({ lockfiles: [lockfileOf({ a })] });
    const kept = await cacache.ls(join(home, 'cache', '_cacache'));
    expect(Object.keys(kept)).toContainEqual(expect.stringMatching(/\/a$/));
    const later = { version: '1.0.1', integrity: await registry.publish('a', '1.0.1') };
    const { packages } = await pack({ lockfiles: [lockfileOf({ a: later })] });
    expect(packages).toMatchObject([later]);
  });

  it('goes on where a failure ended it: what came is not fetched again', async () => {
    const a = { version: '1.0.0', integrity: await registry.publish('a', '1.0.0') };
    const b = { version: '1.0.0', integrity: await registry.publish('b', '1.0.0') };
    await pack({ lockfiles: [lockfileOf({ a })] });
    registry.answer('/b/-/b-1.0.0.tgz', (_, response) => response.writeHead(500).end());
    await expect(pack({ lockfiles: [lockfileOf({ a, b })] })).rejects.toThrow(
      failure('DEPS_REGISTRY_UNAVAILABLE', 'b@1.0.0', '500'),
    );
    expect(registry.requests.filter((each) => each === 'GET /a/-/a-1.0.0.tgz')).toHaveLength(1);
  });

  it('tells of its progress up to the whole', async () => {
    const a = { version: '1.0.0', integrity: await registry.publish('a', '1.0.0') };
    const b = { version: '1.0.0', integrity: await registry.publish('b', '1.0.0') };
    const seen: PackProgress[] = [];
    const { packages } = await pack({
      lockfiles: [lockfileOf({ a, b })],
      onProgress: (progress) => seen.push(progress),
    });
    const bytes = packages.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const done = new Set(seen.map(({ packagesDone }) => packagesDone));
    expect([...done]).toEqual([0, 1, 2]);
    expect(seen.at(-1)).toEqual({ packagesDone: 2, packagesTotal: 2, bytes, waitingFor: null });
    expect(seen.map(({ waitingFor }) => waitingFor)).toContain('a@1.0.0');
  });

  it('may be too large for a lock file without addresses, which npm copies to /tmp: refused, with the way out', async () => {
    const integrity = await registry.publish('a', '1.0.0', 48 * 1_048_576);
    const a = { version: '1.0.0', integrity };
    await expect(pack({ lockfiles: [lockfileOf({ a })] })).rejects.toThrow(
      failure('DEPS_TOO_LARGE', 'without an address in file 0'),
    );
    const resolved = 'https://registry.invalid/a/-/a-1.0.0.tgz';
    const { packages } = await pack({ lockfiles: [lockfileOf({ a: { ...a, resolved } })] });
    expect(packages).toMatchObject([{ name: 'a', integrity }]);
  });

  it('can be empty', async () => {
    const { archive } = await pack({ lockfiles: [lockfileOf({})] });
    expect(archive.bytesTotal).toBeGreaterThan(0);
  });
});

describe('a registry', () => {
  const locked = async (name = 'a') => ({
    version: '1.0.0',
    integrity: await registry.publish(name, '1.0.0'),
  });

  it('serves other bytes under the locked version: refused, with what was expected and what came', async () => {
    const a = await locked();
    registry.answer('/a/-/a-1.0.0.tgz', (_, response) => response.end('not the package'));
    const got = `sha512-${hash('sha512', 'not the package', 'base64')}`;
    for (const resolved of [undefined, `${registry.url}/a/-/a-1.0.0.tgz`]) {
      const lockfile = lockfileOf({ a: { ...a, ...(resolved !== undefined && { resolved }) } });
      await expect(pack({ lockfiles: [lockfile] })).rejects.toThrow(
        failure('DEPS_INTEGRITY_MISMATCH', `a@1.0.0 with ${a.integrity}`, got),
      );
    }
  });

  it('has neither the package nor the version', async () => {
    const a = await locked();
    for (const [name, version] of [
      ['nobody', '1.0.0'],
      ['a', '9.9.9'],
    ] as const) {
      const integrity = a.integrity.replace(/-.{8}/, '-AAAAAAAA');
      const lockfile = lockfileOf({ [name]: { version, integrity } });
      await expect(pack({ lockfiles: [lockfile] })).rejects.toThrow(
        failure('DEPS_NOT_FOUND', name),
      );
    }
  });

  it('answers with 500, with nothing, or not at all', async () => {
    const lockfiles = [lockfileOf({ a: await locked() })];
    registry.answer(null, (_, response) => response.writeHead(500).end());
    await expect(pack({ lockfiles })).rejects.toThrow(failure('DEPS_REGISTRY_UNAVAILABLE'));
    registry.answer(null, (_, response) => response.end());
    await expect(pack({ lockfiles })).rejects.toThrow(failure('DEPS_REGISTRY_UNAVAILABLE'));
    const env = { npm_config_registry: 'http://127.0.0.1:9/' };
    await expect(pack({ lockfiles, env })).rejects.toThrow(failure('DEPS_REGISTRY_UNAVAILABLE'));
  });

  it('never ends its answer: the time-out of npm’s configuration ends it', async () => {
    const lockfiles = [lockfileOf({ a: await locked() })];
    const env = { npm_config_fetch_timeout: '300' };
    registry.answer('/a/-/a-1.0.0.tgz', (_, response) => response.write('begun'));
    await expect(pack({ lockfiles, env })).rejects.toThrow(failure('DEPS_REGISTRY_UNAVAILABLE'));
    registry.answer('/a', () => undefined);
    await expect(pack({ lockfiles, env })).rejects.toThrow(failure('DEPS_REGISTRY_UNAVAILABLE'));
  });

  it('sends without end: cut off at the limit, and the connection is closed', async () => {
    const lockfiles = [lockfileOf({ a: await locked() })];
    const closed = new Promise((resolve) => {
      registry.answer('/a/-/a-1.0.0.tgz', (_, response) => {
        response.on('close', resolve);
        const more = (): void => {
          while (response.write(Buffer.alloc(65_536)));
          response.once('drain', more);
        };
        more();
      });
    });
    await expect(pack({ lockfiles, bytesMax: 1_000_000 })).rejects.toThrow(
      failure('DEPS_TOO_LARGE', '1000000'),
    );
    await closed;
  });

  it('wants credentials: those of the user’s npmrc are sent, and to nobody else', async () => {
    const a = await locked();
    const lockfiles = [lockfileOf({ a })];
    const other = await startRegistry();
    try {
      await other.publish('a', '1.0.0');
      const seen: (string | undefined)[] = [];
      other.answer('/a/-/a-1.0.0.tgz', ({ headers }, response) => {
        seen.push(headers.authorization);
        response.writeHead(404).end();
      });
      registry.answer('/a', ({ headers }, response) => {
        const dist = { tarball: `${other.url}/a/-/a-1.0.0.tgz` };
        if (headers.authorization !== 'Bearer s3cret') response.writeHead(401).end();
        else response.end(JSON.stringify({ name: 'a', versions: { '1.0.0': { dist } } }));
      });
      const told = await pack({ lockfiles }).catch((error: unknown) => error);
      expect(told).toEqual(failure('DEPS_REGISTRY_REFUSED', 'a'));
      const { host } = new URL(registry.url);
      writeFileSync(join(home, '.npmrc'), `//${host}/:_authToken=\${TOKEN}\n`);
      const failed = await pack({ lockfiles, env: { TOKEN: 's3cret' } }).catch(String);
      expect(failed).toMatch(/a@1\.0\.0/);
      expect(failed).not.toContain('s3cret');
      expect(seen).toEqual([undefined]);
    } finally {
      await other.close();
    }
  });

  it('sends on to another host: without the credentials, and nowhere but over the web', async () => {
    const lockfiles = [lockfileOf({ a: await locked() })];
    const other = await startRegistry();
    try {
      const seen: (string | undefined)[] = [];
      other.answer('/else', ({ headers }, response) => {
        seen.push(headers.authorization);
        response.end('other bytes');
      });
      const { host } = new URL(registry.url);
      writeFileSync(join(home, '.npmrc'), `//${host}/:_authToken=s3cret\n`);
      for (const [place, code] of [
        [`${other.url.replace('127.0.0.1', 'localhost')}/else`, 'DEPS_INTEGRITY_MISMATCH'],
        ['file:///etc/hostname', 'DEPS_REGISTRY_UNAVAILABLE'],
        ['/a/-/a-1.0.0.tgz', 'DEPS_REGISTRY_UNAVAILABLE'],
      ] as const) {
        registry.answer('/a/-/a-1.0.0.tgz', (_, response) =>
          response.writeHead(302, { location: place }).end(),
        );
        await expect(pack({ lockfiles })).rejects.toThrow(failure(code, 'a@1.0.0'));
      }
      expect(new Set(seen)).toEqual(new Set([undefined]));
    } finally {
      await other.close();
    }
  });

  it('packs its answer so that little becomes much: cut off at the limit', async () => {
    const lockfiles = [lockfileOf({ a: await locked() })];
    const bomb = gzipSync(Buffer.alloc(256 * 1_048_576));
    registry.answer('/a/-/a-1.0.0.tgz', (_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    );
    const bytesMax = 1_000_000;
    await expect(pack({ lockfiles, bytesMax })).rejects.toThrow(failure('DEPS_TOO_LARGE'));
  });
});

describe('a packing that is stopped', () => {
  it('rejects with the reason, closes its connections and leaves no temporary file', async () => {
    const integrity = await registry.publish('a', '1.0.0');
    const controller = new AbortController();
    const started = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    registry.answer('/a/-/a-1.0.0.tgz', (_, response) => {
      response.on('close', closed.resolve).write('begun');
      started.resolve();
    });
    const packing = pack({
      lockfiles: [lockfileOf({ a: { version: '1.0.0', integrity } })],
      signal: controller.signal,
    });
    await started.promise;
    controller.abort(new Error('stopped by SIGINT'));
    await expect(packing).rejects.toThrow('stopped by SIGINT');
    await closed.promise;
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('kervyxa-deps-'))).toEqual([]);
  });
});

describe('wheels', () => {
  const A = 'helpers-1.0-py3-none-any.whl';

  it('are those of the requirement that the runtime image can install, from either form of index', async () => {
    const sdist = registry.upload('helpers', 'helpers-1.0.tar.gz', 'source');
    const any = registry.upload('helpers', A, 'wheel');
    const windows = registry.upload('helpers', 'helpers-1.0-cp311-cp311-win_amd64.whl', 'win');
    registry.upload('helpers', 'helpers-2.0-py3-none-any.whl', 'not asked for');
    const requirements = [
      `Helpers==1.0 --hash=sha256:${sdist} --hash=sha256:${any} --hash=sha256:${windows}\n`,
    ];
    const bundle = await pack({ requirements });
    const files = await filesOf(bundle);
    expect(files.get(`pip/${A}`)).toBe('wheel');
    expect([...files.keys()].filter((path) => path.startsWith('pip/'))).toEqual([`pip/${A}`]);
    registry.answer('/simple/helpers/', (_, response) => {
      const listed = [
        { filename: A, url: `${registry.url}/files/${A}`, hashes: { sha256: any } },
        { filename: 'helpers-1.0.tar.gz', url: 'https://x.invalid/', hashes: { sha256: sdist } },
        { filename: 'w.whl', url: 'https://x.invalid/', hashes: { sha256: windows } },
      ];
      response.end(
        JSON.stringify({ meta: { 'api-version': '1.0' }, name: 'helpers', files: listed }),
      );
    });
    expect((await pack({ requirements, cache: 'another' })).sha256).toBe(bundle.sha256);
  });

  it('changed on the index after they were pinned: refused', async () => {
    const sha256 = registry.upload('helpers', A, 'wheel');
    registry.answer(`/files/${A}`, (_, response) => response.end('other'));
    const requirements = [`helpers==1.0 --hash=sha256:${sha256}`];
    await expect(pack({ requirements })).rejects.toThrow(failure('DEPS_INTEGRITY_MISMATCH', A));
  });

  it('are not there for a hash, or not for Linux: refused, but for a requirement of other systems', async () => {
    const none = 'f'.repeat(64);
    registry.upload('helpers', A, 'wheel');
    const source = registry.upload('source', 'source-1.0.tar.gz', 'source');
    const one = (line: string) => pack({ requirements: [line] });
    await expect(one(`helpers==1.0 --hash=sha256:${none}`)).rejects.toThrow(
      failure('DEPS_NOT_FOUND', none),
    );
    await expect(one(`source==1.0 --hash=sha256:${source}`)).rejects.toThrow(
      failure('DEPS_NOT_FOUND', 'source==1.0'),
    );
    const marked = `source==1.0 ; sys_platform == "win32" --hash=sha256:${source}`;
    expect((await one(marked)).packages).toEqual([]);
  });

  it('come from an index that is not named, or is none: refused', async () => {
    const requirements = [`helpers==1.0 --hash=sha256:${'a'.repeat(64)}`];
    for (const address of ['', 'nonsense', 'ftp://index.example/']) {
      await expect(pack({ requirements, env: { PIP_INDEX_URL: address } })).rejects.toThrow(
        failure('DEPS_INDEX_UNKNOWN'),
      );
    }
  });

  it('need credentials: those of the address are sent, and shown nowhere', async () => {
    const sha256 = registry.upload('helpers', A, 'wheel');
    const requirements = [`helpers==1.0 --hash=sha256:${sha256}`];
    const PIP_INDEX_URL = `${registry.url.replace('://', '://user:s3cret@')}/simple`;
    registry.answer('/simple/helpers/', ({ headers }, response) => {
      const expected = `Basic ${Buffer.from('user:s3cret').toString('base64')}`;
      response.writeHead(headers.authorization === expected ? 410 : 401).end();
    });
    const error = await pack({ requirements, env: { PIP_INDEX_URL } }).catch((e: unknown) => e);
    expect(error).toEqual(failure('DEPS_NOT_FOUND', 'helpers'));
    expect(String(error)).not.toContain('s3cret');
  });
});
