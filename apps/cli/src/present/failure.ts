import { isAppError, toPrintable } from '@kervyxa/core';
import type { ErrorTraits } from '@kervyxa/core';
import type { Host } from '../host.ts';
import { cliErrors } from '../errors.ts';

/** What is known of an error, whatever its class. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly fix: string | undefined;
  readonly fault: ErrorTraits['fault'];
  readonly exitCode: number;
}

/**
 * Shows an error as one line `error CODE: message`, a second one `fix: …` where there is a fix, and answers the exit
 * code. The stack is shown with KERVYXA_DEBUG=1 only.
 */
export function presentFailure(error: unknown, host: Pick<Host, 'stderr' | 'env'>): Failure {
  const { stderr, env } = host;
  const failure = toFailure(error);
  stderr.write(`${stderr.colors.red('error')} ${failure.code}: ${toPrintable(failure.message)}\n`);
  if (failure.fix !== undefined) {
    stderr.write(`${stderr.colors.bold('fix:')} ${toPrintable(failure.fix)}\n`);
  }
  if (env['KERVYXA_DEBUG'] === '1') stderr.write(`${toStack(error)}\n`);
  return failure;
}

function toFailure(error: unknown): Failure {
  if (isAppError(error)) {
    const { code, message, fix, traits } = error;
    return { code, message, fix, fault: traits.fault, exitCode: traits.exitCode };
  }
  const message = error instanceof Error ? error.message : String(error);
  return {
    code: 'CLI_INTERNAL',
    message: message === '' ? 'an error without a message' : message,
    fix: 'Run it again with KERVYXA_DEBUG=1 for the stack, and report it: this is a defect.',
    fault: cliErrors.table.CLI_INTERNAL.fault,
    exitCode: cliErrors.table.CLI_INTERNAL.exitCode,
  };
}

function toStack(error: unknown): string {
  const stacks: string[] = [];
  for (let at: unknown = error; at instanceof Error; at = at.cause) stacks.push(at.stack ?? '');
  return stacks.join('\ncaused by: ');
}
