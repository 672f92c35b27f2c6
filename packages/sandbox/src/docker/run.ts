import type { Clock } from '@kervyxa/core';
import type Docker from 'dockerode';
import { sandboxError } from '../errors.ts';
import { RunLifecycle } from '../lifecycle.ts';
import type { FileReading, RunOutcome, RunRequest, StagedRun } from '../port.ts';
import { parseWorkspacePath } from '../request.ts';
import { attach, type Attachment } from './attachment.ts';
import type { RunCgroup } from './cgroups.ts';
import { removeContainer } from './cleanup.ts';
import { type RunSpec, toContainerConfig, toWorkFolder } from './container-config.ts';
import { createContainer, imageWithoutShell, startContainer } from './containers.ts';
import { within } from './deadline.ts';
import { isEngineRefusal, toEngineError } from './engine-errors.ts';
import type { Engine } from './engine.ts';
import { toRelease } from './gate.ts';
import type { HostMemory } from './host-memory.ts';
import { readWorkspaceFile } from './read-file.ts';
import { wasKilledFromOutside } from './outside-kill.ts';
import { RunOutput } from './run-output.ts';
import type { RunFolder } from './workspaces.ts';

/** How long an engine may take to report what must have happened: a death after a kill, the end of a dead stream. */
const SETTLE_MS_MAX = 15_000;

/** What an init says when it can't execute our shell. */
const EXEC_FAILED = new Set([126, 127]);

const SIGKILLED = 137;
const SIGNALLED_ABOVE = 128;

type StopReason = 'timed_out' | 'output_exceeded' | 'aborted' | 'host_full';

export interface RunContext {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly request: RunRequest;
  readonly spec: RunSpec;
  readonly workspace: RunFolder;
  readonly cgroup: RunCgroup | null;
  /** Null where the engine may be on another host. */
  readonly hostMemory: HostMemory | null;
  /** What must have happened before the container is started. */
  readonly ready: Promise<void>;
  /** Called once, when the container is removed. */
  readonly onDisposed: () => void;
}

/** A container at the gate, and then the run in it. */
export class DockerRun implements StagedRun {
  /** What is mounted at the folder of the run; the session compares it with what should be. */
  readonly fileSystem: string;
  readonly #context: RunContext;
  readonly #container: Docker.Container;
  readonly #attachment: Attachment;
  readonly #output: RunOutput;
  readonly #death: Promise<number>;
  readonly #lifecycle = new RunLifecycle();
  #stopped: StopReason | null = null;
  #disposal: Promise<void> | null = null;

  private constructor(context: RunContext, parts: StartedParts) {
    this.#context = context;
    this.#container = parts.container;
    this.#attachment = parts.attachment;
    this.#output = parts.output;
    this.#death = parts.death;
    this.fileSystem = parts.fileSystem;
  }

  /** Resolves when the gate waits. What it made is removed where it throws. */
  static async start(context: RunContext): Promise<DockerRun> {
    let container: Docker.Container | null = null;
    try {
      container = await createContainer(context.engine, toContainerConfig(context.spec));
      return new DockerRun(context, await startAtGate(context, container));
    } catch (error) {
      // What this can't remove is found, and reported, when the session closes.
      await Promise.allSettled([discard(context, container?.id ?? null, null)]);
      throw error;
    }
  }

