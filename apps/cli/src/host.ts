import type { Clock } from '@kervyxa/core';
import type pc from 'picocolors';

export type Colors = ReturnType<typeof pc.createColors>;

/** One output stream. A reader that has gone away is no error: writes then do nothing. */
export interface Screen {
  readonly isTerminal: boolean;
  /** Width in columns; follows the window. */
  readonly columns: number;
  /** Identity functions where colours are off. */
  readonly colors: Colors;
  write(text: string): void;
}

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** What a command sees of the process that it runs in; tests give their own. */
export interface Host {
  /** Results, for programs and people. */
  readonly stdout: Screen;
  /** Progress and errors. */
  readonly stderr: Screen;
  /** There is a person to ask. */
  readonly interactive: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Calls back for each stop signal, until the returned function is called. */
  onStopSignal(listener: (signal: StopSignal) => void): () => void;
  /** Calls back every `ms`, until the returned function is called; does not keep the process alive. */
  every(ms: number, tick: () => void): () => void;
  /** Ends the process at once, without any clean-up. */
  exitNow(exitCode: number): void;
}
