import { describe, expect, it } from 'vitest';
import { recordingLog } from '../testing/recording-log.ts';
import { startNudge } from './nudge.ts';

const EVERY_SECOND = '* * * * * *';

// Keeps R-SCHEDULE-HARMLESS.
describe('a nudge', () => {
  it('throws at a tick: the schedule goes on, and tells the first failure and the recovery', async () => {
    const log = recordingLog();
    let ticks = 0;
    await new Promise<void>((done) => {
      const nudge = startNudge({
        name: 'job',
        pattern: EVERY_SECOND,
        log,
        work: async () => {
          ticks += 1;
          if (ticks <= 2) throw new Error('no database');
          done(nudge.stop());
        },
      });
    });
    expect(log.lines).toEqual(['warn: failed; tried again at every tick', 'info: works again']);
  });

  it('waits for the running tick when it is stopped, and begins no other', async () => {
    const work = Promise.withResolvers<void>();
    let ticks = 0;
    const nudge = startNudge({
      name: 'job',
      pattern: EVERY_SECOND,
      log: recordingLog(),
      work: () => {
        ticks += 1;
        return work.promise;
      },
    });
    const stopping = nudge.stop();
    const later = new Promise((done) => setImmediate(done, 'still running'));
    expect(await Promise.race([stopping, later])).toBe('still running');
    work.resolve();
    await stopping;
    await nudge.stop();
    expect(ticks).toBe(1);
  });
});
