import { beforeAll, describe, expect, it } from 'vitest';
import { Engine } from './engine-api.mjs';
import { diagnose, ensureReady, findEngine, loadRuntimes } from './index.mjs';

let engine: Engine;
beforeAll(async () => {
  const { dockerHost } = await ensureReady();
  engine = new Engine(dockerHost);
});

/** Runs a shell command as contracts' commands run: unprivileged, without a network; answers its output. */
async function runIn(image: string, command: string): Promise<string> {
  const { Id: id } = await engine.readJson('/containers/create', {
    method: 'POST',
    body: {
      Image: image,
      Entrypoint: ['/bin/sh', '-ec'],
      Cmd: [command],
      User: '65534:65534',
      // A terminal's output comes without the binary headers of the two streams.
      Tty: true,
      NetworkDisabled: true,
      HostConfig: { NetworkMode: 'none' },
    },
  });
  try {
    await engine.readJson(`/containers/${id}/start`, { method: 'POST' });
    const { StatusCode } = await engine.readJson(`/containers/${id}/wait`, { method: 'POST' });
    const { text } = await engine.readText(`/containers/${id}/logs?stdout=1&stderr=1`);
    return `${text.replaceAll('\r\n', '\n').trim()} (exit ${StatusCode})`;
  } finally {
    await engine.readText(`/containers/${id}?force=1`, { method: 'DELETE' });
  }
}

function imageOf(name: string): string {
  return loadRuntimes().get(name)?.imageId ?? `no binding of ${name}`;
}

// Keeps R-SETUP-NOTHING.
describe('after set-up', () => {
  it('everything is found again, and nothing is said', async () => {
    const lines: string[] = [];
    const { dockerHost, runtimes } = await ensureReady({ log: (line) => void lines.push(line) });
    expect(lines).toEqual([]);
    expect((await findEngine())?.dockerHost).toBe(dockerHost);
    expect(runtimes).toEqual(loadRuntimes());
    expect([...runtimes.keys()]).toEqual(['kervyxa-runtime/node:22', 'kervyxa-runtime/python:1']);
  });

  it('the node runtime has node 22 and npm', async () => {
    expect(await runIn(imageOf('kervyxa-runtime/node:22'), 'node -p process.version')).toMatch(
      /^v22\.\d+\.\d+ \(exit 0\)$/,
    );
    expect(
      await runIn(imageOf('kervyxa-runtime/node:22'), 'HOME=/tmp npm --version | cat'),
    ).toMatch(/^10\.\d+\.\d+ \(exit 0\)$/);
  });

  it('the python runtime has python 3.11 with its standard library', async () => {
    const command = `python3 -c 'import json, sqlite3, sys, unittest; print(*sys.version_info[:2])'`;
    expect(await runIn(imageOf('kervyxa-runtime/python:1'), command)).toBe('3 11 (exit 0)');
  });

  it('a built image has no program that changes its user, and names no machine', async () => {
    for (const [name, { source, imageId }] of loadRuntimes()) {
      if (source !== 'built') continue;
      const command = 'find / -xdev -type f -perm /6000 2>/dev/null || true; cat /etc/machine-id';
      expect(`${name}: ${await runIn(imageId, command)}`).toBe(`${name}:  (exit 0)`);
    }
  });

  it('the doctor finds nothing that is missing', async () => {
    const failed = (await diagnose()).filter(({ status }) => status === 'fail');
    expect(failed).toEqual([]);
  });
});
