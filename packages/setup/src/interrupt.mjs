import { SetupError } from './errors.mjs';

const NAMES = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * Runs `work` with a signal that Ctrl-C or a request to end aborts, so that children are ended and nothing is left
 * half done. A second one ends the program at once; the next run repairs what that leaves.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} work
 * @returns {Promise<T>}
 * @throws {SetupError} SETUP_INTERRUPTED
 */
export async function interruptible(work) {
  const controller = new AbortController();
  /** @param {NodeJS.Signals} name */
  const stop = (name) => {
    for (const other of NAMES) process.off(other, stop);
    controller.abort(
      new SetupError('SETUP_INTERRUPTED', {
        message: `set-up was interrupted by ${name}`,
        fix: 'repeat the command: it goes on where this one stopped',
      }),
    );
  };
  for (const name of NAMES) process.on(name, stop);
  try {
    return await work(controller.signal);
  } catch (error) {
    // What was aborted may have failed in a way of its own, such as AbortError.
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    for (const name of NAMES) process.off(name, stop);
  }
}
