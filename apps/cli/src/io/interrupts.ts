import type { Host, StopSignal } from '../host.ts';

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const satisfies Record<
  StopSignal,
  number
>;

/** The first stop signal aborts the command, which then cleans up; the second one leaves at once, or forces it. */
export interface Interrupts {
  /** Its reason is the error that an aborted command rejects with. */
  readonly signal: AbortSignal;
  /** 128 and the signal's number once one came, else null. */
  exitCode(): number | null;
  /** What to do at the first stop signal, before the abort; the last one given counts. */
  onFirst(announce: (signal: StopSignal) => void): void;
  /** What the second stop signal does instead of leaving at once; the third one leaves at once in any case. */
  onSecond(force: () => void): void;
  /** Gives the signals back to the process. */
  close(): void;
}

export function watchInterrupts(host: Pick<Host, 'onStopSignal' | 'exitNow'>): Interrupts {
  const controller = new AbortController();
  let announce: ((signal: StopSignal) => void) | null = null;
  let force: (() => void) | null = null;
  let exitCode: number | null = null;
  const close = host.onStopSignal((signal) => {
    if (exitCode !== null) {
      if (force === null) host.exitNow(EXIT_CODES[signal]);
      else force();
      force = null;
      return;
    }
    exitCode = EXIT_CODES[signal];
    announce?.(signal);
    controller.abort(new Error(`stopped by ${signal}`));
  });
  return {
    signal: controller.signal,
    exitCode: () => exitCode,
    onFirst: (callback) => {
      announce = callback;
    },
    onSecond: (callback) => {
      force = callback;
    },
    close,
  };
}
