import { isAppError, toPrintable } from '@kervyxa/core';
import type { ErrorTraits } from '@kervyxa/core';
import { SetupError } from '@kervyxa/setup';
import { CLI_ERRORS } from '../errors.ts';
import type { Host } from '../host.ts';
import { wrap } from './text.ts';

/** EX_CONFIG of sysexits.h: what set-up answers for a wrong setting. */
const EXIT_CONFIG = 78;

/** What is known of an error, whatever its class. */
export interface Failure {
  readonly code: string;
  /** Printable, as is the fix. */
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
  // Programs get each on a line of its own; people get lines that fit.
  const lay = (text: string) => (stderr.isTerminal ? wrap(text, stderr.columns) : text);
  stderr.write(`${lay(`${stderr.colors.red('error')} ${failure.code}: ${failure.message}`)}\n`);
  if (failure.fix !== undefined) {
    stderr.write(`${lay(`${stderr.colors.bold('fix:')} ${failure.fix}`)}\n`);
  }
  if (env['KERVYXA_DEBUG'] === '1') stderr.write(`${toStack(error)}\n`);
  return failure;
}

/** What an error has to say, to be shown in a sentence or a line of its own. */
export function toFailure(error: unknown): Failure {
  if (isAppError(error)) {
    const { code, traits } = error;
    const fix = error.fix === undefined ? undefined : toPrintable(error.fix);
    return { ...traits, code, message: toPrintable(error.message), fix };
  }
  if (error instanceof SetupError) {
    const { code, exitCode } = error;
    const fault = exitCode === EXIT_CONFIG ? 'caller' : 'infra';
    return { code, exitCode, fault, message: toLines(error.message), fix: toLines(error.fix) };
  }
  const message = error instanceof Error ? error.message : String(error);
  return {
    ...CLI_ERRORS.CLI_INTERNAL,
    code: 'CLI_INTERNAL',
    message: message === '' ? 'an error without a message' : toPrintable(message),
    fix: 'Run it again with KERVYXA_DEBUG=1 for the stack, and report it: this is a defect.',
  };
}

/** Set-up writes lines of its own, such as the end of the engine's log. */
function toLines(text: string): string {
  return text
    .split('\n')
    .map((line) => toPrintable(line))
    .join('\n');
}

function toStack(error: unknown): string {
  const stacks: string[] = [];
  for (let at: unknown = error; at instanceof Error; at = at.cause) stacks.push(at.stack ?? '');
  return stacks.join('\ncaused by: ');
}
