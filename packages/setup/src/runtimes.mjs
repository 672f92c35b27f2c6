import { Builder, RECIPE_LABEL } from './build.mjs';
import { messageOf, SetupError } from './errors.mjs';
import { replaceFile } from './lock.mjs';
import { readIfThere } from './processes.mjs';
import { withProgress } from './progress.mjs';
import { loadRecipes } from './recipe.mjs';
import { statePaths } from './state.mjs';

// A machine without a registry must not wait: by then the engine has asked for the manifest or never will.
const PULL_ANSWER_MS = 10_000;
const PULL_IDLE_MS = 60_000;
const PROBE_MS = 60_000;
const PROBE_LABEL = 'org.kervyxa.setup-probe';

/**
 * @typedef {object} RuntimeBinding what a runtime name means on this machine
 * @property {string} imageId `sha256:…`
 * @property {string} recipeDigest `sha256:…` of the recipe it was made from
 * @property {'built' | 'pulled'} source
 * @property {string} engineId
 * @property {string} at ISO 8601 time of binding
 *
 * @typedef {Map<string, RuntimeBinding>} Runtimes by name, such as `kervyxa-runtime/node:22`
 * @typedef {import('./engine-api.mjs').Engine} Engine
 * @typedef {import('./recipe.mjs').LoadedRecipe} LoadedRecipe
 */

/**
 * The catalogue as last written; asks no engine.
 * @param {string} [file]
 * @returns {Runtimes}
 */
export function loadRuntimes(file = statePaths().catalogue) {
  return parseCatalogue(readIfThere(file) ?? '');
}

/**
 * @param {string} text
 * @returns {Runtimes} empty when the text is not a catalogue: it is rebuilt from the engine then
 */
export function parseCatalogue(text) {
  try {
    return new Map(
      Object.entries(JSON.parse(text).runtimes).filter(([, binding]) => isBinding(binding)),
    );
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return new Map();
    throw error;
  }
}

/**
 * @param {any} binding
 * @returns {binding is RuntimeBinding}
 */
function isBinding(binding) {
  const digest = /^sha256:[0-9a-f]{64}$/;
  return (
    digest.test(binding?.imageId) &&
    digest.test(binding.recipeDigest) &&
    ['built', 'pulled'].includes(binding.source)
  );
}

/**
 * Which runtimes are bound to an image that the engine still has, made from the recipe as it is now.
 * @param {Engine} engine
 * @returns {Promise<{ ready: Runtimes, missing: LoadedRecipe[] }>}
 */
export async function checkRuntimes(engine) {
  const catalogue = loadRuntimes();
  /** @type {Runtimes} */
  const ready = new Map();
  /** @type {LoadedRecipe[]} */
  const missing = [];
  for (const loaded of loadRecipes()) {
    const binding = catalogue.get(loaded.recipe.name);
    const current =
      binding?.recipeDigest === loaded.digest &&
      (await findImage(engine, binding.imageId)) !== null;
    if (binding !== undefined && current) ready.set(loaded.recipe.name, binding);
    else missing.push(loaded);
  }
  return { ready, missing };
}

/**
 * Brings every missing runtime into the engine: found there, pulled, or built. Hold the lock. The catalogue is
 * written after each, so that an interrupted run has not worked for nothing.
 * @param {Engine} engine
 * @param {import('./build.mjs').Options} options
 * @returns {Promise<Runtimes>}
 * @throws {SetupError}
 */
export async function makeRuntimes(engine, options) {
  const { catalogue, build } = statePaths();
  const { ready, missing } = await checkRuntimes(engine);
  if (missing.length === 0) return ready;
  const { ID: engineId } = await engine.readJson('/info');
  await removeProbes(engine);
  const builder = new Builder(engine, build, options);
  const registry = { answers: true };
  try {
    for (const loaded of missing) {
      const made =
        (await adopt(engine, loaded)) ??
        (await pull(engine, loaded, { registry, ...options })) ??
        (await buildImage(engine, loaded, builder));
      await probe(engine, loaded, made.imageId);
      ready.set(loaded.recipe.name, {
        ...made,
        recipeDigest: loaded.digest,
        engineId,
        at: new Date().toISOString(),
      });
      replaceFile(
        catalogue,
        `${JSON.stringify({ schemaVersion: 1, runtimes: Object.fromEntries(ready) }, null, 2)}\n`,
      );
    }
  } finally {
    builder.close();
  }
  return ready;
}

/**
 * @typedef {Pick<RuntimeBinding, 'imageId' | 'source'>} Made
 */

/**
 * What the engine already has: built here for another state folder, or pulled by somebody.
 * @param {Engine} engine
 * @param {LoadedRecipe} loaded
 * @returns {Promise<Made | null>}
 */
async function adopt(engine, { recipe, digest }) {
  const own = await findImage(engine, recipe.name);
  if (own?.Config?.Labels?.[RECIPE_LABEL] === digest) return { imageId: own.Id, source: 'built' };
  const official = await findImage(engine, withoutTag(recipe.official));
  if (official !== null) return bindOfficial(engine, recipe, official.Id);
  return null;
}

/**
 * @param {Engine} engine
 * @param {LoadedRecipe} loaded
 * @param {import('./build.mjs').Options & { registry: { answers: boolean } }} options
 * @returns {Promise<Made | null>} null when no registry has it
 */
