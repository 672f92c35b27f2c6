import { type AppError, isAppError, toPrintable } from '@kervyxa/core';
import { sandboxError, type SandboxErrorCode } from '../errors.ts';

/** What the engine or its socket said; anything else of an error is not looked at. */
interface EngineFailure {
  readonly statusCode: number | null;
  readonly socketCode: string | null;
  readonly text: string;
}

const ENGINE_FIX = 'See that the container engine runs and answers (kervyxa doctor).';

/** The HTTP status that the engine refused with; null where it did not answer. */
export function statusOf(error: unknown): number | null {
  return toFailure(error).statusCode;
}

/** Turns what an engine call threw into an error of ours. The only place that reads an engine's texts. */
export function toEngineError(call: string, error: unknown): AppError {
  if (isAppError(error)) return error;
  const failure = toFailure(error);
  const code = toCode(failure);
  const answer = failure.statusCode === null ? failure.socketCode : `HTTP ${failure.statusCode}`;
  return sandboxError(code, {
    message: `expected the engine to ${call}, got ${answer ?? 'an error'}: ${failure.text}`,
    fix: code === 'SANDBOX_DISK_FULL' ? "Free space on the engine's disk." : ENGINE_FIX,
    cause: error,
    details: { statusCode: failure.statusCode },
  });
}

/** The engine answered and would not; an engine that is gone has no status. */
export function isEngineRefusal(error: unknown): boolean {
  return (
    isAppError(error) &&
    error.code === 'SANDBOX_ENGINE_UNAVAILABLE' &&
    typeof error.details['statusCode'] === 'number'
  );
}

function toCode({ statusCode, socketCode, text }: EngineFailure): SandboxErrorCode {
  // The engine has no status of its own for a full disk.
  if (socketCode === 'ENOSPC' || text.includes('no space left on device')) {
    return 'SANDBOX_DISK_FULL';
  }
  // A container that we made and that is not there any more was removed by somebody else.
  if (statusCode === 404 || statusCode === 409) return 'SANDBOX_RUN_LOST';
  return 'SANDBOX_ENGINE_UNAVAILABLE';
}

function toFailure(error: unknown): EngineFailure {
  const fields: { statusCode?: unknown; code?: unknown } =
    typeof error === 'object' && error !== null ? error : {};
  const text = error instanceof Error ? error.message.trim() : String(error);
  return {
    statusCode: typeof fields.statusCode === 'number' ? fields.statusCode : null,
    socketCode: typeof fields.code === 'string' ? fields.code : null,
    text: toPrintable(text, 500),
  };
}
