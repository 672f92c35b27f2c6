import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { stableJson } from './recipe.mjs';

/** The one time in everything that is built, so that equal content is an equal image: 2025-01-01T00:00:00Z. */
export const BUILD_TIME_SECONDS = 1_735_689_600;

const BLOCK_BYTES = 512;

/**
 * @typedef {object} Layer an uncompressed tar file
 * @property {string} file
 * @property {number} size
 * @property {string} sha256 64 hex digits, its diff id
 *
 * @typedef {Pick<Layer, 'file' | 'size'>} StoredLayer as the engine exports it, compressed or not
 */

/**
 * @param {string} file
 * @returns {Promise<Layer>}
 */
export async function readLayer(file) {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return { file, size: (await stat(file)).size, sha256: hash.digest('hex') };
}

/**
 * The image's configuration, whose digest is the image id: nothing in it depends on when or where it was built.
 * @param {{ architecture: string, layers: Layer[], labels: Record<string, string> }} image
 * @returns {string} JSON
 */
export function imageConfig({ architecture, layers, labels }) {
  const created = new Date(BUILD_TIME_SECONDS * 1_000).toISOString();
  return stableJson({
    architecture,
    os: 'linux',
    created,
    config: {
      Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
      Cmd: ['/bin/sh'],
      Labels: labels,
    },
    history: layers.map(() => ({ created, created_by: 'kervyxa set-up' })),
    rootfs: { type: 'layers', diff_ids: layers.map(({ sha256 }) => `sha256:${sha256}`) },
  });
}

/**
 * The configuration of an image with one more layer on top, or another one in place of ours. Whatever made `config`,
 * equal content gives equal text, and so an equal image id.
 * @param {any} config of an image
 * @param {{ layer: Layer, labels: Record<string, string> }} addition
 * @returns {string} JSON
 */
export function extendConfig(config, { layer, labels }) {
  const created = new Date(BUILD_TIME_SECONDS * 1_000).toISOString();
  return stableJson({
    ...config,
    created,
    config: { ...config.config, Labels: { ...config.config?.Labels, ...labels } },
    history: [...(config.history ?? []), { created, created_by: 'kervyxa harness' }],
    rootfs: {
      ...config.rootfs,
      diff_ids: [...config.rootfs.diff_ids, `sha256:${layer.sha256}`],
    },
  });
}

/**
 * The form that POST /images/load reads.
 * @param {{ name: string, config: string, layers: StoredLayer[] }} image
 * @returns {AsyncGenerator<Uint8Array>}
 */
export async function* dockerArchive({ name, config, layers }) {
  const configFile = `${createHash('sha256').update(config).digest('hex')}.json`;
  const layerFiles = layers.map((_, index) => `${index}/layer.tar`);
  const manifest = [{ Config: configFile, RepoTags: [name], Layers: layerFiles }];
  yield* textEntry(configFile, config);
  for (const [index, { file, size }] of layers.entries()) {
    yield tarHeader(String(layerFiles[index]), size);
    yield* createReadStream(file, { end: size - 1 });
    yield padding(size);
  }
  yield* textEntry('manifest.json', stableJson(manifest));
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

/**
 * @param {string} path
 * @param {string} text
 */
function* textEntry(path, text) {
  const bytes = Buffer.from(text);
  yield tarHeader(path, bytes.length);
  yield bytes;
  yield padding(bytes.length);
}

/** @param {number} size */
function padding(size) {
  return Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);
}

/**
 * A layer of small files, with the folders above each; equal content gives equal bytes.
 * @param {TreeEntry[]} entries
 * @returns {Buffer} an uncompressed tar file
 */
export function treeArchive(entries) {
  const folders = new Set(entries.flatMap(({ path }) => foldersAbove(path)));
  const all = [...[...folders].map((path) => ({ path: `${path}/`, kind: 'folder' })), ...entries];
  // oxlint-disable-next-line unicorn/no-array-sort -- Node 18 has no toSorted
  all.sort((a, b) => (a.path < b.path ? -1 : 1));
  return Buffer.concat([...all.flatMap((entry) => [...treeEntry(entry)]), Buffer.alloc(1_024)]);
}

/**
 * @typedef {{ path: string, bytes: Uint8Array, executable?: boolean } | { path: string, target: string }} TreeEntry
 *   a file, or a symbolic link
 */

/** @param {any} entry */
function* treeEntry({ path, kind, bytes = Buffer.alloc(0), executable = false, target }) {
  if (kind === 'folder') yield tarHeader(path, 0, { type: '5', mode: 0o755 });
  else if (target !== undefined) yield tarHeader(path, 0, { type: '2', mode: 0o777, target });
  else {
    yield tarHeader(path, bytes.length, { mode: executable ? 0o755 : 0o644 });
    yield bytes;
    yield padding(bytes.length);
  }
}

/** @param {string} path */
function foldersAbove(path) {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/**
 * @param {string} path at most 100 bytes of ASCII
 * @param {number} size below 8 GiB
 * @param {{ type?: '0' | '2' | '5', mode?: number, target?: string }} [kind] a regular file unless it says otherwise
 * @returns {Buffer} a ustar header
 */
export function tarHeader(path, size, { type = '0', mode = 0o644, target = '' } = {}) {
  if (path.length > 100) throw new RangeError(`a tar header holds 100 bytes of path, got ${path}`);
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(path, 0);
  header.write(`${octal(mode, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100);
  header.write(`${octal(size, 11)}\0${octal(BUILD_TIME_SECONDS, 11)}\0`, 124);
  header.write(`        ${type}${target}`, 148);
  header.write('ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148);
  return header;
}

/**
 * @param {number} value
 * @param {number} digits
 */
function octal(value, digits) {
  return value.toString(8).padStart(digits, '0');
}
