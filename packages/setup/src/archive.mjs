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
 * The form that POST /images/load reads.
 * @param {{ name: string, config: string, layers: Layer[] }} image
 * @returns {AsyncGenerator<Uint8Array>}
 */
export async function* dockerArchive({ name, config, layers }) {
  const configFile = `${createHash('sha256').update(config).digest('hex')}.json`;
  const manifest = [{ Config: configFile, RepoTags: [name], Layers: layers.map(layerFile) }];
  yield* textEntry(configFile, config);
  for (const layer of layers) {
    yield tarHeader(layerFile(layer), layer.size);
    yield* createReadStream(layer.file, { end: layer.size - 1 });
    yield padding(layer.size);
  }
  yield* textEntry('manifest.json', stableJson(manifest));
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

/** @param {Layer} layer */
function layerFile({ sha256 }) {
  return `${sha256}/layer.tar`;
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
 * @param {string} path at most 100 bytes of ASCII
 * @param {number} size below 8 GiB
 * @returns {Buffer} the ustar header of a regular file
 */
export function tarHeader(path, size) {
  if (path.length > 100) throw new RangeError(`a tar header holds 100 bytes of path, got ${path}`);
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(path, 0);
  header.write(`${octal(0o644, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100);
  header.write(`${octal(size, 11)}\0${octal(BUILD_TIME_SECONDS, 11)}\0`, 124);
  header.write('        0', 148);
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
