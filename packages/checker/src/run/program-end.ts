import { toPrintable } from '@kervyxa/core';
import { OUTLIVED_STATUS, type RunOutcome } from '@kervyxa/sandbox';
import type { StageLimits } from '../package/checker-package.ts';
import { broken, type StageEnd } from './stage-end.ts';

const SIGNALLED_ABOVE = 128;
const SIGKILLED = 137;
const STDERR_CHARACTERS_MAX = 300;

/** Why no answer is read of a program that did not end with 0 by itself; `outcome` is that of its last try. */
export function toBrokenEnd(outcome: RunOutcome, limits: StageLimits): StageEnd {
  const { exitCode } = outcome;
  if (outcome.timedOut) {
    return broken(
      'TIME_LIMIT',
      `expected an end within ${limits.timeoutSeconds} s (limits.timeout_seconds), got none, also with nothing beside it`,
    );
  }
  if (outcome.outputExceeded) {
    return broken(
      'OUTPUT_LIMIT',
      'expected at most 4 MiB on stdout and stderr together, got more; what is to be kept belongs into /output',
    );
  }
  if (exitCode === OUTLIVED_STATUS) {
    return broken(
      'WRITTEN_AFTERWARDS',
      `expected every process of the program to have ended when it ended, got one that outlived it (status ${OUTLIVED_STATUS}): what it writes can't be told from the answer, so none is read; wait for each process that the program starts`,
    );
  }
  const got = `expected exit status 0, got ${exitCode}`;
  if (outcome.oomKilled) {
    return broken(
      'MEMORY_LIMIT',
      `${got} after the kernel killed it at ${limits.memoryMb} MB (limits.memory_mb), which what lies in /output and /tmp counts against too`,
    );
  }
  if (outcome.workspaceFull === true) {
    return broken('DISK_LIMIT', `${got} with /output full at ${limits.diskMb} MB (limits.disk_mb)`);
  }
  return broken('EXIT_STATUS', `${got}${whyOf(outcome)}`);
}

function whyOf({ exitCode, stderr, pidsLimitHit }: RunOutcome): string {
  if (pidsLimitHit === true) return ' after it was refused one more process';
  if (exitCode === SIGKILLED) return ': it was killed';
  if (exitCode > SIGNALLED_ABOVE) return `: it died of signal ${exitCode - SIGNALLED_ABOVE}`;
  const lines = Buffer.from(stderr.head).toString().trim().split('\n');
  const last = toPrintable(lines.at(-1) ?? '', STDERR_CHARACTERS_MAX);
  return last === '' ? '' : `; the last line of its stderr: ${last}`;
}
