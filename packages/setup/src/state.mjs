import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf, SetupError } from './errors.mjs';

/** The root of the repository that this file is part of. */
export const REPOSITORY = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');

// sun_path of AF_UNIX holds 108 bytes, the closing zero included.
const SOCKET_PATH_BYTES_MAX = 107;

/**
 * Where everything that outlives a run is kept: our own engine and its images, the runtime catalogue, the lock.
 * `KERVYXA_HOME`, else /var/lib/kervyxa for root, else $XDG_DATA_HOME/kervyxa. Never inside the repository.
 * @param {NodeJS.ProcessEnv} [env]
 * @param {number | undefined} [uid]
 * @returns {string} an absolute path; it need not exist
 * @throws {SetupError} SETUP_STATE_UNUSABLE
 */
export function stateFolder(env = process.env, uid = process.getuid?.()) {
  const folder = chooseFolder(env, uid);
  if (!isInside(REPOSITORY, folder)) return folder;
  throw new SetupError('SETUP_STATE_UNUSABLE', {
    message: `expected a state folder outside the repository, got ${folder}`,
    fix: 'set KERVYXA_HOME to a folder elsewhere',
  });
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {number | undefined} uid
 */
function chooseFolder(env, uid) {
  if (env['KERVYXA_HOME']) return resolve(env['KERVYXA_HOME']);
  if (uid === 0) return '/var/lib/kervyxa';
  const data = env['XDG_DATA_HOME'];
  // The XDG specification says to ignore a relative path.
  return join(data && isAbsolute(data) ? data : join(homedir(), '.local/share'), 'kervyxa');
}

/**
 * @param {string} parent
 * @param {string} child
 */
function isInside(parent, child) {
  const way = relative(parent, child);
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way));
}

/**
 * @typedef {object} StatePaths
 * @property {string} folder
 * @property {string} catalogue runtime name → image
 * @property {string} build temporary folders of builds; belongs to the holder of the lock
 * @property {string} group which processes work for the holder of the lock
 * @property {EnginePaths} engine
 *
 * @typedef {object} EnginePaths
 * @property {string} folder
 * @property {string} data images and containers
 * @property {string} exec run-time state of dockerd and containerd
 * @property {string} socket
 * @property {string} pidFile
 * @property {string} log
 */

/**
 * @param {string} [folder]
 * @returns {StatePaths}
 */
export function statePaths(folder = stateFolder()) {
  const engine = join(folder, 'engine');
  return {
    folder,
    catalogue: join(folder, 'runtimes.json'),
    build: join(folder, 'build'),
    group: join(folder, 'process-group'),
    engine: {
      folder: engine,
      data: join(engine, 'data'),
      exec: join(engine, 'exec'),
      socket: join(engine, 'docker.sock'),
      pidFile: join(engine, 'dockerd.pid'),
      log: join(engine, 'dockerd.log'),
    },
  };
}

/**
 * Makes the state folder if need be.
 * @param {string} folder
 * @throws {SetupError} SETUP_STATE_UNUSABLE
 */
export function prepareStateFolder(folder) {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new SetupError('SETUP_STATE_UNUSABLE', {
      message: `expected a state folder that this user can write, got ${folder}: ${messageOf(error)}`,
      fix: 'set KERVYXA_HOME to a folder that this user can write',
      cause: error,
    });
  }
}

/**
 * With the parents that are missing, one by one: Node's own way tries for ever where a parent that is there refuses to
 * hold any, as /proc does.
 * @param {string} folder
 */
function makeFolder(folder) {
  if (isFolder(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o755 });
  } catch (error) {
    // Another program may have made it meanwhile.
    if (!isFolder(folder)) throw error;
  }
}

/** @param {string} path */
function isFolder(path) {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * dockerd and its containerd put sockets below our folder; a path that doesn't fit fails late and obscurely there.
 * @param {EnginePaths} engine
 * @throws {SetupError} SETUP_PATH_TOO_LONG
 */
export function assertSocketsFit(engine) {
  const longest = join(engine.exec, 'containerd/containerd-debug.sock');
  const excess = Buffer.byteLength(longest) - SOCKET_PATH_BYTES_MAX;
  if (excess <= 0) return;
  const folder = dirname(engine.folder);
  throw new SetupError('SETUP_PATH_TOO_LONG', {
    message: `expected a state folder of at most ${Buffer.byteLength(folder) - excess} bytes (a socket's path holds ${SOCKET_PATH_BYTES_MAX}), got ${Buffer.byteLength(folder)}: ${folder}`,
    fix: 'set KERVYXA_HOME to a shorter path',
  });
}
