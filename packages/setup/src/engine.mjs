import { existsSync } from 'node:fs';
import { Engine } from './engine-api.mjs';
import { SetupError } from './errors.mjs';
import { startOwnEngine } from './own-engine.mjs';
import { installPackages, missingPackages, whyNotInstallable } from './debian.mjs';
import { assertSocketsFit, statePaths } from './state.mjs';

// A socket that is there but silent is given this long; an engine that is up answers in a few milliseconds.
const ANSWER_MS = 5_000;
const ENGINE_PROGRAM = 'dockerd';

/**
 * @typedef {object} FoundEngine
 * @property {string} dockerHost `unix:///…` or `tcp://…`, for DOCKER_HOST or any client
 * @property {'env' | 'default' | 'own'} kind named by DOCKER_HOST, on a default socket, or started by us
 */

/**
 * The engine to use, if one answers: the one of DOCKER_HOST and no other where that is set; else the one on the
 * default socket or the rootless one; else our own.
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<FoundEngine | null>}
 * @throws {SetupError} SETUP_ENGINE_UNREACHABLE, SETUP_ENGINE_ADDRESS_INVALID, SETUP_STATE_UNUSABLE
 */
export async function findEngine(env = process.env) {
  const named = env['DOCKER_HOST'];
  if (named) return findNamed(named, env);
  for (const socket of defaultSockets(env)) {
    const dockerHost = `unix://${socket}`;
    if (existsSync(socket) && (await new Engine(dockerHost, env).silence(ANSWER_MS)) === null) {
      return { dockerHost, kind: 'default' };
    }
  }
  const { socket } = statePaths().engine;
  const dockerHost = `unix://${socket}`;
  if (existsSync(socket) && (await new Engine(dockerHost, env).silence(ANSWER_MS)) === null) {
    return { dockerHost, kind: 'own' };
  }
  return null;
}

/**
 * @param {string} dockerHost
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<FoundEngine>}
 */
async function findNamed(dockerHost, env) {
  const silence = await new Engine(dockerHost, env).silence(ANSWER_MS);
  if (silence === null) return { dockerHost, kind: 'env' };
  throw new SetupError('SETUP_ENGINE_UNREACHABLE', {
    message: `expected a Docker engine at DOCKER_HOST=${dockerHost}, got no answer: ${silence}`,
    fix: 'start that engine, give this user the right to its socket (group docker), or unset DOCKER_HOST to let kervyxa find or start one',
  });
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {string[]}
 */
function defaultSockets(env) {
  const runtime = env['XDG_RUNTIME_DIR'];
  return ['/var/run/docker.sock', ...(runtime ? [`${runtime}/docker.sock`] : [])];
}

/**
 * An engine that answers; where none does, installs one (asking first on a terminal) and starts it.
 * @param {import('./progress.mjs').Reporter & { interactive: boolean, signal?: AbortSignal | undefined }} options
 * @returns {Promise<FoundEngine>}
 * @throws {SetupError} SETUP_ENGINE_*, SETUP_PATH_TOO_LONG, SETUP_DECLINED, SETUP_INSTALL_FAILED
 */
export async function ensureEngine(options) {
  const found = await findEngine();
  if (found !== null) return found;
  const { engine } = statePaths();
  assertMayStartEngine();
  assertSocketsFit(engine);
  const missing = missingPackages([ENGINE_PROGRAM]);
  if (missing.length > 0) {
    await installPackages(missingPackages([ENGINE_PROGRAM, 'mmdebstrap']), {
      ...options,
      why: 'no Docker engine answers on this machine',
    });
    // Where systemd runs, installing the package has already started the system's engine.
    const started = await findEngine();
    if (started !== null) return started;
  }
  await startOwnEngine(engine, options);
  return { dockerHost: `unix://${engine.socket}`, kind: 'own' };
}

function assertMayStartEngine() {
  const obstacle =
    process.getuid?.() === 0 && missingPackages([ENGINE_PROGRAM]).length === 0
      ? null
      : whyNotInstallable();
  if (obstacle === null) return;
  const blocked = existsSync('/var/run/docker.sock');
  throw new SetupError('SETUP_ENGINE_MISSING', {
    message: `no Docker engine answers, and one can’t be set up here: ${obstacle}`,
    fix: [
      ...(blocked
        ? [
            '/var/run/docker.sock is there: start its engine, or give this user the right to it (group docker);',
          ]
        : []),
      'start a Docker engine and name it in DOCKER_HOST (for example DOCKER_HOST=unix:///var/run/docker.sock),',
      'or run kervyxa as root on Debian or Ubuntu, where it installs an engine of its own',
    ].join('\n       '),
  });
}
