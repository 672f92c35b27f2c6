import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  dockerArchive,
  extendConfig,
  imageConfig,
  readLayer,
  tarHeader,
  treeArchive,
} from './archive.mjs';

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

    const layerFiles = ['0/layer.tar', '1/layer.tar'];
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

  it('gains a layer without keeping when the image below was made', () => {
    const below = {
      architecture: 'amd64',
      created: '2026-03-04T05:06:07.8Z',
      config: { Env: ['A=1'], Labels: { theirs: '1' } },
      history: [{ created: '2026-03-04T05:06:07.8Z' }],
      rootfs: { type: 'layers', diff_ids: ['sha256:below'] },
    };
    const layer = { file: '/somewhere', size: 3, sha256: 'f'.repeat(64) };
    expect(JSON.parse(extendConfig(below, { layer, labels: { ours: '2' } }))).toEqual({
      architecture: 'amd64',
      created: '2025-01-01T00:00:00.000Z',
      config: { Env: ['A=1'], Labels: { theirs: '1', ours: '2' } },
      history: [
        { created: '2026-03-04T05:06:07.8Z' },
        { created: '2025-01-01T00:00:00.000Z', created_by: 'kervyxa harness' },
      ],
      rootfs: { type: 'layers', diff_ids: ['sha256:below', `sha256:${'f'.repeat(64)}`] },
    });
  });

  it('refuses a name that a plain tar header can’t hold', () => {
    expect(() => tarHeader('x'.repeat(101), 1)).toThrow(RangeError);
  });
});

describe('a layer of files', () => {
  it('has every folder above them, fixed owners and times, and links, as tar reads them', () => {
    const archive = treeArchive([
      { path: 'usr/bin/run', target: '../lib/run.sh' },
      { path: 'usr/lib/run.sh', bytes: Buffer.from('exit 0'), executable: true },
      { path: 'usr/lib/data', bytes: Buffer.from('x'.repeat(513)) },
    ]);
    writeFileSync(join(folder, 'layer.tar'), archive);
    const { stdout, stderr } = spawnSync(
      'tar',
      ['-tvf', join(folder, 'layer.tar'), '--numeric-owner', '--utc', '--full-time'],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.replace(/ +/g, ' ')),
    ).toEqual([
      'drwxr-xr-x 0/0 0 2025-01-01 00:00:00 usr/',
      'drwxr-xr-x 0/0 0 2025-01-01 00:00:00 usr/bin/',
      'lrwxrwxrwx 0/0 0 2025-01-01 00:00:00 usr/bin/run -> ../lib/run.sh',
      'drwxr-xr-x 0/0 0 2025-01-01 00:00:00 usr/lib/',
      '-rw-r--r-- 0/0 513 2025-01-01 00:00:00 usr/lib/data',
      '-rwxr-xr-x 0/0 6 2025-01-01 00:00:00 usr/lib/run.sh',
    ]);
  });
});
