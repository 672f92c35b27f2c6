import type { RunRequest, Sandbox } from '@kervyxa/sandbox';

/** What else may run meanwhile; the verifier's gate is one. Never entered from inside. */
export interface CheckGate {
  beside<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Nothing runs beside it. */
  alone<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** What stages of checker packages run with. */
export interface CheckDeps {
  readonly sandbox: Sandbox;
  /** The catalogue: runtime name (`kervyxa-runtime/python:1`) → image id. */
  readonly runtimes: ReadonlyMap<string, string>;
  readonly gate: CheckGate;
  /** What programs print; it decides nothing. */
  readonly onOutput?: NonNullable<RunRequest['onOutput']>;
  /** How long the program took, in its second run where it was late in the first; not what it waited for others. */
  readonly onEnd?: (durationMs: number) => void;
}
