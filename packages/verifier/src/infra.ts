import { type InfraReason, isAppError } from '@kervyxa/core';
import type { Reason } from './result.ts';

/** Which of the published reasons an error of the ports' stands for; codes not listed are INTERNAL. */
const REASON_OF_CODE: Readonly<Record<string, InfraReason>> = {
  SANDBOX_ENGINE_UNAVAILABLE: 'ENGINE_UNAVAILABLE',
  SANDBOX_HOST_TOO_SMALL: 'ENGINE_UNAVAILABLE',
  SANDBOX_RUNTIME_UNAVAILABLE: 'ENGINE_UNAVAILABLE',
  SANDBOX_IMAGE_UNAVAILABLE: 'IMAGE_UNAVAILABLE',
  SANDBOX_RUN_LOST: 'WORKER_LOST',
  SANDBOX_DISK_FULL: 'HOST_DISK_FULL',
  INTAKE_DISK_FULL: 'HOST_DISK_FULL',
  CHECKER_RUNTIME_UNBOUND: 'IMAGE_UNAVAILABLE',
  CHECKER_INPUTS_CHANGED: 'INPUTS_CHANGED',
  VERIFIER_INPUTS_CHANGED: 'INPUTS_CHANGED',
};

/** Which reason of ours an error stands for. */
export function infraReasonOf(error: unknown): InfraReason {
  return (isAppError(error) ? REASON_OF_CODE[error.code] : undefined) ?? 'INTERNAL';
}

/**
 * What stopped us, as a reason of ours. An error that is the caller's to mend, and an abort, are thrown on: they are
 * no verdict. After an abort only a container that is left is worth more words than the abort itself.
 */
export function toInfraReason(error: unknown, subject: string | null, signal: AbortSignal): Reason {
  const isLeftover = isAppError(error) && error.code === 'SANDBOX_CLEANUP_FAILED';
  if (signal.aborted) throw isLeftover ? error : signal.reason;
  if (isAppError(error) && error.traits.fault === 'caller') throw error;
  const code = infraReasonOf(error);
  const message = error instanceof Error ? error.message : String(error);
  return { code, subject, message: isAppError(error) ? `${error.code}: ${message}` : message };
}
