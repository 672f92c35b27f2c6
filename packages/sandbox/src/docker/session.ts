import type { Clock } from '@kervyxa/core';
import { Additions } from '../additions.ts';
import { StreamCapture } from '../capture.ts';
import { SessionLifecycle } from '../lifecycle.ts';
import type {
  InputDigests,
  PackageAccess,
  RunOutcome,
  RunRequest,
  SandboxSession,
  SessionRequest,
  StagedRun,
  WorkspaceStrategy,
} from '../port.ts';
import { assertRunRequest } from '../request.ts';
import { removeContainer, removeSession } from './cleanup.ts';
import type { RunPlaces } from './container-config.ts';
import { isEngineRefusal } from './engine-errors.ts';
import type { EngineState } from './engine-state.ts';
import type { Engine } from './engine.ts';
import {
  BUNDLE_FOLDER,
  EMPTY_FOLDER,
  HIDDEN_FOLDER,
  PROBE_INPUTS_FOLDER,
  TREE_FOLDER,
} from './keeper-script.ts';
import { programOf, type ResolvedImage } from './images.ts';
import type { Keeper } from './keeper.ts';
import { type SessionName, toLabels } from './labels.ts';
import { DockerRun } from './run.ts';
import {
  CopyWorkspaces,
  outputFolder,
  OverlayWorkspaces,
  type RunFolder,
  type Workspace,
  type WorkspaceMaker,
} from './workspaces.ts';

export interface SessionParts {
  readonly engine: Engine;
  readonly state: EngineState;
  readonly clock: Clock;
  /** Its id is random, so that nothing in a container tells what it is for. */
  readonly name: SessionName;
  readonly image: ResolvedImage;
  readonly request: SessionRequest;
  readonly keeper: Keeper;
  /** The tree is laid out; a run may be created before, not started. */
  readonly ready: Promise<void>;
}

type Place = number | 'setup';

const NOTHING = new StreamCapture(0).finish();
const NO_ROOM_TO_START: RunOutcome = {
  exitCode: 1,
  timedOut: false,
  outputExceeded: false,
  oomKilled: false,
  pidsLimitHit: null,
  workspaceFull: true,
  peakMemoryBytes: null,
  durationMs: 0,
  stdout: NOTHING,
  stderr: NOTHING,
};

