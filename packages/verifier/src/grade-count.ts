import type { Criterion } from '@kervyxa/contract';
import { toPrintable } from '@kervyxa/core';
import type { RunOutcome } from '@kervyxa/sandbox';
import type { CountReading, CountReport } from './count.ts';
import { fail, type Grade, inconclusive } from './grade-end.ts';

const EXPECTED_LINE = 'expected one line KERVYXA_COUNT=<report> from the harness';

/**
 * The work counted in a run whose harness ended well, or why it does not count: the program must have ended with 0
 * and given the pinned answer, or it would do best to do nothing.
 */
export function measureCount(
  { stdoutSha256 }: Extract<Criterion, { type: 'benchmark' }>,
  outcome: RunOutcome,
  reading: CountReading | null,
): number | Grade {
  if (reading === null) throw new TypeError('counted work needs the reading of its harness');
  if (stdoutSha256 === null) {
    return inconclusive('STAGE_UNAVAILABLE', 'the contract does not pin the answer');
  }
  if (reading.kind !== 'one') return toUnread(reading);
  const { report } = reading;
  const ended = gradeProgram(report, outcome);
  if (ended !== null) return ended;
  if (report.count === null) {
    return fail('METRIC_MISSING', 'expected a count from the harness, got none that it trusts');
  }
  if (report.stdoutSha256 !== stdoutSha256) {
    const got = `got ${report.stdoutSha256}`;
    return fail('ASSERTION_FAILED', `expected stdout with SHA-256 ${stdoutSha256}, ${got}`);
  }
  return report.count;
}

function toUnread(reading: Exclude<CountReading, { kind: 'one' }>): Grade {
  switch (reading.kind) {
    case 'none':
      return fail('METRIC_MISSING', `${EXPECTED_LINE}, got none`);
    case 'several':
      return fail('METRIC_DUPLICATED', `${EXPECTED_LINE}, got ${reading.count}`);
    case 'malformed':
      return fail(
        'METRIC_MALFORMED',
        `${EXPECTED_LINE} and nothing else, got "${toPrintable(reading.line, 80)}"`,
      );
  }
}

/** How the program under test ended, which the harness outlived; null where it ended with 0. */
function gradeProgram({ exitCode, signal }: CountReport, outcome: RunOutcome): Grade | null {
  if (exitCode === 0 && signal === null) return null;
  const got = `expected exit status 0, got ${signal === null ? (exitCode ?? 'none') : toPrintable(signal)}`;
  if (outcome.oomKilled) {
    return fail('MEMORY_LIMIT', `${got} after the kernel killed it at environment.memoryMB`);
  }
  if (outcome.pidsLimitHit === true) {
    return fail('PIDS_LIMIT', `${got} after a fork was refused at environment.pidsLimit`);
  }
  if (signal !== null) return fail('CRASHED', `${got}: killed by it`);
  return fail('EXIT_CODE_MISMATCH', got);
}
