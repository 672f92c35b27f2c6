import { messageOf, SetupError } from './errors.mjs';
import { withProgress } from './progress.mjs';

// A machine without a registry must not wait: by then the engine has the manifest, or never will.
const ANSWER_MS = 10_000;
const IDLE_MS = 60_000;

/**
 * @param {import('./engine-api.mjs').Engine} engine
 * @param {string} reference `name@sha256:…`
 * @param {import('./build.mjs').Options} options
 * @returns {Promise<boolean>} false when it is not to be had, which is normal without a registry
 */
export async function pullImage(engine, reference, options) {
  const [repository, digest] = reference.split('@');
  const path = `/images/create?fromImage=${repository}&tag=${digest}`;
  try {
    await withProgress(options, `pulling ${reference}`, (advance) =>
      followPull(engine, path, { advance, signal: options.signal }),
    );
    return true;
  } catch (error) {
    options.signal?.throwIfAborted();
    const reason = error instanceof SetupError ? error.cause : error;
    options.log(`not to be had (${messageOf(reason)}): the images are built here instead`);
    return false;
  }
}

/**
 * @param {import('./engine-api.mjs').Engine} engine
 * @param {string} path
 * @param {{ advance: (detail: string) => void, signal: AbortSignal | undefined }} options
 */
async function followPull(engine, path, { advance, signal }) {
  const idle = new AbortController();
  const stop = () => idle.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  const arm = () =>
    setTimeout(() => idle.abort(new Error(`nothing arrived for ${IDLE_MS / 1_000} s`)), IDLE_MS);
  let timer = arm();
  try {
    await engine.readLines(path, {
      answerMs: ANSWER_MS,
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
