import { defineErrors } from '@kervyxa/core';

const USAGE = { fault: 'caller', retryable: false, httpStatus: 400, exitCode: 2 } as const;

/** The command line's own errors; those of the packages pass through with their codes. */
const family = defineErrors({
  CLI_USAGE_INVALID: { ...USAGE, meaning: 'An unknown command or option, or one is missing.' },
  CLI_COMMIT_INVALID: { ...USAGE, meaning: 'The commit is not a full 40-hex SHA.' },
  CLI_GIT_ALLOW_INVALID: {
    ...USAGE,
    meaning: 'KERVYXA_GIT_ALLOW holds something that is no origin.',
  },
  CLI_SETTING_INVALID: {
    ...USAGE,
    meaning: 'A setting in the environment is malformed, or lacks another one.',
  },
  CLI_DATABASE_URL_MISSING: {
    ...USAGE,
    meaning: 'The command shares a database with others, and DATABASE_URL does not name it.',
  },
  CLI_LISTEN_FAILED: {
    fault: 'infra',
    retryable: true,
    httpStatus: 500,
    exitCode: 4,
    meaning: 'The address to listen on is in use, not of this machine, or not allowed.',
  },
  CLI_FILE_UNREADABLE: { ...USAGE, meaning: 'A named file or standard input can not be read.' },
  CLI_CONTRACT_REFUSED: {
    ...USAGE,
    meaning: 'The contract has findings that approval refuses, so nothing was run.',
  },
  CLI_PACKAGE_MISSING: {
    ...USAGE,
    meaning:
      'What a contract runs with, a hidden or checker package or a dependency bundle, was not given.',
  },
  CLI_CHECKER_REFUSED: {
    ...USAGE,
    meaning: 'The folder of a checker package has findings that lint refuses, so nothing was run.',
  },
  CLI_FOLDER_REFUSED: {
    ...USAGE,
    meaning: 'The folder for a new checker package is a file or a link, or holds something.',
  },
  CLI_FOLDER_UNWRITABLE: {
    fault: 'infra',
    retryable: true,
    httpStatus: 500,
    exitCode: 4,
    meaning: 'A file of a checker package could not be written.',
  },
  CLI_EVIDENCE_FOLDER_REFUSED: {
    ...USAGE,
    meaning:
      'The folder for evidence or a report is a file or a link, or holds what is not from an earlier run.',
  },
  CLI_EVIDENCE_UNWRITABLE: {
    fault: 'infra',
    retryable: true,
    httpStatus: 500,
    exitCode: 4,
    meaning: 'Evidence or a report could not be written, be it before the run or after it.',
  },
  CLI_OUTPUT_REFUSED: {
    ...USAGE,
    meaning:
      'What -o names can be no new file: a folder, or in the packed folder or in one that is not there.',
  },
  CLI_OUTPUT_UNWRITABLE: {
    fault: 'infra',
    retryable: true,
    httpStatus: 500,
    exitCode: 4,
    meaning: 'The archive could not be written where -o says.',
  },
  CLI_KEY_UNUSABLE: {
    fault: 'infra',
    retryable: false,
    httpStatus: 500,
    exitCode: 4,
    meaning: 'The key that signs attestations can not be made or read.',
  },
  CLI_WORKER_KEY_UNKNOWN: {
    fault: 'caller',
    retryable: false,
    httpStatus: 404,
    exitCode: 2,
    meaning: 'No worker has a key in use with this id.',
  },
  CLI_API_UNREACHABLE: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: 4,
    meaning: 'The API that a command asks does not answer at its address.',
  },
  CLI_API_REFUSED: {
    ...USAGE,
    meaning: 'The API that a command asks has refused it; the message has its own code.',
  },
  CLI_INTERNAL: {
    fault: 'bug',
    retryable: false,
    httpStatus: 500,
    exitCode: 70,
    meaning: 'A defect of this program.',
  },
});

export const CLI_ERRORS = family.table;
export const cliError = family.create;
