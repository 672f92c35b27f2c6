import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { createDockerSandbox } from '@kervyxa/sandbox/docker';
import { ensureReady } from '@kervyxa/setup';
import { packTree, type TreeEntry } from '@kervyxa/core';
import type { CheckDeps } from '../run/check-deps.ts';

const PYTHON = 'kervyxa-runtime/python:1';
const never = new AbortController().signal;

export interface EngineDeps extends CheckDeps {
  /** The id of an image with a program at /checker/checker.py and its own entrypoint. The caller removes it. */
  createImage(program: string): Promise<string>;
  removeImage(id: string): Promise<void>;
}

/** What stages run with on the real engine; whatever waits to be alone is let in at once. */
export async function engineDeps(): Promise<EngineDeps> {
  const { dockerHost, runtimes: bound } = await ensureReady();
  const runtimes = new Map([...bound].map(([name, { imageId }]) => [name, imageId]));
  const python = runtimes.get(PYTHON) ?? PYTHON;
  const call = (method: string, path: string, body?: object | Buffer): Promise<{ Id: string }> =>
    callEngine(new URL(dockerHost).pathname, { method, path }, body);
  return {
    sandbox: createDockerSandbox({ dockerHost, toolsImage: python }),
    runtimes,
    gate: { beside: pass, alone: pass },
    async createImage(program) {
      const { Id } = await call('POST', '/containers/create', { Image: python, Cmd: ['true'] });
      const files = await Array.fromAsync(packTree(entriesOf(Buffer.from(program)), never));
      await call('PUT', `/containers/${Id}/archive?path=/`, Buffer.concat(files));
      const config = { Entrypoint: ['python3', '/checker/checker.py'], Cmd: [] };
      const image = await call('POST', `/commit?container=${Id}`, config);
      await call('DELETE', `/containers/${Id}`);
      return image.Id;
    },
    async removeImage(id) {
      await call('DELETE', `/images/${id}`);
    },
  };
}

function pass<T>(work: () => Promise<T>): Promise<T> {
  return work();
}

async function* entriesOf(content: Uint8Array): AsyncGenerator<TreeEntry> {
  yield { type: 'folder', path: 'checker' };
  const file = { type: 'file', path: 'checker/checker.py', executable: false } as const;
  yield { ...file, size: content.length, content };
}

function callEngine(
  socketPath: string,
  { method, path }: { readonly method: string; readonly path: string },
  body?: object | Buffer,
): Promise<{ Id: string }> {
  const isBytes = Buffer.isBuffer(body);
  const type = isBytes ? 'application/x-tar' : 'application/json';
  return new Promise((resolve, reject) => {
    const call = request(
      { socketPath, method, path, headers: { 'content-type': type } },
      async (answer) => {
        const said = await text(answer);
        if ((answer.statusCode ?? 500) >= 300) reject(new Error(`${method} ${path}: ${said}`));
        else resolve(said.startsWith('{') ? JSON.parse(said) : { Id: '' });
      },
    );
    call.on('error', reject);
    call.end(isBytes ? body : body && JSON.stringify(body));
  });
}
