import { misused } from './errors.ts';
import type { SessionRequest } from './port.ts';

/** The order of calls that `SandboxSession` promises, kept alike by every implementation. */
export class SessionLifecycle {
  readonly #runsMax: number;
  readonly #hasSetup: boolean;
  #runsStaged = 0;
  #settingUp = false;
  #closed = false;

  constructor({ runsMax, layout }: Pick<SessionRequest, 'runsMax' | 'layout'>) {
    this.#runsMax = runsMax;
    this.#hasSetup = layout !== 'inputs';
  }

  /** Throws SANDBOX_MISUSED where a set-up step may not begin now; call what it returns when the step has ended. */
  beginSetup(): () => void {
    this.assertOpen('runSetup');
    if (!this.#hasSetup) throw misused('no runSetup with layout inputs', 'one');
    if (this.#runsStaged > 0) throw misused('runSetup before the first stage', 'one after it');
    if (this.#settingUp) throw misused('one runSetup at a time', 'two at once');
    this.#settingUp = true;
    return () => {
      this.#settingUp = false;
    };
  }

  /** Throws SANDBOX_MISUSED where no run may be staged now; returns the run's number, from 0. */
  beginStage(): number {
    this.assertOpen('stage');
    if (this.#settingUp) throw misused('stage after the set-up has ended', 'one during it');
    if (this.#runsStaged >= this.#runsMax) {
      throw misused(`at most ${this.#runsMax} staged runs (runsMax)`, 'one more');
    }
    this.#runsStaged += 1;
    return this.#runsStaged - 1;
  }

  close(): void {
    this.#closed = true;
  }

  /** Throws SANDBOX_MISUSED for a call after `close`. */
  assertOpen(call: string): void {
    if (this.#closed) throw misused('an open session', `${call} after close`);
  }
}

/** The order of calls that `StagedRun` promises. */
export class RunLifecycle {
  #state: 'staged' | 'released' | 'ended' | 'disposed' = 'staged';

  beginRelease(): void {
    if (this.#state !== 'staged')
      throw misused('one release', `one of a run that is ${this.#state}`);
    this.#state = 'released';
  }

  endRelease(): void {
    if (this.#state === 'released') this.#state = 'ended';
  }

  assertReadable(): void {
    if (this.#state !== 'ended') {
      throw misused('readFile of an ended run', `one of a run that is ${this.#state}`);
    }
  }

  dispose(): void {
    this.#state = 'disposed';
  }
}
