import type { Additions, Refused } from '../additions.ts';
import { sandboxError } from '../errors.ts';
import { removeContainer } from './cleanup.ts';
import {
  type Mount,
  namedVolume,
  overlayVolume,
  tmpfsVolume,
  WORKSPACE_INODES_MAX,
} from './mounts.ts';
import type { Engine } from './engine.ts';
import { WORKSPACE } from './gate.ts';
import {
  COPY_FROM_FOLDER,
  COPY_TO_FOLDER,
  KEEPER_ROOT,
  TOP_PREFIX,
  TREE_FOLDER,
} from './keeper-script.ts';
import { Keeper, type VolumeUsage } from './keeper.ts';
import { KEPT_FOLDER } from './kept-script.ts';
import { type SessionName, toLabels } from './labels.ts';

/** Takes what set-up may not have added away from what it left, for an overlay. */
export const MENDED_TOP = `${TOP_PREFIX}mended`;
export const SETUP_TOP = `${TOP_PREFIX}setup`;
/** Deeper than any path that a program can name at once. */
const DEPTH_MAX = 2_048;
/** What the kernel takes, but for the place where a copy is made. */
const PATH_BYTES_MAX = 4_000;
const NOTHING_REFUSED: Refused = { gone: [], spoiled: [] };
/** Room for what the keeper and the overlay put beside a run's own files. */
const OVERHEAD_INODES = 16;

/** A run's own folder, with room for `limits.workspaceBytes` of changes: the tree, or what the set-up made of it, or nothing. */
export interface RunFolder {
  /** Not a byte or not a file more would fit. */
  isFull(): Promise<boolean>;
  /** Frees its memory; call when its container is removed. */
  release(): Promise<void>;
}

/** One /workspace. */
export interface Workspace extends RunFolder {
  readonly mount: Mount;
  /** What the gate must find at /workspace; anything else means that the mount did not happen. */
  readonly fileSystem: 'overlay' | 'tmpfs';
}

/** Makes workspaces. The set-up's is one for all steps; the runs' start from what it holds at that time. */
export interface WorkspaceMaker {
  forSetup(): Promise<Workspace>;
  forRun(run: number): Promise<Workspace>;
  /** What the set-up's steps left has no room for one more file. */
  isSetupFull(): Promise<boolean>;
  /** What they left can't be the ground of runs. */
  isSetupTooDeep(): Promise<boolean>;
}

/** What both strategies work on. */
export interface WorkspaceContext {
  readonly engine: Engine;
  readonly session: SessionName;
  /** Keeps the tree, and a top for the set-up and for each run. */
  readonly keeper: Keeper;
  readonly workspaceBytes: number;
  /** Paths of the tree that every run finds as they are there; where there are any, the keeper has a folder for them. */
  readonly keptPaths: readonly string[];
  /** What set-up may add; where it is given, the keeper has a folder for kept paths and a top for mending. */
  readonly additions: Additions | null;
}

export function topOf(run: number): string {
  return `${TOP_PREFIX}${run}`;
}

export function topVolume(top: string, workspaceBytes: number, session: SessionName): Mount {
  const size = {
    sizeBytes: workspaceBytes,
    inodesMax: WORKSPACE_INODES_MAX + OVERHEAD_INODES,
  };
  return tmpfsVolume(`${KEEPER_ROOT}/${top}`, size, session.uid, toLabels(session, 'volume'));
}

/**
 * Workspaces as overlays: the tree below, read-only, and a memory volume of its own on top. Nothing is copied, and
 * what a set-up wrote becomes one more layer below.
 */
export class OverlayWorkspaces implements WorkspaceMaker {
  readonly #context: WorkspaceContext;
  #hasSetup = false;
  #mending: Promise<string[]> | null = null;

  constructor(context: WorkspaceContext) {
    this.#context = context;
  }

  /** False where the engine's paths can't be written in mount options. */
  static canName(keeper: Keeper): boolean {
    return !/[,:\\]/.test(keeper.volume(TREE_FOLDER).path);
  }

  async forSetup(): Promise<Workspace> {
    this.#hasSetup = true;
    return this.#workspace(SETUP_TOP, [this.#treePath()], async () => undefined);
  }

