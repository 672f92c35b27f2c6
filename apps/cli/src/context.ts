import type { Failure } from './present/failure.ts';
import type { Host } from './host.ts';
import type { Interrupts } from './io/interrupts.ts';

/** What every command gets, and where it puts its exit code. */
export interface CommandContext {
  readonly host: Host;
  readonly interrupts: Interrupts;
  exitCode: number;
  /** A stop signal is the ordinary end of the command, not its interruption. */
  endsBySignal: boolean;
  /** The command's documented exit code for an error; by default the error's own. */
  toExitCode: (failure: Failure) => number;
}
