import { randomBytes, randomInt } from 'node:crypto';
import { type Clock, isAppError, systemClock, type TreeArchive } from '@kervyxa/core';
import type {
  EngineFacts,
  Sandbox,
  SandboxSession,
  SessionRequest,
  WorkspaceStrategy,
} from '../port.ts';
import { assertSessionRequest } from '../request.ts';
import { removeDeadCgroups } from './cgroups.ts';
import { findDeadSessions, removeSession } from './cleanup.ts';
import { type Mount, tmpfsVolume, type TmpfsSize } from './mounts.ts';
import { type EngineState, loadEngineState, lookForCgroups, assertFits } from './engine-state.ts';
import { connectEngine, type Engine } from './engine.ts';
import { inspectEngine } from './engine-facts.ts';
import { readAvailableBytes, type ReadAvailableBytes } from './host-memory.ts';
import { resolveImage } from './images.ts';
import {
  BUNDLE_FOLDER,
  EMPTY_FOLDER,
  HIDDEN_FOLDER,
  KEEPER_ROOT,
  PROBE_INPUTS_FOLDER,
  TREE_FOLDER,
} from './keeper-script.ts';
import { Keeper } from './keeper.ts';
import { KEPT_FOLDER } from './kept-script.ts';
import { type SessionName, toLabels } from './labels.ts';
import { DockerSession } from './session.ts';
import { MENDED_TOP, SETUP_TOP, topOf, topVolume } from './workspaces.ts';

const PAGE_BYTES = 4_096;
const TREE_SLACK_BYTES = 1_024 * 1_024;
/** As good as none, yet counted: statfs tells how many are used only where there is a limit. */
const TREE_INODES_MAX = 1_000_000_000;
/**
 * Of what runs may see or not see. One size for all, beyond any that is used: by a size that followed from the hidden
 * files every run could tell how large they are, and which of them it has (THREATS C37, H19). Memory is taken by what is
 * in a volume alone.
 */
const SEEN_SIZE: TmpfsSize = { sizeBytes: 2 ** 40, inodesMax: TREE_INODES_MAX };

/**
 * The kernel counts some things for each user over all containers: inotify instances, queued signals, message queues,
 * files on their way through sockets, locked and piped pages. Under one user the code of one solver could use up what
 * another's needs, so each session has its own, an even one and the next. All have seven digits, and fit the headers of
 * archives.
 */
const UID_MIN = 1_000_000;
const UID_MAX = 2_000_000;

export interface DockerSandboxOptions {
  /** `unix:///path/to/docker.sock` or `tcp://host:port`. */
  readonly dockerHost: string;
  /** An image of our own with sh, tar, head, find, xargs, touch, cp, chmod, rm and GNU stat; nothing else runs in it. */
  readonly toolsImage: string;
  readonly clock?: Clock;
  /** How to make workspaces; found out by trying where it is left out. */
  readonly strategy?: WorkspaceStrategy;
  /**
   * The engine's runtime that starts the containers in which code of a solver runs, such as `runsc`, which has a kernel
   * of its own; the engine's default where it is left out. Keepers run our programs, on the engine's default.
   */
  readonly containerRuntime?: string | null;
  /** Bytes that the engine's host can still give, where that is this one; what the kernel says unless given. */
  readonly readAvailableBytes?: ReadAvailableBytes;
  /** Labels on every container and volume, besides our own. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Runs on a Docker-compatible engine through its API alone. Connects with the first call. */
export function createDockerSandbox(options: DockerSandboxOptions): Sandbox {
  return new DockerSandbox(options);
}

class DockerSandbox implements Sandbox {
  readonly #engine: Engine;
  readonly #toolsImage: string;
  readonly #clock: Clock;
  readonly #strategy: WorkspaceStrategy | null;
  readonly #runtime: string | null;
  readonly #readAvailable: ReadAvailableBytes;
  readonly #labels: Readonly<Record<string, string>>;
  #state: Promise<EngineState> | null = null;

  constructor(options: DockerSandboxOptions) {
    const { dockerHost, toolsImage, clock, strategy, containerRuntime, labels } = options;
    this.#readAvailable = options.readAvailableBytes ?? readAvailableBytes;
    this.#engine = connectEngine(dockerHost);
    this.#toolsImage = toolsImage;
    this.#clock = clock ?? systemClock;
    this.#strategy = strategy ?? null;
    this.#runtime = containerRuntime ?? null;
    this.#labels = labels ?? {};
  }

  async inspect(signal: AbortSignal): Promise<EngineFacts> {
    const openSession = (request: SessionRequest) => this.openSession(request, signal);
    const facts = await inspectEngine(this.#engine, {
      toolsImage: this.#toolsImage,
      openSession,
      signal,
    });
    return facts(await this.#loadState());
  }