  async forRun(run: number): Promise<Workspace> {
    const { keeper } = this.#context;
    if (this.#hasSetup) await keeper.inherit(SETUP_TOP, topOf(run));
    const lowers = [...(this.#hasSetup ? await this.#setupPaths() : []), this.#treePath()];
    return this.#workspace(topOf(run), lowers, async () => keeper.clear(topOf(run)));
  }

  #setupPaths(): Promise<string[]> {
    this.#mending ??= this.#mend();
    return this.#mending;
  }

  /** What is kept lies above what the set-up wrote, and so takes the place of whatever is there. */
  async #mend(): Promise<string[]> {
    const { keeper } = this.#context;
    const setup = `${keeper.volume(SETUP_TOP).path}/upper`;
    const { gone, spoiled } = await this.#takeAway();
    const mended = gone.length > 0 ? [`${keeper.volume(MENDED_TOP).path}/upper`] : [];
    const kept = (await this.#keep(spoiled)) ? [keeper.volume(KEPT_FOLDER).path] : [];
    return [...kept, ...mended, setup];
  }

  /**
   * Looks through a mount of what the set-up left, as runs do: folders that it moved are empty in its top. It is taken
   * away in a top of its own, since the set-up's may be full. Most set-ups only add folders to the root that may stay.
   */
  async #takeAway(): Promise<Refused> {
    const { engine, session, keeper, additions } = this.#context;
    if (additions === null) return NOTHING_REFUSED;
    const root = await keeper.list(`${SETUP_TOP}/upper`, ['']);
    if (root !== null && additions.isSettledBy(root.flat())) return NOTHING_REFUSED;
    const overlay = {
      lowers: [`${keeper.volume(SETUP_TOP).path}/upper`, this.#treePath()],
      top: keeper.volume(MENDED_TOP).path,
    };
    const place = `${KEEPER_ROOT}/${COPY_TO_FOLDER}`;
    const mender = await Keeper.create(engine, {
      image: keeper.image,
      uid: session.uid,
      privileged: true,
      mounts: [overlayVolume(place, overlay, toLabels(session, 'volume'))],
      labels: toLabels(session, 'filler'),
    });
    try {
      await mender.start();
      return await takeAway(mender, additions);
    } finally {
      mender.disconnect();
      await removeContainer(engine, mender.containerId);
    }
  }

  /** Copies only what the set-up can have changed; most touch nothing that is kept. False: there is none. */
  async #keep(spoiled: readonly string[]): Promise<boolean> {
    const { keeper } = this.#context;
    const keptPaths = [...this.#context.keptPaths, ...spoiled];
    if (keptPaths.length === 0) return false;
    const touched = await keeper.touched(SETUP_TOP, [...new Set(keptPaths.map(rootName))]);
    const paths = keptPaths.filter((path) => touched.has(rootName(path)));
    if (paths.length > 0) await keeper.keep(`${TREE_FOLDER}/tree`, paths);
    return paths.length > 0;
  }

  async isSetupFull(): Promise<boolean> {
    return isFull(await this.#context.keeper.usage(SETUP_TOP));
  }

  /**
   * To write below a folder of the set-up the kernel copies every folder above, and walks the whole way up for each: in
   * one system call that no signal ends, 42 s at a depth of 30,000. Looked at as root, since modes can hide folders.
   */
  async isSetupTooDeep(): Promise<boolean> {
    const { engine, session, keeper } = this.#context;
    const { inodesUsed } = await keeper.usage(SETUP_TOP);
    if (inodesUsed <= DEPTH_MAX) return false;
    const looker = await Keeper.create(engine, {
      image: keeper.image,
      uid: session.uid,
      privileged: true,
      mounts: [
        namedVolume(keeper.volume(SETUP_TOP).name, `${KEEPER_ROOT}/${COPY_FROM_FOLDER}`, true),
      ],
      labels: toLabels(session, 'filler'),
    });
    try {
      await looker.start();
      return await looker.isDeep(`${COPY_FROM_FOLDER}/upper`, DEPTH_MAX + 1);
    } finally {
      looker.disconnect();
      await removeContainer(engine, looker.containerId);
    }
  }

  #treePath(): string {
    return `${this.#context.keeper.volume(TREE_FOLDER).path}/tree`;
  }

  #workspace(top: string, lowers: string[], release: () => Promise<void>): Workspace {
    const { keeper, session } = this.#context;
    const overlay = { lowers, top: keeper.volume(top).path };
    return {
      mount: overlayVolume(WORKSPACE, overlay, toLabels(session, 'volume')),
      fileSystem: 'overlay',
      isFull: async () => isFull(await keeper.usage(top)),
      release,
    };
  }
}

/** Workspaces as copies, for engines that can't mount an overlay: each in a memory volume of its own. */
export class CopyWorkspaces implements WorkspaceMaker {
  readonly #context: WorkspaceContext;
  #setup: Promise<Keeper> | null = null;
  #mending: Promise<boolean> | null = null;

  constructor(context: WorkspaceContext) {
    this.#context = context;
  }

  async forSetup(): Promise<Workspace> {
    this.#setup ??= this.#copyTree();
    return this.#workspace(await this.#setup, async () => undefined);
  }

