import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readLayer, treeArchive } from './archive.mjs';
import { Engine } from './engine-api.mjs';
import { ensureReady } from './index.mjs';
import {
  exportImage,
  harnessLayer,
  type ImageParts,
  loadWithLayer,
  withoutTopLayer,
} from './layers.mjs';

// Stands for an official image that was pulled: made elsewhere, at some time, with a configuration of its own.
const OFFICIAL = 'kervyxa-test/official:1';
const NAMES = ['kervyxa-test/one:1', 'kervyxa-test/two:1'] as const;
const PULLED_CONFIG = {
  architecture: process.arch === 'x64' ? 'amd64' : process.arch,
  os: 'linux',
  created: '2026-03-04T05:06:07.890123Z',
  config: { Env: ['PATH=/usr/local/bin:/usr/bin:/bin', 'NODE_VERSION=22'], Cmd: ['node'] },
};

/** What was made here; a name that moved on leaves the older image behind. */
const made = new Set<string>();
let folder: string;
let engine: Engine;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kervyxa-layers-'));
  const { dockerHost } = await ensureReady();
  engine = new Engine(dockerHost);
  const below = await layerOf('below', { path: 'usr/bin/node', bytes: Buffer.from('node') });
  const top = await layerOf('top', { path: 'etc/os-release', bytes: Buffer.from('pulled') });
  const parts = {
    config: {
      ...PULLED_CONFIG,
      history: [{ created: PULLED_CONFIG.created }],
      rootfs: { type: 'layers', diff_ids: [`sha256:${below.sha256}`] },
    },
    layers: [below],
  };
  await loadWithLayer(engine, parts, { ...options(), name: OFFICIAL, layer: top, labels: {} });
});
afterAll(async () => {
  for (const image of [...made, OFFICIAL]) {
    await engine.readText(`/images/${image}?force=1`, { method: 'DELETE' });
  }
  rmSync(folder, { recursive: true });
});

function options() {
  return { log: () => undefined, interactive: false };
}

async function layerOf(name: string, entry: { path: string; bytes: Buffer }) {
  const file = join(folder, `${name}.tar`);
  writeFileSync(file, treeArchive([entry]));
  return readLayer(file);
}

async function partsOf(name: string): Promise<ImageParts> {
  const { Id: id } = await engine.readJson(`/images/${name}/json`);
  const target = mkdtempSync(join(folder, 'export-'));
  return exportImage(engine, id, {
    ...options(),
    folder: target,
    unpack: async (archive) => {
      const { status } = spawnSync('tar', ['-xf', archive, '-C', target]);
      expect(status).toBe(0);
    },
  });
}

/** Puts a harness of one file on an image; answers the id of what came of it. */
async function extend(parts: ImageParts, name: string, text: string): Promise<string> {
  const source = join(mkdtempSync(join(folder, 'harness-')), 'count.sh');
  writeFileSync(source, text);
  const file = { path: 'usr/local/lib/kervyxa/count.sh', source, executable: true };
  const layer = await harnessLayer([file], `${source}.tar`);
  await loadWithLayer(engine, parts, { ...options(), name, layer, labels: { harness: text } });
  const { Id: id } = await engine.readJson(`/images/${name}/json`);
  made.add(id);
  return id;
}

// Keeps R-SETUP-NOTHING.
it('a pulled image and a harness give one id, whoever puts them together, and keep what was pulled', async () => {
  const first = await extend(await partsOf(OFFICIAL), NAMES[0], 'exit 0');
  const second = await extend(await partsOf(OFFICIAL), NAMES[1], 'exit 0');
  expect(second).toBe(first);
  const { Config, RootFS } = await engine.readJson(`/images/${first}/json`);
  expect(Config).toMatchObject({ ...PULLED_CONFIG.config, Labels: { harness: 'exit 0' } });
  expect(RootFS.Layers).toHaveLength(3);
});

it('a new harness takes the place of the old one, as if that had never been', async () => {
  await extend(await partsOf(OFFICIAL), NAMES[0], 'exit 1');
  const replaced = await extend(withoutTopLayer(await partsOf(NAMES[0])), NAMES[0], 'exit 2');
  const fresh = await extend(await partsOf(OFFICIAL), NAMES[1], 'exit 2');
  expect(replaced).toBe(fresh);
});
