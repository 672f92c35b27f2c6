const LIVE_EVERY_MS = 250;
const LINE_EVERY_MS = 15_000;

/**
 * @typedef {object} Reporter
 * @property {(line: string) => void} log one finished line
 * @property {((line: string) => void) | undefined} [live] replaces the unfinished line of a terminal; '' clears it
 */

/**
 * Writes to a stream: on a terminal with a line that changes in place, elsewhere plain lines.
 * @param {NodeJS.WriteStream} stream
 * @returns {Reporter}
 */
export function createReporter(stream) {
  if (!stream.isTTY) return { log: (line) => void stream.write(`${line}\n`) };
  // A terminal without a size says 0.
  const width = () => (stream.columns || 80) - 1;
  return {
    log: (line) => void stream.write(`\r\u001b[K${line}\n`),
    live: (line) => void stream.write(`\r\u001b[K${line.slice(0, width())}`),
  };
}

/**
 * Shows what is being done, how far it is and for how long, until `work` ends.
 * @template T
 * @param {Reporter} reporter
 * @param {string} title
 * @param {(advance: (detail: string) => void) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withProgress(reporter, title, work) {
  const { log, live } = reporter;
  const startedMs = performance.now();
  let detail = '';
  const describe = () => `${title}: ${detail === '' ? '' : `${detail}, `}${seconds(startedMs)}`;
  (live ?? log)(`${title} …`);
  const timer = setInterval(() => (live ?? log)(describe()), live ? LIVE_EVERY_MS : LINE_EVERY_MS);
  try {
    const result = await work((text) => {
      detail = text;
    });
    log(`${title}: done in ${seconds(startedMs)}`);
    return result;
  } finally {
    clearInterval(timer);
    live?.('');
  }
}

/** @param {number} startedMs */
function seconds(startedMs) {
  const elapsed = (performance.now() - startedMs) / 1_000;
  return `${elapsed.toFixed(elapsed < 10 ? 1 : 0)} s`;
}

/** @param {number} bytes */
export function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