export class DockerSession implements SandboxSession {
  readonly #parts: SessionParts;
  readonly #lifecycle: SessionLifecycle;
  readonly #makers: Readonly<Record<WorkspaceStrategy, WorkspaceMaker>>;
  readonly #starting = new Set<Promise<unknown>>();
  readonly #runs: DockerRun[] = [];
  #setupSteps = 0;
  #closing: Promise<void> | null = null;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    // Whoever waits is told; nobody need wait.
    parts.ready.catch(() => undefined);
    this.#lifecycle = new SessionLifecycle(parts.request);
    const { limits, keptPaths = [], additions: rule } = parts.request;
    const { workspaceBytes } = limits;
    const additions = rule === undefined ? null : new Additions(rule);
    const context = { ...parts, session: parts.name, workspaceBytes, keptPaths, additions };
    this.#makers = {
      overlay: new OverlayWorkspaces(context),
      copy: new CopyWorkspaces(context),
    };
  }

  get ready(): Promise<void> {
    return this.#parts.ready;
  }

  get strategy(): WorkspaceStrategy {
    return this.#parts.state.strategy ?? 'overlay';
  }

  async runSetup(request: RunRequest, signal: AbortSignal): Promise<RunOutcome> {
    assertRunRequest(request, this.#parts.request);
    const endSetup = this.#lifecycle.beginSetup();
    try {
      const run = await this.#start('setup', request, signal).catch((error: unknown) =>
        this.#whyFull(error),
      );
      if (!(run instanceof DockerRun)) return run;
      let outcome: RunOutcome;
      try {
        outcome = await run.release(signal);
      } finally {
        await run.dispose();
      }
      const { exitCode } = outcome;
      if (exitCode !== 0 || !(await this.#makers[this.strategy].isSetupTooDeep())) return outcome;
      return { ...outcome, exitCode: NO_ROOM_TO_START.exitCode, workspaceFull: true };
    } finally {
      endSetup();
    }
  }

  /** A step that left no room for an overlay's own files keeps the next one from starting: its doing, not ours. */
  async #whyFull(error: unknown): Promise<RunOutcome> {
    const isLaterStep = this.#setupSteps > 1 && this.#parts.state.strategy === 'overlay';
    if (isLaterStep && isEngineRefusal(error) && (await this.#makers.overlay.isSetupFull())) {
      return NO_ROOM_TO_START;
    }
    throw error;
  }

  async stage(request: RunRequest, signal: AbortSignal): Promise<StagedRun> {
    assertRunRequest(request, this.#parts.request);
    return this.#start(this.#lifecycle.beginStage(), request, signal);
  }

  async measure(signal: AbortSignal): Promise<InputDigests> {
    this.#lifecycle.assertOpen('measure');
    signal.throwIfAborted();
    const { keeper, ready, request } = this.#parts;
    await ready;
    const hasPackage = request.verifierPackage !== null;
    const hasBundle = (request.dependencies ?? null) !== null;
    const [tree = '', ...rest] = await keeper.measure([
      `${TREE_FOLDER}/tree`,
      ...(hasPackage ? [HIDDEN_FOLDER] : []),
      ...(hasBundle ? [BUNDLE_FOLDER] : []),
    ]);
    signal.throwIfAborted();
    return {
      tree,
      package: hasPackage ? (rest[0] ?? null) : null,
      dependencies: hasBundle ? (rest.at(-1) ?? null) : null,
    };
  }

  close(): Promise<void> {
    this.#lifecycle.close();
    this.#closing ??= this.#removeAll();
    return this.#closing;
  }

  async #removeAll(): Promise<void> {
    const { engine, state, name, keeper, ready } = this.#parts;
    await Promise.allSettled([ready, ...this.#starting]);
    // The keeper ends while the runs are removed; its volumes go when no run holds them any more.
    keeper.disconnect();
    await Promise.allSettled(this.#runs.map((run) => run.dispose()));
    // The usual case, in which every run is disposed of, is then done; the rest is found, or reported, by label.
    await Promise.allSettled([removeContainer(engine, keeper.containerId)]);
    await removeSession(engine, name.id);
    await state.cgroups?.removeSession(name.id);
  }

  async #start(place: Place, request: RunRequest, signal: AbortSignal): Promise<DockerRun> {
    signal.throwIfAborted();
    const start = this.#startByStrategy(place, request);
    this.#starting.add(start);
    try {
      const run = await start;
      this.#runs.push(run);
      if (signal.aborted) {
        await run.dispose();
        signal.throwIfAborted();
      }
      return run;
    } finally {
      this.#starting.delete(start);
    }
  }

  /**
   * Tries the overlay first, until this engine is known to mount one or not. An engine that can't says so, or shows
   * an empty folder without a word (PERF §4): the gate tells what is mounted.
   */
  async #startByStrategy(place: Place, request: RunRequest): Promise<DockerRun> {
    const { state, keeper, ready } = this.#parts;
    // Until a keeper has run, nobody knows whether its cgroups can be seen; a set-up's top is copied from.
    if (state.cgroups === undefined || place === 'setup') await ready;
    if (this.#parts.request.layout === 'inputs' && place !== 'setup') {
      const output = outputFolder(keeper, place);
      const inputFolder = `${keeper.volume(TREE_FOLDER).path}/tree`;
      const places = { layout: 'inputs', inputFolder, outputFolder: output.path } as const;
      return this.#startWith(output, places, place, request);
    }
    if (state.strategy !== 'copy' && OverlayWorkspaces.canName(keeper)) {
      const run = await this.#tryOverlay(place, request);
      if (run !== null) return run;
    }
    await ready;
    const run = await this.#startIn(await this.#workspaceFor('copy', place), place, request);
    state.strategy = 'copy';
    return run;
  }

  async #tryOverlay(place: Place, request: RunRequest): Promise<DockerRun | null> {
    const { state } = this.#parts;
    const workspace = await this.#workspaceFor('overlay', place);
    let run: DockerRun;
    try {
      run = await this.#startIn(workspace, place, request);
    } catch (error) {
      if (state.strategy === 'overlay' || !isEngineRefusal(error)) throw error;
      return null;
    }
    if (run.fileSystem === workspace.fileSystem) {
      state.strategy = 'overlay';
      return run;
    }
    await run.dispose();
    return null;
  }

  #workspaceFor(strategy: WorkspaceStrategy, place: Place): Promise<Workspace> {
    const maker = this.#makers[strategy];
    return place === 'setup' ? maker.forSetup() : maker.forRun(place);
  }

  #startIn(workspace: Workspace, place: Place, request: RunRequest): Promise<DockerRun> {
    const { keeper } = this.#parts;
    const seen = this.#foldersSeen(request.package);
    const places = {
      layout: 'workspace',
      workspace: workspace.mount,
      packageVolume: keeper.volume(seen.packageFolder).name,
      probeVolume: keeper.volume(seen.probeFolder).name,
      depsVolume: keeper.volume(seen.depsFolder).name,
    } as const;
    return this.#startWith(workspace, places, place, request);
  }

  async #startWith(
    workspace: RunFolder,
    places: RunPlaces,
    place: Place,
    request: RunRequest,
  ): Promise<DockerRun> {
    const { engine, state, clock, name, image, keeper } = this.#parts;
    const { limits } = this.#parts.request;
    const command = request.command ?? programOf(image);
    const cgroup = await state.cgroups?.createRun(name.id, this.#cgroupName(place), limits.pidsMax);
    const cpus = state.cpus.take(Math.ceil(limits.cpuCount));
    return DockerRun.start({
      engine,
      clock,
      request,
      workspace,
      cgroup: cgroup ?? null,
      hostMemory: cgroup === undefined ? null : state.hostMemory,
      ready: this.ready,
      spec: {
        image: image.id,
        imageVariables: image.variables,
        command,
        isApart: request.package === 'apart',
        limits,
        cpus,
        places,
        uid: name.uid,
        etcFolder: `${keeper.volume(TREE_FOLDER).path}/etc`,
        cgroupParent: cgroup?.parent ?? null,
        runtime: state.runtime,
        pidsLimit: cgroup?.pidsLimit ?? limits.pidsMax,
        labels: toLabels(name, 'run'),
      },
      onDisposed: () => state.cpus.giveBack(cpus),
    });
  }

  /** What is mounted for a run: the real thing, or what is empty. */
  #foldersSeen(access: PackageAccess) {
    const { verifierPackage, probeInputs = null, dependencies = null } = this.#parts.request;
    const seesPackage = verifierPackage !== null && (access === 'shared' || access === 'apart');
    const seesProbe = probeInputs !== null && access === 'probe';
    return {
      packageFolder: seesPackage ? HIDDEN_FOLDER : EMPTY_FOLDER,
      probeFolder: seesProbe ? PROBE_INPUTS_FOLDER : EMPTY_FOLDER,
      depsFolder: dependencies === null ? EMPTY_FOLDER : BUNDLE_FOLDER,
    };
  }

  #cgroupName(place: Place): string {
    if (place !== 'setup') return `run-${place}`;
    this.#setupSteps += 1;
    return `setup-${this.#setupSteps}`;
  }
}
