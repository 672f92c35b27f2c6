import { existsSync, statfsSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname } from 'node:path';
import * as check from './checks.mjs';
import { findEngine } from './engine.mjs';
import { Engine } from './engine-api.mjs';
import { messageOf, SetupError } from './errors.mjs';
import { loadRecipes } from './recipe.mjs';
import { checkRuntimes } from './runtimes.mjs';
import { stateFolder } from './state.mjs';

/**
 * Looks at everything that a verification needs, changes nothing, and throws for nothing it finds.
 * @returns {Promise<check.Check[]>} in the order in which to put things right
 */
export async function diagnose() {
  return [
    check.checkNode(process.versions.node),
    check.checkCpus(cpus().length),
    ...(await guarded('state', async () => [checkDiskAt('state-disk', stateFolder())])),
    ...(await guarded('engine', checkFoundEngine)),
  ];
}

/** @returns {Promise<check.Check[]>} */
async function checkFoundEngine() {
  const found = await findEngine();
  if (found === null) {
    throw new SetupError('SETUP_ENGINE_MISSING', {
      message: 'none answers',
      fix: 'run npm run setup, or name an engine in DOCKER_HOST',
    });
  }
  const engine = new Engine(found.dockerHost);
  const info = await engine.readJson('/info');
  const version = await engine.readJson('/version');
  return [
    check.checkEngineVersion(info.ServerVersion, `${found.kind}: ${found.dockerHost}`),
    check.checkPlatform(info),
    check.checkRunc(runcVersion(version)),
    check.checkCgroup(info),
    check.checkStorage(info.Driver),
    check.checkSeccomp(info.SecurityOptions ?? []),
    check.checkMemory(info.MemTotal),
    // A remote engine's folder is not here to be measured.
    ...(existsSync(info.DockerRootDir) ? [checkDiskAt('engine-disk', info.DockerRootDir)] : []),
    ...(await guarded('images', () => checkImages(engine))),
  ];
}

/** @param {Engine} engine */
async function checkImages(engine) {
  const { ready } = await checkRuntimes(engine);
  return loadRecipes().map(({ recipe: { name } }) => check.checkImage(name, ready.get(name)));
}

/**
 * @param {any} version the engine's /version
 * @returns {string | null}
 */
function runcVersion(version) {
  const runc = version.Components?.find(
    (/** @type {any} */ component) => component.Name === 'runc',
  );
  const commit = String(runc?.Details?.GitCommit ?? '');
  // Debian states its full package version there; others a commit.
  return runc === undefined
    ? null
    : commit.startsWith(runc.Version)
      ? commit
      : String(runc.Version);
}

/**
 * @param {string} id
 * @param {string} folder need not exist yet
 */
function checkDiskAt(id, folder) {
  let existing = folder;
  while (!existsSync(existing)) existing = dirname(existing);
  const { bavail, bsize } = statfsSync(existing);
  return check.checkDisk(id, existing, bavail * bsize);
}

/**
 * @param {string} id
 * @param {() => Promise<check.Check[]>} look
 * @returns {Promise<check.Check[]>}
 */
async function guarded(id, look) {
  try {
    return await look();
  } catch (error) {
    const fix = error instanceof SetupError ? error.fix : 'run npm run setup and see what it says';
    return [
      check.toCheck(id, { status: 'fail', found: messageOf(error), expected: 'an answer', fix }),
    ];
  }
}
