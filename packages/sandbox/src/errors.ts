import { defineErrors } from '@kervyxa/core';

const EX_UNAVAILABLE = 4;
const EX_USAGE = 2;

const family = defineErrors({
  SANDBOX_ENGINE_UNAVAILABLE: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: EX_UNAVAILABLE,
    meaning: 'The container engine does not answer, or refuses work that it should do.',
  },
  SANDBOX_HOST_TOO_SMALL: {
    fault: 'infra',
    retryable: false,
    httpStatus: 503,
    exitCode: EX_UNAVAILABLE,
    meaning: 'The engine has fewer CPUs or less memory than the contract gives a run.',
  },
  SANDBOX_RUNTIME_UNAVAILABLE: {
    fault: 'infra',
    retryable: false,
    httpStatus: 503,
    exitCode: EX_UNAVAILABLE,
    meaning: 'The engine has no container runtime of the name that the operator chose.',
  },
  SANDBOX_IMAGE_UNAVAILABLE: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: EX_UNAVAILABLE,
    meaning: 'The image is not on the engine, or can not start a shell.',
  },
  SANDBOX_IMAGE_NOT_PINNED: {
    fault: 'caller',
    retryable: false,
    httpStatus: 400,
    exitCode: EX_USAGE,
    meaning: 'The image is named by something that can move, such as a tag.',
  },
  SANDBOX_IMAGE_UNFIT: {
    fault: 'caller',
    retryable: false,
    httpStatus: 400,
    exitCode: EX_USAGE,
    meaning:
      'The image declares a volume, is not for Linux, or has no command of its own where it needs one.',
  },
  SANDBOX_REQUEST_INVALID: {
    fault: 'caller',
    retryable: false,
    httpStatus: 400,
    exitCode: EX_USAGE,
    meaning: 'A command, limit or path can not be given to a container.',
  },
  SANDBOX_WORKSPACE_FAILED: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: EX_UNAVAILABLE,
    meaning: 'The tree could not be laid out for the run.',
  },
  SANDBOX_RUN_LOST: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: EX_UNAVAILABLE,
    meaning: 'The end of a run or a part of its output was not seen, so it decides nothing.',
  },
  SANDBOX_DISK_FULL: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: EX_UNAVAILABLE,
    meaning: "The engine's own disk is full.",
  },
  SANDBOX_CLEANUP_FAILED: {
    fault: 'infra',
    retryable: true,
    httpStatus: 500,
    exitCode: EX_UNAVAILABLE,
    meaning: 'A container or volume of a session could not be removed.',
  },
  SANDBOX_MISUSED: {
    fault: 'bug',
    retryable: false,
    httpStatus: 500,
    exitCode: EX_UNAVAILABLE,
    meaning: 'A session or run was used in an order that its port does not allow.',
  },
});

export type SandboxErrorCode = keyof typeof family.table;
export const SANDBOX_ERRORS = family.table;
export const sandboxError = family.create;

/** Of whoever calls: SANDBOX_MISUSED. */
export function misused(expected: string, got: string): Error {
  return sandboxError('SANDBOX_MISUSED', { message: `expected ${expected}, got ${got}` });
}
