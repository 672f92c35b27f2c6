import { ensureEngine, findEngine } from './engine.mjs';
import { Engine } from './engine-api.mjs';
import { withLock } from './lock.mjs';
import { checkRuntimes, makeRuntimes } from './runtimes.mjs';
import { prepareStateFolder, stateFolder } from './state.mjs';

/**
 * Makes sure of a Docker engine and of every runtime image; quick and silent when both are there. npm packages are
 * not its business: see `ensurePackages`. Safe to call from several processes at once.
 * @param {Partial<import('./build.mjs').Options>} [options] `interactive`: may ask on the terminal; `signal` interrupts
 * @returns {Promise<{ dockerHost: string, runtimes: import('./runtimes.mjs').Runtimes }>}
 * @throws {import('./errors.mjs').SetupError} any SETUP_* code but those of npm packages
 */
export async function ensureReady({
  log = () => undefined,
  live,
  interactive = false,
  signal,
} = {}) {
  const found = await findEngine();
  if (found !== null) {
    const { ready, missing } = await checkRuntimes(new Engine(found.dockerHost));
    if (missing.length === 0) return { dockerHost: found.dockerHost, runtimes: ready };
  }
  const folder = stateFolder();
  prepareStateFolder(folder);
  return withLock(folder, { log, signal }, async () => {
    const options = { log, interactive, signal, ...(live && { live }) };
    const { dockerHost } = await ensureEngine(options);
    const runtimes = await makeRuntimes(new Engine(dockerHost), options);
    return { dockerHost, runtimes };
  });
}
