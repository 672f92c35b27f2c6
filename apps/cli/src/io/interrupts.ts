import type { Host, StopSignal } from '../host.ts';

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const satisfies Record<
  StopSignal,
  number
>;

/** The first stop signal aborts the command, which then cleans up; the second one leaves at once. */
export interface Interrupts {
  /** Its reason is the error that an aborted command rejects with. */
  readonly signal: AbortSignal;
  /** 128 and the signal's number once one came, else null. */
  exitCode(): number | null;
  /** What to do at the first stop signal, before the abort; the last one given counts. */
  onFirst(announce: (signal: StopSignal) => void): void;
  /** Gives the signals back to the process. */
  close(): void;
}

export function watchInterrupts(host: Pick<Host, 'onStopSignal' | 'exitNow'>): Interrupts {
  const controller = new AbortController();
  let announce: ((signal: StopSignal) => void) | null = null;
  let exitCode: number | null = null;
  const close = host.onStopSignal((signal) => {
    if (exitCode !== null) {
      host.exitNow(EXIT_CODES[signal]);
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
    close,
  };
}
