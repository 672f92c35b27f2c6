import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf, SetupError } from './errors.mjs';
import { REPOSITORY } from './state.mjs';

// Part of every recipe's digest: raise it when the builder's own code changes what it builds.
const BUILDER_VERSION = 2;

/** Folder of the harness in every image. */
const HARNESS_TARGET = 'usr/local/lib/kervyxa';

/** Run by mmdebstrap inside the new system; its text is part of every recipe's digest. */
export const TIDY_SCRIPT = fileURLToPath(new URL('tidy-rootfs.sh', import.meta.url));

/**
 * @typedef {object} NpmFile a file or folder of an npm package that goes into the image
 * @property {string} package exactly `name@version`
 * @property {string} integrity `sha512-…` of the package's archive, as the registry states it
 * @property {'amd64' | 'arm64'} [architecture] only into images for it
 * @property {string} from path in the package, `.` for the whole of it
 * @property {string} to path in the image
 *
 * @typedef {object} Recipe `docker/<name>/runtime.json`
 * @property {string} name what contracts call it
 * @property {string} official the image to pull, `name:tag@sha256:…`
 * @property {string} probe shell command that must succeed in the image: what a contract may rely on
 * @property {{ suite: string, packages: string[] }} debian
 * @property {NpmFile[]} npm
 * @property {Record<string, string>} links path in the image → target
 * @property {NpmFile[]} harness as `npm`, for what the harness needs: it goes on pulled images too
 *
 * @typedef {object} HarnessFile a file of `docker/harness/`
 * @property {string} path in the image
 * @property {string} source on this machine
 * @property {string} sha256
 * @property {boolean} executable
 *
 * @typedef {object} LoadedRecipe
 * @property {Recipe} recipe
 * @property {string} baseDigest `sha256:…`, changes when a built image would, the harness left aside
 * @property {string} digest `sha256:…`, changes when the image would
 * @property {HarnessFile[]} harnessFiles
 */

/**
 * @param {string} [folder]
 * @returns {LoadedRecipe[]} in the order of their folders' names
 * @throws {SetupError} SETUP_RECIPE_INVALID
 */
export function loadRecipes(folder = join(REPOSITORY, 'docker')) {
  const tidy = readFileSync(TIDY_SCRIPT, 'utf8');
  const harnessFiles = readHarness(join(folder, 'harness'));
  return (
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'harness')
      .map((entry) => join(folder, entry.name, 'runtime.json'))
      // oxlint-disable-next-line unicorn/no-array-sort -- Node 18 has no toSorted
      .sort()
      .map((file) => {
        const recipe = parseRecipe(readFileSync(file, 'utf8'), file);
        const { harness, ...base } = recipe;
        const baseDigest = recipeDigest({ ...base, tidy });
        const contents = harnessFiles.map(({ path, sha256 }) => ({ path, sha256 }));
        const digest = recipeDigest({ baseDigest, harness, contents });
        return { recipe, baseDigest, digest, harnessFiles };
      })
  );
}

/**
 * @param {string} folder of the harness: everything in it but its tests and what Python leaves behind
 * @returns {HarnessFile[]}
 */
export function readHarness(folder) {
  return (
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((source) => ({ source, name: relative(folder, source).replaceAll('\\', '/') }))
      .filter(
        ({ name }) => !/(^|\/)(__pycache__\/|testing\/|test_[^/]*\.py$)|\.test\.[a-z]+$/.test(name),
      )
      // oxlint-disable-next-line unicorn/no-array-sort -- Node 18 has no toSorted
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ source, name }) => ({
        path: `${HARNESS_TARGET}/${name}`,
        source,
        sha256: createHash('sha256').update(readFileSync(source)).digest('hex'),
        executable: name.endsWith('.sh'),
      }))
  );
}

/**
 * @param {string} text
 * @param {string} file for the message
 * @returns {Recipe}
 * @throws {SetupError} SETUP_RECIPE_INVALID
 */
export function parseRecipe(text, file) {
  /** @param {string} problem */
  const refuse = (problem) =>
    new SetupError('SETUP_RECIPE_INVALID', {
      message: `${file}: ${problem}`,
      fix: 'correct the recipe, or get it back with git checkout',
    });
  /** @type {Recipe} */
  let recipe;
  try {
    recipe = JSON.parse(text);
  } catch (error) {
    throw refuse(messageOf(error));
  }
  const problem = recipeProblem(recipe);
  if (problem !== null) throw refuse(problem);
  return recipe;
}

/**
 * @param {any} recipe
 * @returns {string | null}
 */
function recipeProblem(recipe) {
  const checks = [
    [
      /^kervyxa-runtime\/[a-z0-9-]+:[a-z0-9.]+$/.test(recipe.name),
      'name is not kervyxa-runtime/NAME:TAG',
    ],
    [
      /^[a-z0-9./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/.test(recipe.official),
      'official is not NAME:TAG@sha256:DIGEST',
    ],
    [typeof recipe.probe === 'string' && recipe.probe !== '', 'probe is not a command'],
    [
      isWord(recipe.debian?.suite) && areWords(recipe.debian?.packages),
      'debian is not {suite, packages[]}',
    ],
    [
      Array.isArray(recipe.npm) && recipe.npm.every(isNpmFile),
      'npm is not a list of {package: name@version, integrity: sha512-…, from, to}',
    ],
    [
      Object.entries(recipe.links ?? 0)
        .flat()
        .every(isPath) && recipe.links,
      'links is not {path: target}',
    ],
    [
      Array.isArray(recipe.harness) &&
        recipe.harness.every(
          (/** @type {any} */ file) => isNpmFile(file) && file.to.startsWith(`${HARNESS_TARGET}/`),
        ),
      `harness is not a list as npm is, with each "to" in ${HARNESS_TARGET}/`,
    ],
  ];
  return String(checks.find(([holds]) => !holds)?.[1] ?? '') || null;
}

/** @param {any} file */
function isNpmFile(file) {
  return (
    /^(@[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+$/.test(file.package) &&
    /^sha512-[A-Za-z0-9+/]{86}==$/.test(file.integrity) &&
    isPath(file.from) &&
    isPath(file.to)
  );
}

/** @param {unknown} value */
function isPath(value) {
  return (
    typeof value === 'string' && value !== '' && !value.startsWith('/') && !value.startsWith('-')
  );
}

/** @param {unknown} value */
function isWord(value) {
  return typeof value === 'string' && /^[a-z0-9][a-z0-9.+-]*$/.test(value);
}

/** @param {unknown} value */
function areWords(value) {
  return Array.isArray(value) && value.every(isWord);
}

/**
 * @param {object} parts all that decides what is made
 * @returns {string} `sha256:…`; the order of keys makes no difference
 */
export function recipeDigest(parts) {
  const text = stableJson({ builder: BUILDER_VERSION, ...parts });
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/**
 * @param {unknown} value
 * @returns {string} JSON with sorted keys
 */
export function stableJson(value) {
  return JSON.stringify(value, (_, item) =>
    item !== null && typeof item === 'object' && !Array.isArray(item)
      ? // oxlint-disable-next-line unicorn/no-array-sort -- Node 18 has no toSorted
        Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}
