import { Builder } from './build.mjs';
import { withoutTopLayer } from './layers.mjs';
import { replaceFile } from './lock.mjs';
import { probeImage, removeProbes, unfit } from './probe.mjs';
import { endNotedGroup } from './process-group.mjs';
import { readIfThere } from './processes.mjs';
import { pullImage } from './pull.mjs';
import { loadRecipes } from './recipe.mjs';
import { statePaths } from './state.mjs';

const LABELS = {
  recipe: 'org.kervyxa.recipe',
  base: 'org.kervyxa.base',
  source: 'org.kervyxa.source',
};

/**
 * @typedef {object} RuntimeBinding what a runtime name means on this machine
 * @property {string} imageId `sha256:…`
 * @property {string} recipeDigest `sha256:…` of the recipe it was made from
 * @property {'built' | 'pulled'} source
 * @property {string} engineId
 * @property {string} at ISO 8601 time of binding
 *
 * @typedef {Map<string, RuntimeBinding>} Runtimes by name, such as `kervyxa-runtime/node:22`
 * @typedef {Pick<RuntimeBinding, 'imageId' | 'source'>} Made
 * @typedef {{ parts: import('./layers.mjs').ImageParts, source: RuntimeBinding['source'] }} Base
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
 * @returns {Runtimes} without what is no binding; empty when the text is no catalogue, for it can be made again
 */
export function parseCatalogue(text) {
  try {
    const entries = Object.entries(JSON.parse(text).runtimes);
    return new Map(entries.filter(([, binding]) => isBinding(binding)));
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
    const isCurrent =
      binding?.recipeDigest === loaded.digest &&
      (await findImage(engine, binding.imageId)) !== null;
    if (binding !== undefined && isCurrent) ready.set(loaded.recipe.name, binding);
    else missing.push(loaded);
  }
  return { ready, missing };
}

/**
 * Brings every missing runtime into the engine: found there, pulled, or built. Hold the lock. The catalogue is
 * written after each, so that an interrupted run has not worked for nothing. Images of older recipes stay: open
 * contracts may have frozen them.
 * @param {Engine} engine
 * @param {import('./build.mjs').Options} options
 * @returns {Promise<Runtimes>}
 * @throws {import('./errors.mjs').SetupError}
 */
export async function makeRuntimes(engine, options) {
  const paths = statePaths();
  const { ready, missing } = await checkRuntimes(engine);
  if (missing.length === 0) return ready;
  await endNotedGroup(paths.group);
  const { ID: engineId } = await engine.readJson('/info');
  await removeProbes(engine);
  const builder = new Builder(engine, paths, options);
  let registryAnswers = true;
  try {
    for (const { recipe, digest, baseDigest, harnessFiles } of missing) {
      let made = await findMade(engine, { recipe, digest });
      if (made === null) {
        const loaded = { recipe, digest, baseDigest, harnessFiles };
        const found = await findBase(engine, loaded, builder);
        if (found === null && registryAnswers) {
          registryAnswers = await pullImage(engine, withoutTag(recipe.official), options);
        }
        const { parts, source } =
          found ??
          (await findOfficial(engine, recipe, builder)) ??
          /** @type {Base} */ ({ parts: await builder.build(loaded), source: 'built' });
        await builder.load(loaded, parts, {
          [LABELS.recipe]: digest,
          [LABELS.base]: baseDigest,
          [LABELS.source]: source,
        });
        made = await findMade(engine, loaded);
      }
      if (made === null) throw unfit(recipe, 'the engine does not have it after loading it');
      await probeImage(engine, recipe, made.imageId);
      const at = new Date().toISOString();
      ready.set(recipe.name, { ...made, recipeDigest: digest, engineId, at });
      const content = { schemaVersion: 1, runtimes: Object.fromEntries(ready) };
      replaceFile(paths.catalogue, `${JSON.stringify(content, null, 2)}\n`);
    }
  } finally {
    builder.close();
  }
  return ready;
}

/**
 * What the engine has: made just now, or for another state folder.
 * @param {Engine} engine
 * @param {Pick<LoadedRecipe, 'recipe' | 'digest'>} loaded
 * @returns {Promise<Made | null>}
 */
async function findMade(engine, { recipe, digest }) {
  const image = await findImage(engine, recipe.name);
  const labels = image?.Config?.Labels ?? {};
  if (labels[LABELS.recipe] !== digest) return null;
  return { imageId: image.Id, source: labels[LABELS.source] };
}

/**
 * What the harness goes on, where the engine has it: the image of an older harness, or the official one.
 * @param {Engine} engine
 * @param {LoadedRecipe} loaded
 * @param {Builder} builder
 * @returns {Promise<Base | null>}
 */
async function findBase(engine, { recipe, baseDigest }, builder) {
  const image = await findImage(engine, recipe.name);
  const labels = image?.Config?.Labels ?? {};
  if (labels[LABELS.base] !== baseDigest) return findOfficial(engine, recipe, builder);
  const parts = withoutTopLayer(await builder.export(image.Id));
  return { parts, source: labels[LABELS.source] };
}

/**
 * @param {Engine} engine
 * @param {import('./recipe.mjs').Recipe} recipe
 * @param {Builder} builder
 * @returns {Promise<Base | null>}
 */
async function findOfficial(engine, { official }, builder) {
  const image = await findImage(engine, withoutTag(official));
  return image === null ? null : { parts: await builder.export(image.Id), source: 'pulled' };
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
export function withoutTag(reference) {
  return reference.replace(/:[^:@]*@/, '@');
}
