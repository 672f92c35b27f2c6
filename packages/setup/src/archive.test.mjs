import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dockerArchive, imageConfig, readLayer, tarHeader } from './archive.mjs';

/** @type {string} */
let folder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kervyxa-archive-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** @param {string} content */
const sha256 = (content) => createHash('sha256').update(content).digest('hex');

describe('a docker archive', () => {
  it('holds config, layers and manifest, as tar reads them', async () => {
    const contents = ['first layer', 'x'.repeat(1024)];
    const layers = await Promise.all(
      contents.map((content, at) => {
        writeFileSync(join(folder, `${at}.tar`), content);
        return readLayer(join(folder, `${at}.tar`));
      }),
    );
    const config = imageConfig({ architecture: 'amd64', layers, labels: { a: 'b' } });
    const pieces = [];
    for await (const piece of dockerArchive({ name: 'k/n:1', config, layers })) pieces.push(piece);
    writeFileSync(join(folder, 'image.tar'), Buffer.concat(pieces));
    const tar = (/** @type {string[]} */ ...args) =>
      spawnSync('tar', ['-f', join(folder, 'image.tar'), ...args], { encoding: 'utf8' });

    const layerFiles = contents.map((content) => `${sha256(content)}/layer.tar`);
    const configFile = `${sha256(config)}.json`;
    expect(tar('-t').stdout.trim().split('\n')).toEqual([
      configFile,
      ...layerFiles,
      'manifest.json',
    ]);
    expect(tar('-xO', layerFiles[1] ?? '').stdout).toBe(contents[1]);
    expect(JSON.parse(tar('-xO', 'manifest.json').stdout)).toEqual([
      { Config: configFile, RepoTags: ['k/n:1'], Layers: layerFiles },
    ]);
    expect(tar('-t').stderr).toBe('');
  });

  it('has a config with nothing of the machine or the hour in it', () => {
    const layers = [{ file: '/somewhere', size: 3, sha256: 'f'.repeat(64) }];
    expect(JSON.parse(imageConfig({ architecture: 'arm64', layers, labels: {} }))).toEqual({
      architecture: 'arm64',
      os: 'linux',
      created: '2025-01-01T00:00:00.000Z',
      config: {
        Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
        Cmd: ['/bin/sh'],
        Labels: {},
      },
      history: [{ created: '2025-01-01T00:00:00.000Z', created_by: 'kervyxa set-up' }],
      rootfs: { type: 'layers', diff_ids: [`sha256:${'f'.repeat(64)}`] },
    });
  });

  it('refuses a name that a plain tar header can’t hold', () => {
    expect(() => tarHeader('x'.repeat(101), 1)).toThrow(RangeError);
  });
});