  async release(signal: AbortSignal): Promise<RunOutcome> {
    signal.throwIfAborted();
    this.#lifecycle.beginRelease();
    const { clock } = this.#context;
    const releasedMs = clock.monotonicMs();
    try {
      const exitCode = await this.#awaitEnd(signal);
      const durationMs = clock.monotonicMs() - releasedMs;
      if (this.#stopped === 'aborted') signal.throwIfAborted();
      if (this.#stopped === 'host_full') throw lost('its own end: the host ran out of memory');
      const timedOut = this.#stopped === 'timed_out';
      return { ...(await this.#collect(exitCode)), timedOut, durationMs };
    } catch (error) {
      // Also where the kill failed: who gave up is told so, and the session's close reports what is left.
      signal.throwIfAborted();
      const seen = await this.#whatWasSeen();
      if (seen === null) throw error;
      return { ...seen, durationMs: clock.monotonicMs() - releasedMs };
    } finally {
      this.#lifecycle.endRelease();
    }
  }

  async readFile(path: string, bytesMax: number, signal: AbortSignal): Promise<FileReading> {
    this.#lifecycle.assertReadable();
    const parts = parseWorkspacePath(path);
    const { engine, workspace, spec } = this.#context;
    const folder = toWorkFolder(spec.places);
    try {
      return await readWorkspaceFile(engine, this.#container, folder, parts, bytesMax, signal);
    } catch (error) {
      // The engine mounts the overlay again to look into it, which takes a few files' room that the run has used up.
      const isFull = isEngineRefusal(error) && (await workspace.isFull());
      if (!isFull) throw error;
      return { kind: 'not_regular', found: 'workspace without room for one more file' };
    }
  }

  dispose(): Promise<void> {
    this.#lifecycle.dispose();
    this.#disposal ??= discard(this.#context, this.#container.id, this.#attachment);
    return this.#disposal;
  }

  /**
   * Opens the gate and waits until the container is dead and all its output read. Our own flag is set before the
   * kill, so that no exit status can hide why it died (THREATS C09); the kill can't be caught. Both the engine's word
   * that it is dead and the end of the stream are required: without either, nothing is known (M19).
   */
  async #awaitEnd(signal: AbortSignal): Promise<number> {
    const stop = Promise.withResolvers<void>();
    const stopFor = (reason: StopReason): void => {
      this.#stopped ??= reason;
      stop.resolve();
    };
    const onAbort = (): void => stopFor('aborted');
    const timer = setTimeout(() => stopFor('timed_out'), this.#context.request.timeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    void this.#output.overflowed.then(() => stopFor('output_exceeded'));
    const unwatch = this.#context.hostMemory?.watch(() => stopFor('host_full'));
    const { onOutputEnd } = this.#context.request;
    if (onOutputEnd !== undefined) this.#attachment.ended.then(onOutputEnd, onOutputEnd);
    try {
      await this.#attachment.write(toRelease(this.#context.request.stdinLine));
      const exitCode = await Promise.race([
        this.#death,
        this.#deathAfterStream(),
        stop.promise.then(() => this.#kill()),
      ]);
      // What ended by itself in time did, however long its last output takes to arrive.
      clearTimeout(timer);
      unwatch?.();
      await within(this.#attachment.ended, SETTLE_MS_MAX, () => lost('the end of its output'));
      return exitCode;
    } finally {
      clearTimeout(timer);
      unwatch?.();
      signal.removeEventListener('abort', onAbort);
    }
  }

  /**
   * What is certain of a run that we had to stop and whose end we did not get to see: code that can outlive a kill for
   * a while, in a system call without end, must not choose trouble of ours by that. Null where nothing is. Whether it
   * is gone, the session's close tells.
   */
  async #whatWasSeen(): Promise<Omit<RunOutcome, 'durationMs'> | null> {
    const timedOut = this.#stopped === 'timed_out';
    const outputExceeded = this.#output.isOverflowed;
    if (!timedOut && !outputExceeded) return null;
    // An engine that does not answer may have kept an end in time from us.
    const { engine } = this.#context;
    const inspected = engine.call('inspect a run', this.#container.inspect());
    const isThere = await inspected.then(
      () => true,
      () => false,
    );
    if (!isThere) return null;
    return {
      exitCode: SIGKILLED,
      timedOut,
      outputExceeded,
      oomKilled: false,
      pidsLimitHit: null,
      peakMemoryBytes: null,
      workspaceFull: null,
      ...this.#output.finish(),
    };
  }

  async #kill(): Promise<number> {
    await this.#context.engine.callIfThere('kill a container', this.#container.kill());
    return within(this.#death, SETTLE_MS_MAX, () => lost('its death after it was killed'));
  }

  /** A stream that ends while the engine says nothing: either the command closed it, or the engine is gone. */
  async #deathAfterStream(): Promise<number> {
    await this.#attachment.ended;
    const { State } = await this.#context.engine.call('inspect a run', this.#container.inspect());
    if (State.Running) return this.#death;
    return within(this.#death, SETTLE_MS_MAX, () => lost('its exit status'));
  }

  async #collect(exitCode: number): Promise<Omit<RunOutcome, 'timedOut' | 'durationMs'>> {
    const { engine, workspace, cgroup } = this.#context;
    const [{ State }, facts, workspaceFull] = await Promise.all([
      engine.call('inspect a run', this.#container.inspect()),
      cgroup?.facts(),
      exitCode === 0 ? null : workspace.isFull(),
    ]);
    if (State.Running || State.ExitCode !== exitCode) throw lost('one exit status, told twice');
    const diedOfSignal = exitCode > SIGNALLED_ABOVE && this.#stopped === null;
    if (diedOfSignal && (await wasKilledFromOutside(engine, this.#container, State))) {
      throw lost('its own end: the engine was told to kill it, or shuts down');
    }
    return {
      exitCode,
      outputExceeded: this.#output.isOverflowed,
      oomKilled: State.OOMKilled || facts?.oomKilled === true,
      pidsLimitHit: facts?.pidsLimitHit ?? null,
      peakMemoryBytes: facts?.peakMemoryBytes ?? null,
      workspaceFull,
      ...this.#output.finish(),
    };
  }
}

interface StartedParts {
  readonly container: Docker.Container;
  readonly attachment: Attachment;
  readonly output: RunOutput;
  readonly death: Promise<number>;
  readonly fileSystem: string;
}

async function startAtGate(
  { engine, request, spec, ready, cgroup }: RunContext,
  container: Docker.Container,
): Promise<StartedParts> {
  const output = new RunOutput(spec.limits.outputBytes, request.onOutput);
  const attachment = await attach(engine, container.id, (stream, chunk) =>
    output.push(stream, chunk),
  );
  try {
    await ready;
    await startContainer(engine, container, spec.image);
    const death = awaitDeath(container);
    const opened = Promise.race([output.gateOpened, failToOpen(death, attachment, spec.image)]);
    const fileSystem = await within(opened, SETTLE_MS_MAX, () => lost('our gate to open in it'));
    await cgroup?.limitSockets(container.id, spec.limits.memoryBytes);
    return { container, attachment, output, death, fileSystem };
  } catch (error) {
    attachment.close();
    throw error;
  }
}

async function failToOpen(
  death: Promise<number>,
  attachment: Attachment,
  image: string,
): Promise<never> {
  await attachment.ended;
  const exitCode = await death;
  if (EXEC_FAILED.has(exitCode)) throw imageWithoutShell(image, null);
  throw lost('our gate to open in it');
}

/** The exit status when the container is dead. Has no deadline: runs end by their own timer. */
function awaitDeath(container: Docker.Container): Promise<number> {
  const death = container.wait({ condition: 'not-running' }).then(
    (answer: unknown) => parseExit(answer),
    (error: unknown) => {
      throw toEngineError('wait for a run', error);
    },
  );
  // Whoever looks at it may have given up before.
  death.catch(() => undefined);
  return death;
}

function parseExit(answer: unknown): number {
  const status =
    typeof answer === 'object' && answer !== null && 'StatusCode' in answer
      ? answer.StatusCode
      : undefined;
  if (typeof status !== 'number' || !Number.isInteger(status)) throw lost('its exit status');
  return status;
}

async function discard(
  { engine, workspace, cgroup, onDisposed }: RunContext,
  containerId: string | null,
  attachment: Attachment | null,
): Promise<void> {
  try {
    if (containerId !== null) await removeContainer(engine, containerId);
    attachment?.close();
    await Promise.all([workspace.release(), cgroup?.remove()]);
  } finally {
    onDisposed();
  }
}

function lost(expected: string): Error {
  return sandboxError('SANDBOX_RUN_LOST', {
    message: `expected of a run ${expected}, got nothing`,
    fix: 'The run is worth another try; run kervyxa doctor if it happens again.',
  });
}
