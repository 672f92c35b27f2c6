import { defineErrors } from '@kervyxa/core';

const { table, create } = defineErrors({
  INTAKE_URL_REFUSED: {
    fault: 'caller',
    retryable: false,
    httpStatus: 422,
    exitCode: 2,
    meaning: 'The repository URL is not a public https URL, or its host has a non-public address.',
  },
  INTAKE_BASE_UNAVAILABLE: {
    fault: 'caller',
    retryable: true,
    httpStatus: 422,
    exitCode: 2,
    meaning: "The contract's base commit can't be had from the repository it names.",
  },
  INTAKE_GIT_UNAVAILABLE: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: 4,
    meaning: 'git, or the shell and timeout programs that guard it, could not be started.',
  },
  INTAKE_DISK_FULL: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: 4,
    meaning: 'The folder of fetched repositories has no room left.',
  },
  INTAKE_STORE_DAMAGED: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: 4,
    meaning: 'A fetched repository that was complete can no longer be read; it is fetched again.',
  },
  INTAKE_CAPTURE_DAMAGED: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: 4,
    meaning: 'A kept capture is not the whole capture of its commit, or its base is not here.',
  },
  INTAKE_CAPTURE_TOO_LARGE: {
    fault: 'candidate',
    retryable: false,
    httpStatus: 422,
    exitCode: 1,
    meaning: 'A fetched commit takes more bytes or time to capture than are allowed.',
  },
  INTAKE_PACKAGE_UNREADABLE: {
    fault: 'caller',
    retryable: false,
    httpStatus: 422,
    exitCode: 2,
    meaning:
      "The hidden package or dependency bundle, a folder or a plain tar archive, can't be read.",
  },
  INTAKE_PACKAGE_ENTRY_REFUSED: {
    fault: 'caller',
    retryable: false,
    httpStatus: 422,
    exitCode: 2,
    meaning:
      'The hidden package or dependency bundle holds something other than regular files and folders.',
  },
  INTAKE_PACKAGE_TOO_LARGE: {
    fault: 'caller',
    retryable: false,
    httpStatus: 422,
    exitCode: 2,
    meaning: 'The hidden package or dependency bundle has more entries or bytes than are allowed.',
  },
  INTAKE_PACKAGE_NOT_CANONICAL: {
    fault: 'caller',
    retryable: false,
    httpStatus: 422,
    exitCode: 2,
    meaning: 'A large package or bundle is another archive than kervyxa itself would write.',
  },
});

export type IntakeErrorCode = keyof typeof table;
export const INTAKE_ERRORS = table;
export const createIntakeError = create;
