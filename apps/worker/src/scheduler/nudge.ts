import { schedule } from 'node-cron';

/** Where the schedule says what happened; pino's loggers are such. */
export interface Log {
  info(facts: Readonly<Record<string, unknown>>, message: string): void;
  warn(facts: Readonly<Record<string, unknown>>, message: string): void;
  error(facts: Readonly<Record<string, unknown>>, message: string): void;
}

export interface Nudge {
  /** No tick begins any more; resolves once the running one has ended. Safe twice. */
  stop(): Promise<void>;
}

export interface NudgeOptions {
  readonly name: string;
  /** A cron pattern, seconds first. */
  readonly pattern: string;
  /** Does what is due, whenever it is called. */
  readonly work: () => Promise<void>;
  readonly log: Log;
}

/**
 * Does the work now and at every tick. A tick that comes while one runs is dropped, and one that throws ends nothing:
 * the next one finds whatever is still due. Of failures in a row the first is told, and the recovery.
 */
export function startNudge({ name, pattern, work, log }: NudgeOptions): Nudge {
  let running: Promise<void> | null = null;
  let isFailing = false;
  const tick = async (): Promise<void> => {
    try {
      await work();
      if (isFailing) log.info({ job: name }, 'works again');
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ job: name, err: error }, 'failed; tried again at every tick');
      isFailing = true;
    } finally {
      running = null;
    }
  };
  const nudge = (): void => {
    running ??= tick();
  };
  const task = schedule(pattern, nudge, { name, suppressMissedWarning: true });
  nudge();
  return {
    stop: async () => {
      await task.destroy();
      await running;
    },
  };
}
