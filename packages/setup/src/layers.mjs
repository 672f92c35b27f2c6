import { createWriteStream, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { dockerArchive, extendConfig, readLayer, treeArchive } from './archive.mjs';
import { SetupError } from './errors.mjs';
import { megabytes, withProgress } from './progress.mjs';

// The engine begins to answer when it has packed, or unpacked, everything.
const ANSWER_MS = 600_000;

const HARNESS_LINK = {
  path: 'usr/local/bin/kervyxa-count',
  target: '../lib/kervyxa/count.sh',
};

/**
 * @typedef {object} ImageParts an image on this machine's disk
 * @property {any} config as the engine keeps it
 * @property {import('./archive.mjs').StoredLayer[]} layers from the lowest
 *
 * @typedef {import('./build.mjs').Options} Options
 */

/**
 * @param {import('./engine-api.mjs').Engine} engine
 * @param {string} imageId
 * @param {Options & { folder: string, unpack: (archive: string) => Promise<void> }} options `folder` is filled
 * @returns {Promise<ImageParts>}
 * @throws {SetupError} SETUP_BUILD_FAILED, SETUP_ENGINE_REFUSED
 */
export async function exportImage(engine, imageId, { folder, unpack, ...options }) {
  const archive = join(folder, 'image.tar');
  await withProgress(options, `reading ${imageId.slice(0, 19)}`, async (advance) => {
    const answer = await engine.readBody(`/images/${imageId}/get`, {
      answerMs: ANSWER_MS,
      signal: options.signal,
    });
    await pipeline(counted(answer, advance), createWriteStream(archive));
    await unpack(archive);
  });
  const [entry] = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
  const config = JSON.parse(readFileSync(join(folder, entry.Config), 'utf8'));
  const layers = entry.Layers.map((/** @type {string} */ name) => {
    const file = join(folder, name);
    return { file, size: statSync(file).size };
  });
  if (layers.length === config.rootfs?.diff_ids?.length) return { config, layers };
  throw new SetupError('SETUP_BUILD_FAILED', {
    message: `expected the engine to export every layer of ${imageId}, got ${layers.length}`,
    fix: 'see the engine’s log; an image store that keeps only some platforms of an image has to pull it anew',
  });
}

/**
 * @param {ImageParts} parts of an image whose top layer is a harness
 * @returns {ImageParts} without it
 */
export function withoutTopLayer({ config, layers }) {
  return {
    config: {
      ...config,
      history: config.history.slice(0, -1),
      rootfs: { ...config.rootfs, diff_ids: config.rootfs.diff_ids.slice(0, -1) },
    },
    layers: layers.slice(0, -1),
  };
}

/**
 * @param {{ path: string, source: string, executable: boolean }[]} files
 * @param {string} file is written
 */
export async function harnessLayer(files, file) {
  const entries = files.map(({ path, source, executable }) => ({
    path,
    bytes: readFileSync(source),
    executable,
  }));
  writeFileSync(file, treeArchive([...entries, HARNESS_LINK]));
  return readLayer(file);
}

/**
 * @param {import('./engine-api.mjs').Engine} engine
 * @param {ImageParts} parts
 * @param {Options & { name: string, layer: import('./archive.mjs').Layer, labels: Record<string, string> }} options
 * @throws {SetupError} SETUP_ENGINE_REFUSED
 */
export async function loadWithLayer(
  engine,
  { config, layers },
  { name, layer, labels, ...options },
) {
  const archive = dockerArchive({
    name,
    config: extendConfig(config, { layer, labels }),
    layers: [...layers, layer],
  });
  await withProgress(options, `loading ${name}`, (advance) =>
    engine.readLines('/images/load?quiet=1', {
      body: counted(archive, advance),
      answerMs: ANSWER_MS,
      signal: options.signal,
      onLine: () => undefined,
    }),
  );
}

/**
 * @param {AsyncIterable<Uint8Array>} source
 * @param {(detail: string) => void} advance
 */
async function* counted(source, advance) {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    advance(megabytes(bytes));
    yield chunk;
  }
}
