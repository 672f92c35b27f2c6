import { describe, expect, it } from 'vitest';
import { recordingLog } from '../testing/recording-log.ts';
import { advanceChecks } from './advance-checks.ts';

const { signal } = new AbortController();

// Keeps R-SCHEDULE-HARMLESS.
describe('the scheduler of checks', () => {
  it('has one that can’t be advanced: each of the others is asked once, whatever it says', async () => {
    const due = Array.from({ length: 120 }, (_, index) => `chk_${index}`);
    const asked: string[] = [];
    const log = recordingLog();
    await advanceChecks(
      {
        listDueChecks: async (limit) => due.slice(0, limit),
        decideCheck: async (checkId, command) => {
          asked.push(`${command.kind} ${checkId}`);
          if (checkId === 'chk_3') throw new Error('no');
          return { kind: 'accepted', effects: [] };
        },
      },
      { log, signal },
    );
    expect(asked).toEqual(due.map((checkId) => `advance ${checkId}`));
    expect(log.lines).toEqual(['error: a check could not be advanced']);
  });
});