  async forRun(): Promise<Workspace> {
    const setup = await this.#setup;
    const hasKept = setup !== null && (await (this.#mending ??= this.#mend(setup)));
    const filler = await (setup === null ? this.#copyTree() : this.#copySetup(setup));
    if (hasKept) await filler.restore(COPY_TO_FOLDER);
    return this.#workspace(filler, async () => {
      filler.disconnect();
      await removeContainer(this.#context.engine, filler.containerId);
    });
  }

  /** True: there is something to put back. */
  async #mend(setup: Keeper): Promise<boolean> {
    const { keeper, keptPaths, additions } = this.#context;
    const { spoiled } = additions === null ? NOTHING_REFUSED : await takeAway(setup, additions);
    const paths = [...keptPaths, ...spoiled];
    if (paths.length > 0) await keeper.keep(`${TREE_FOLDER}/tree`, paths);
    return paths.length > 0;
  }

  async isSetupFull(): Promise<boolean> {
    const setup = await this.#setup;
    return setup !== null && isFull(await setup.usage(COPY_TO_FOLDER));
  }

  /** A path that a program can not name at once is not copied. */
  async isSetupTooDeep(): Promise<boolean> {
    const setup = await this.#setup;
    return setup !== null && (await setup.longestPath(COPY_TO_FOLDER)) > PATH_BYTES_MAX;
  }

  #copyTree(): Promise<Keeper> {
    return this.#copy(this.#context.keeper, TREE_FOLDER, `${COPY_FROM_FOLDER}/tree`);
  }

  #copySetup(setup: Keeper): Promise<Keeper> {
    return this.#copy(setup, COPY_TO_FOLDER, COPY_FROM_FOLDER);
  }

  /** A keeper of its own for each copy, so that the volume is as large as what is copied and the room for changes. */
  async #copy(source: Keeper, sourceFolder: string, from: string): Promise<Keeper> {
    const { engine, session, keeper, workspaceBytes, keptPaths, additions } = this.#context;
    const hasKept = keptPaths.length > 0 || additions !== null;
    const used = await source.usage(sourceFolder);
    // The set-up may have taken away what is kept, and then it comes on top.
    const kept = hasKept ? await keeper.usage(KEPT_FOLDER) : { bytesUsed: 0, inodesUsed: 0 };
    const size = {
      sizeBytes: used.bytesUsed + kept.bytesUsed + workspaceBytes,
      inodesMax: used.inodesUsed + kept.inodesUsed + WORKSPACE_INODES_MAX,
    };
    const filler = await Keeper.create(engine, {
      image: keeper.image,
      uid: session.uid,
      privileged: true,
      mounts: [
        namedVolume(source.volume(sourceFolder).name, `${KEEPER_ROOT}/${COPY_FROM_FOLDER}`, true),
        ...(hasKept
          ? [namedVolume(keeper.volume(KEPT_FOLDER).name, `${KEEPER_ROOT}/${KEPT_FOLDER}`, true)]
          : []),
        tmpfsVolume(
          `${KEEPER_ROOT}/${COPY_TO_FOLDER}`,
          size,
          session.uid,
          toLabels(session, 'volume'),
        ),
      ],
      labels: toLabels(session, 'filler'),
    });
    await filler.start();
    await filler.copy(from, COPY_TO_FOLDER);
    return filler;
  }

  #workspace(filler: Keeper, release: () => Promise<void>): Workspace {
    return {
      mount: namedVolume(filler.volume(COPY_TO_FOLDER).name, WORKSPACE, false),
      fileSystem: 'tmpfs',
      isFull: async () => isFull(await filler.usage(COPY_TO_FOLDER)),
      release,
    };
  }
}

/** Of a workspace that is mounted where copies are made. */
async function takeAway(mender: Keeper, additions: Additions): Promise<Refused> {
  const refused = await additions.findRefused(async (folders) => {
    const listings = await mender.list(COPY_TO_FOLDER, folders);
    if (listings !== null) return listings;
    throw sandboxError('SANDBOX_WORKSPACE_FAILED', {
      message: 'expected to see all that set-up left, got a folder that the keeper can not read',
    });
  });
  if (refused.gone.length > 0) await mender.remove(COPY_TO_FOLDER, refused.gone);
  return refused;
}

/** What is /output to a run of layout `inputs`: empty. */
export function outputFolder(keeper: Keeper, run: number): RunFolder & { readonly path: string } {
  const top = topOf(run);
  return {
    path: `${keeper.volume(top).path}/upper`,
    isFull: async () => isFull(await keeper.usage(top)),
    release: async () => keeper.clear(top),
  };
}

function rootName(path: string): string {
  return path.slice(0, `${path}/`.indexOf('/'));
}

function isFull({ bytesFree, inodesFree }: VolumeUsage): boolean {
  // The last ones are for the overlay itself, which needs some whenever it is mounted again.
  return bytesFree === 0 || inodesFree < OVERHEAD_INODES;
}
