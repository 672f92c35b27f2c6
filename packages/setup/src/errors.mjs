/**
 * Every way in which set-up can fail. Exit status 69: something that is needed can't be had here. 78: a setting is
 * wrong. 130: interrupted.
 */
export const SETUP_ERRORS = Object.freeze({
  SETUP_NODE_TOO_OLD: { exitCode: 69, meaning: 'No Node.js that is new enough to run kervyxa.' },
  SETUP_PACKAGES_FAILED: {
    exitCode: 69,
    meaning: 'The npm packages could not be installed, or the database client not be generated.',
  },
  SETUP_STATE_UNUSABLE: { exitCode: 78, meaning: 'The state folder can’t be used.' },
  SETUP_PATH_TOO_LONG: {
    exitCode: 78,
    meaning: 'The state folder’s path is too long for a socket.',
  },
  SETUP_ENGINE_ADDRESS_INVALID: { exitCode: 78, meaning: 'DOCKER_HOST is not an address.' },
  SETUP_ENGINE_UNREACHABLE: { exitCode: 69, meaning: 'The engine of DOCKER_HOST does not answer.' },
  SETUP_ENGINE_MISSING: { exitCode: 69, meaning: 'No Docker engine, and none can be set up here.' },
  SETUP_ENGINE_NOT_STARTED: {
    exitCode: 69,
    meaning: 'Our own Docker engine did not start or stop.',
  },
  SETUP_ENGINE_REFUSED: {
    exitCode: 69,
    meaning: 'The Docker engine refused or broke off a request.',
  },
  SETUP_DECLINED: { exitCode: 69, meaning: 'The answer to the question about installing was no.' },
  SETUP_INSTALL_FAILED: { exitCode: 69, meaning: 'Debian packages could not be installed.' },
  SETUP_RECIPE_INVALID: { exitCode: 78, meaning: 'A runtime recipe under docker/ is malformed.' },
  SETUP_BUILD_FAILED: { exitCode: 69, meaning: 'A runtime image could not be pulled or built.' },
  SETUP_IMAGE_UNFIT: {
    exitCode: 69,
    meaning: 'A runtime image does not run what its recipe promises.',
  },
  SETUP_INTERRUPTED: { exitCode: 130, meaning: 'Set-up was interrupted; the next run continues.' },
});

/** @typedef {keyof typeof SETUP_ERRORS} SetupCode */

/** A failure that a person can act on: what was expected and what came, and how to put it right. */
export class SetupError extends Error {
  /**
   * @param {SetupCode} code stable for ever
   * @param {{ message: string, fix: string, cause?: unknown }} options
   */
  constructor(code, { message, fix, cause }) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'SetupError';
    this.code = code;
    this.fix = fix;
    this.exitCode = SETUP_ERRORS[code].exitCode;
  }
}

/**
 * What a person sees of any error: no stack trace, and for one of ours the fix.
 * @param {unknown} error
 * @returns {{ text: string, exitCode: number }}
 */
export function explainError(error) {
  if (error instanceof SetupError) {
    return {
      text: `${error.code}: ${error.message}\n  fix: ${error.fix}`,
      exitCode: error.exitCode,
    };
  }
  return { text: `unexpected: ${messageOf(error)}`, exitCode: 70 };
}

/**
 * @param {unknown} error
 * @returns {string} one line, also for the empty-handed AggregateError of a refused connection
 */
export function messageOf(error) {
  if (!(error instanceof Error)) return String(error);
  const first = error instanceof AggregateError ? error.errors[0] : undefined;
  const text = error.message || (first instanceof Error ? first.message : '') || error.name;
  return text.split('\n', 1)[0] ?? '';
}

/**
 * @param {unknown} error
 * @returns {string | undefined} the operating system's code, such as ENOENT
 */
export function systemCode(error) {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