  async resolveImage(reference: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    return (await resolveImage(this.#engine, reference)).id;
  }

  async openSession(request: SessionRequest, signal: AbortSignal): Promise<SandboxSession> {
    assertSessionRequest(request);
    signal.throwIfAborted();
    const name = {
      id: randomBytes(16).toString('hex'),
      uid: randomInt(UID_MIN / 2, UID_MAX / 2) * 2,
      labels: this.#labels,
    };
    try {
      // Settled, not raced: the keeper's container must be there, or not, before it can be removed.
      const [state, image, keeper] = await settleAll([
        this.#loadState(),
        resolveImage(this.#engine, request.image),
        this.#createKeeper(name, request),
      ]);
      assertFits(state, request.limits);
      signal.throwIfAborted();
      const parts = {
        engine: this.#engine,
        clock: this.#clock,
        state,
        name,
        image,
        request,
        keeper,
        ready: layOut(state, keeper, request, signal),
      };
      return new DockerSession(parts);
    } catch (error) {
      await removeSession(this.#engine, name.id).catch((failure: unknown) => {
        // Where the engine is gone there is one thing to report, and the reaper finds the rest.
        if (!isAppError(error) || error.code !== 'SANDBOX_ENGINE_UNAVAILABLE') throw failure;
      });
      throw error;
    }
  }

  async reap(signal: AbortSignal): Promise<number> {
    let removed = 0;
    const dead = await findDeadSessions(this.#engine);
    for (const session of dead) {
      signal.throwIfAborted();
      removed += await removeSession(this.#engine, session);
    }
    const { cgroupVersion } = await this.#loadState();
    await removeDeadCgroups(cgroupVersion, dead, this.#clock.now().getTime());
    return removed;
  }

  async #loadState(): Promise<EngineState> {
    this.#state ??= loadEngineState(
      this.#engine,
      this.#strategy,
      this.#runtime,
      this.#readAvailable,
    );
    try {
      return await this.#state;
    } catch (error) {
      this.#state = null;
      throw error;
    }
  }

  #createKeeper(session: SessionName, request: SessionRequest) {
    const { tree, keptPaths = [], additions, limits, runsMax } = request;
    const labels = toLabels(session, 'volume');
    const volume = (folder: string, size: TmpfsSize): Mount =>
      tmpfsVolume(`${KEEPER_ROOT}/${folder}`, size, session.uid, labels);
    const seen = [EMPTY_FOLDER, ...toFillings(request).keys()];
    const tops = [SETUP_TOP, ...Array.from({ length: runsMax }, (_, run) => topOf(run))];
    return Keeper.create(this.#engine, {
      image: this.#toolsImage,
      uid: session.uid,
      privileged: false,
      labels: toLabels(session, 'keeper'),
      mounts: [
        volume(TREE_FOLDER, toVolumeSize(tree)),
        ...(keptPaths.length > 0 || additions !== undefined
          ? [volume(KEPT_FOLDER, SEEN_SIZE)]
          : []),
        ...(additions === undefined ? [] : [volume(MENDED_TOP, SEEN_SIZE)]),
        ...seen.map((folder) => volume(folder, SEEN_SIZE)),
        ...tops.map((top) => topVolume(top, limits.workspaceBytes, session)),
      ],
    });
  }
}

async function layOut(
  state: EngineState,
  keeper: Keeper,
  request: SessionRequest,
  signal: AbortSignal,
): Promise<void> {
  await keeper.start();
  signal.throwIfAborted();
  await Promise.all([lookForCgroups(state, keeper.containerId), fill(keeper, request, signal)]);
}

async function fill(keeper: Keeper, request: SessionRequest, signal: AbortSignal): Promise<void> {
  await keeper.layout();
  await keeper.unpack(`${TREE_FOLDER}/tree`, request.tree, signal);
  for (const [folder, archive] of toFillings(request)) await keeper.unpack(folder, archive, signal);
}

/** Folder of the keeper's → what is in it, for what runs may see. */
function toFillings({
  verifierPackage,
  probeInputs = null,
  dependencies = null,
}: SessionRequest): Map<string, TreeArchive> {
  const fillings = new Map<string, TreeArchive>();
  if (verifierPackage !== null) fillings.set(HIDDEN_FOLDER, verifierPackage);
  if (probeInputs !== null) fillings.set(PROBE_INPUTS_FOLDER, probeInputs);
  if (dependencies !== null) fillings.set(BUNDLE_FOLDER, dependencies);
  return fillings;
}

/** Always enough, whatever the names are: a tree that did not fit would be a fault of ours. */
function toVolumeSize({ bytesTotal, entryCount }: TreeArchive): TmpfsSize {
  return {
    sizeBytes: bytesTotal + entryCount * PAGE_BYTES + TREE_SLACK_BYTES,
    inodesMax: TREE_INODES_MAX,
  };
}

/** As Promise.all, but waits for all before it rejects with the first failure. */
async function settleAll<T extends readonly unknown[]>(work: {
  readonly [K in keyof T]: Promise<T[K]>;
}): Promise<T> {
  await Promise.allSettled(work);
  return (await Promise.all(work)) as unknown as T; // Promise.all's own type loses the tuple here.
}
