import { defineErrors } from '@kervyxa/core';

const USAGE = { fault: 'caller', retryable: false, httpStatus: 422, exitCode: 2 } as const;
const INFRA = { fault: 'infra', retryable: true, httpStatus: 503, exitCode: 4 } as const;

const { table, create } = defineErrors({
  DEPS_LOCKFILE_INVALID: {
    ...USAGE,
    meaning: 'The file is no package-lock.json of lockfileVersion 2 or 3.',
  },
  DEPS_REQUIREMENTS_INVALID: {
    ...USAGE,
    meaning: 'A line of the requirements is not one version of one package with its hashes.',
  },
  DEPS_PACKAGE_UNPINNED: {
    ...USAGE,
    meaning: 'The lock file gives no integrity for a package, so it could be anything.',
  },
  DEPS_SOURCE_REFUSED: {
    ...USAGE,
    meaning: 'A package comes from git or from a local file instead of a registry.',
  },
  DEPS_NOT_FOUND: {
    ...USAGE,
    meaning: 'The registry or index has no such package, version or file.',
  },
  DEPS_INTEGRITY_MISMATCH: {
    ...USAGE,
    meaning: 'The registry or index serves other bytes than the lock file or requirements name.',
  },
  DEPS_TOO_LARGE: {
    ...USAGE,
    meaning:
      'The packages, or what is told about one, have more entries or bytes than are allowed.',
  },
  DEPS_REGISTRY_REFUSED: {
    ...USAGE,
    meaning: 'The registry or index wants other credentials.',
  },
  DEPS_REGISTRY_UNAVAILABLE: {
    ...INFRA,
    meaning: 'The registry or index does not answer, or answers with trouble of its own.',
  },
  DEPS_NPM_UNAVAILABLE: {
    ...INFRA,
    meaning: 'npm could not be asked for its configuration.',
  },
  DEPS_INDEX_UNKNOWN: {
    ...USAGE,
    meaning: 'PIP_INDEX_URL does not name the index that the Python packages come from.',
  },
  DEPS_STORAGE_FAILED: {
    ...INFRA,
    meaning: 'npm’s cache or the folder of temporary files can not be used, or the disk is full.',
  },
});

export type DepsErrorCode = keyof typeof table;
export const DEPS_ERRORS = table;
export const depsError = create;
