import type { ReasonCode } from '@kervyxa/core';
import type { RunOutcome } from '@kervyxa/sandbox';

export interface Grade {
  readonly status: 'pass' | 'fail' | 'inconclusive';
  /** Null for a pass. */
  readonly reason: ReasonCode | null;
  readonly message: string | null;
  readonly metric: number | null;
}

export const PASS: Grade = { status: 'pass', reason: null, message: null, metric: null };

const SIGNALLED_ABOVE = 128;
const SIGKILLED = 137;

/** How a process ended against how it should have. */
export function gradeEnd(
  outcome: RunOutcome,
  expected: { readonly exitCode: number; readonly timeoutSeconds: number },
): Grade {
  const { exitCode } = outcome;
  if (outcome.timedOut)
    return fail(
      'TIME_LIMIT',
      `expected an end within ${expected.timeoutSeconds} s (timeoutSeconds), got none, also with nothing beside it`,
    );
  if (outcome.outputExceeded) {
    return fail('OUTPUT_LIMIT', 'expected output within environment.outputKB, got more');
  }
  // A child that was killed for memory does not fail a command that copes with it (BUG-20), but a contract that
  // expects 137 does not mean this.
  const killedForMemory = outcome.oomKilled && exitCode === SIGKILLED;
  if (exitCode === expected.exitCode && !killedForMemory) return PASS;
  const got = `expected exit status ${expected.exitCode}, got ${exitCode}`;
  if (outcome.oomKilled)
    return fail('MEMORY_LIMIT', `${got} after the kernel killed it at environment.memoryMB`);
  if (outcome.workspaceFull === true)
    return fail('DISK_LIMIT', `${got} with /workspace full (environment.workspaceMB)`);
  if (outcome.pidsLimitHit === true)
    return fail('PIDS_LIMIT', `${got} after a fork was refused at environment.pidsLimit`);
  if (exitCode > SIGNALLED_ABOVE)
    return fail('CRASHED', `${got}: killed by signal ${exitCode - SIGNALLED_ABOVE}`);
  return fail('EXIT_CODE_MISMATCH', got);
}

export function fail(reason: ReasonCode, message: string): Grade {
  return { status: 'fail', reason, message, metric: null };
}

export function inconclusive(reason: ReasonCode, message: string): Grade {
  return { status: 'inconclusive', reason, message, metric: null };
}