async function pull(engine, { recipe }, { registry, ...options }) {
  if (!registry.answers) return null;
  const [repository, digest] = withoutTag(recipe.official).split('@');
  try {
    await withProgress(options, `pulling ${recipe.official}`, (advance) =>
      pullImage(engine, `/images/create?fromImage=${repository}&tag=${digest}`, {
        advance,
        signal: options.signal,
      }),
    );
  } catch (error) {
    options.signal?.throwIfAborted();
    registry.answers = false;
    options.log(`not to be had (${messageOf(error)}): the images are built here instead`);
    return null;
  }
  const image = await findImage(engine, withoutTag(recipe.official));
  return image === null ? null : bindOfficial(engine, recipe, image.Id);
}

/**
 * @param {Engine} engine
 * @param {string} path
 * @param {{ advance: (detail: string) => void, signal: AbortSignal | undefined }} options
 */
async function pullImage(engine, path, { advance, signal }) {
  const idle = new AbortController();
  const stop = () => idle.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  const arm = () =>
    setTimeout(
      () => idle.abort(new Error(`nothing arrived for ${PULL_IDLE_MS / 1_000} s`)),
      PULL_IDLE_MS,
    );
  let timer = arm();
  try {
    await engine.readLines(path, {
      answerMs: PULL_ANSWER_MS,
      signal: idle.signal,
      onLine: ({ id, status, progress }) => {
        clearTimeout(timer);
        timer = arm();
        advance([id, status, progress].filter(Boolean).join(' '));
      },
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

/**
 * @param {Engine} engine
 * @param {import('./recipe.mjs').Recipe} recipe
 * @param {string} imageId
 * @returns {Promise<Made>}
 */
async function bindOfficial(engine, recipe, imageId) {
  const [repository, tag] = recipe.name.split(':');
  await engine.readJson(`/images/${imageId}/tag?repo=${repository}&tag=${tag}`, { method: 'POST' });
  return { imageId, source: 'pulled' };
}

/**
 * @param {Engine} engine
 * @param {LoadedRecipe} loaded
 * @param {Builder} builder
 * @returns {Promise<Made>}
 */
async function buildImage(engine, loaded, builder) {
  await builder.build(loaded);
  const image = await findImage(engine, loaded.recipe.name);
  if (image !== null) return { imageId: image.Id, source: 'built' };
  throw unfit(loaded, 'the engine does not have it after loading it');
}

/**
 * Runs the recipe's probe in the image, as an unprivileged user without a network, as every contract's command runs.
 * @param {Engine} engine
 * @param {LoadedRecipe} loaded
 * @param {string} imageId
 * @throws {SetupError} SETUP_IMAGE_UNFIT, SETUP_ENGINE_REFUSED
 */
async function probe(engine, loaded, imageId) {
  const image = await findImage(engine, imageId);
  // A volume of the image would be writable disk that no limit covers (THREATS C06).
  if (Object.keys(image?.Config?.Volumes ?? {}).length > 0)
    throw unfit(loaded, 'it declares volumes');
  const { Id: id } = await engine.readJson('/containers/create', {
    method: 'POST',
    body: {
      Image: imageId,
      Entrypoint: ['/bin/sh', '-ec'],
      Cmd: [loaded.recipe.probe],
      Env: ['HOME=/tmp'],
      User: '65534:65534',
      WorkingDir: '/',
      NetworkDisabled: true,
      Labels: { [PROBE_LABEL]: '1' },
      HostConfig: {
        NetworkMode: 'none',
        CapDrop: ['ALL'],
        ReadonlyRootfs: true,
        Tmpfs: { '/tmp': 'size=64m' },
      },
    },
  });
  try {
    await engine.readJson(`/containers/${id}/start`, { method: 'POST' });
    const { StatusCode: status } = await engine.readJson(`/containers/${id}/wait`, {
      method: 'POST',
      answerMs: PROBE_MS,
    });
    if (status !== 0) {
      const { text } = await engine.readText(`/containers/${id}/logs?stdout=1&stderr=1&tail=5`);
      // eslint-disable-next-line no-control-regex -- each piece of a container's output has a binary header
      throw unfit(
        loaded,
        `its probe ended with status ${status}: ${text.replace(/[^\x20-\x7e]+/g, ' ').trim()}`,
      );
    }
  } finally {
    await engine.readText(`/containers/${id}?force=1&v=1`, { method: 'DELETE' });
  }
}

/** @param {Engine} engine */
async function removeProbes(engine) {
  const filters = encodeURIComponent(JSON.stringify({ label: [PROBE_LABEL] }));
  for (const { Id: id } of await engine.readJson(`/containers/json?all=1&filters=${filters}`)) {
    await engine.readText(`/containers/${id}?force=1&v=1`, { method: 'DELETE' });
  }
}

/**
 * @param {LoadedRecipe} loaded
 * @param {string} problem
 */
function unfit({ recipe }, problem) {
  return new SetupError('SETUP_IMAGE_UNFIT', {
    message: `the image for ${recipe.name} can’t be used: ${problem}`,
    fix: `remove it from the engine (DELETE /images/${recipe.name}, or docker rmi ${recipe.name}) and repeat the command`,
  });
}

/**
 * @param {Engine} engine
 * @param {string} reference
 * @returns {Promise<any>}
 */
function findImage(engine, reference) {
  return engine.findJson(`/images/${reference}/json`);
}

/** @param {string} reference `name:tag@sha256:…` */
function withoutTag(reference) {
  return reference.replace(/:[^:@]*@/, '@');
}
