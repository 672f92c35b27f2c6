import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { packTree, sha256Hex, type TreeEntry } from '@kervyxa/core';
import ssri from 'ssri';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A registry of npm packages and an index of Python files on loopback, as good or as bad as a test wants it. */
export interface TestRegistry {
  /** Without a slash at its end. */
  readonly url: string;
  /** `GET /path` of every request so far. */
  readonly requests: readonly string[];
  /** Serves a package of one module, which exports its own version, and a filler; answers its integrity. */
  publish(name: string, version: string, fillerBytes?: number): Promise<string>;
  /** Serves a file of a Python package; answers its SHA-256. */
  upload(name: string, fileName: string, content: string | Buffer): string;
  /** What stands at a path from now on; null for all paths. */
  answer(path: string | null, answer: Answer): void;
  close(): Promise<void>;
}

export async function startRegistry(): Promise<TestRegistry> {
  const answers = new Map<string | null, Answer>();
  const requests: string[] = [];
  const packages = new Map<string, Record<string, unknown>>();
  const files = new Map<string, Map<string, string>>();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '');
    requests.push(`${request.method} ${path}`);
    const answer = answers.get(null) ?? answers.get(path);
    if (answer === undefined) response.writeHead(404).end('{}');
    else answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const serve = (path: string, content: string | Buffer) =>
    answers.set(path, (_, response) => response.end(content));
  return {
    url,
    requests,
    async publish(name, version, fillerBytes = 0) {
      const tarball = await makeTarball(name, version, fillerBytes);
      const integrity = ssri.fromData(tarball, { algorithms: ['sha512'] }).toString();
      const path = `/${name}/-/${name.slice(name.indexOf('/') + 1)}-${version}.tgz`;
      const versions = { ...packages.get(name) };
      versions[version] = { name, version, dist: { tarball: `${url}${path}`, integrity } };
      packages.set(name, versions);
      serve(path, tarball);
      serve(`/${name}`, JSON.stringify({ name, 'dist-tags': { latest: version }, versions }));
      return integrity;
    },
    upload(name, fileName, content) {
      const sha256 = sha256Hex(content);
      const links = files.get(name) ?? new Map<string, string>();
      files.set(name, links.set(fileName, sha256));
      serve(`/files/${fileName}`, content);
      const rows = [...links].map(
        ([file, digest]) => `<a href="../../files/${file}#sha256=${digest}">${file}</a><br>`,
      );
      serve(`/simple/${name}/`, `<!DOCTYPE html><html><body>${rows.join('\n')}</body></html>`);
      return sha256;
    },
    answer: (path, answer) => answers.set(path, answer),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function makeTarball(name: string, version: string, fillerBytes: number): Promise<Buffer> {
  const manifest = JSON.stringify({ name, version, main: 'index.js' });
  const entries = [
    toFile('package/package.json', manifest),
    toFile('package/index.js', `module.exports = ${JSON.stringify(version)};\n`),
    toFile('package/filler', Buffer.alloc(fillerBytes)),
  ];
  const { signal } = new AbortController();
  const tar = Buffer.concat(await Array.fromAsync(packTree(inOrder(entries), signal)));
  // Uncompressed, so that a filler fills.
  return gzipSync(tar, { level: 0 });
}

function toFile(path: string, text: string | Buffer): TreeEntry {
  const content = Buffer.from(text);
  return { type: 'file', path, executable: false, size: content.length, content };
}

async function* inOrder(entries: readonly TreeEntry[]): AsyncGenerator<TreeEntry> {
  yield* entries;
}

/** A lock file of packages at the top of node_modules; `resolved` where an address is given. */
export function lockfileOf(
  packages: Readonly<Record<string, { version: string; integrity: string; resolved?: string }>>,
): string {
  const entries = Object.entries(packages).map(([name, entry]) => [`node_modules/${name}`, entry]);
  const dependencies = Object.fromEntries(
    Object.entries(packages).map(([name, { version }]) => [name, version]),
  );
  return JSON.stringify({
    name: 'project',
    version: '1.0.0',
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { name: 'project', version: '1.0.0', dependencies },
      ...Object.fromEntries(entries),
    },
  });
}
