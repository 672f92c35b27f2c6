import { sha256Hex, type TreeArchive } from '@kervyxa/core';
import { Additions } from '../additions.ts';
import { sandboxError } from '../errors.ts';
import { RunLifecycle, SessionLifecycle } from '../lifecycle.ts';
import { digestOfTree } from '../input-digest.ts';
import type {
  EngineFacts,
  FileReading,
  InputDigests,
  RunOutcome,
  RunRequest,
  Sandbox,
  SandboxSession,
  SessionRequest,
  StagedRun,
} from '../port.ts';
import { assertRunRequest, assertSessionRequest } from '../request.ts';
import {
  type FakeEntry,
  type FakeFiles,
  listFakeFolder,
  readFakeFile,
  unpackFakeFiles,
} from './fake-files.ts';
import { toFakeOutcome } from './fake-outcome.ts';

/** What a scripted command does. What is left out is what `true` does. */
export interface FakeBehaviour {
  readonly stdout?: string | Uint8Array;
  readonly stderr?: string | Uint8Array;
  readonly exitCode?: number;
  /** Never ends by itself: the time-out comes at once, or only an abort ends it. */
  readonly hangs?: 'until_timeout' | 'until_abort';
  readonly oomKilled?: boolean;
  readonly pidsLimitHit?: boolean | null;
  readonly workspaceFull?: boolean;
  readonly peakMemoryBytes?: number | null;
  /** What it leaves in its workspace; null removes. */
  readonly writes?: Readonly<Record<string, FakeEntry | null>>;
  /** Somebody else changes this meanwhile, as no run can: it measures otherwise from then on. */
  readonly meanwhileChanged?: keyof InputDigests;
  /** What `release` rejects with instead: trouble of the engine's. */
  readonly breaksWith?: Error;
}

/** What a command can see. */
export interface FakeView {
  /** With layout `inputs` what is in /output. */
  readonly workspace: FakeFiles;
  /** With layout `inputs` the tree; empty without. */
  readonly input: FakeFiles;
  /** Empty for a run without the hidden package. */
  readonly verifierPackage: FakeFiles;
  /** Empty for a run that is no probe. */
  readonly probeInputs: FakeFiles;
  /** The dependency bundle; empty without one. */
  readonly dependencies: FakeFiles;
  /** The line on its stdin and its newline; empty without one. */
  readonly stdin: string;
}

export type FakeCommand = FakeBehaviour | ((view: FakeView) => FakeBehaviour);

export interface FakeSandboxOptions {
  /** Command → what it does. A command that is not here is a mistake of the test's: SANDBOX_MISUSED. */
  readonly commands: Readonly<Record<string, FakeCommand>>;
  /** What the image's own command does; an image without one where it is left out. */
  readonly imageCommand?: FakeCommand;
  /** Reference → image id; `sha256:…` references mean themselves where this is left out. */
  readonly images?: Readonly<Record<string, string>>;
}

/** The port in memory, for tests of what uses it. Keeps the same order of calls and refuses the same requests. */
export function createFakeSandbox(options: FakeSandboxOptions): Sandbox {
  return new FakeSandbox(options);
}

class FakeSandbox implements Sandbox {
  readonly #options: FakeSandboxOptions;

  constructor(options: FakeSandboxOptions) {
    this.#options = options;
  }

  async inspect(signal: AbortSignal): Promise<EngineFacts> {
    signal.throwIfAborted();
    return {
      kind: 'fake',
      version: '0',
      apiVersion: '0',
      cgroupVersion: '2',
      cpuCount: 2,
      memoryBytes: 4 * 1_024 ** 3,
      architecture: 'x86_64',
      strategy: 'copy',
      runtime: 'fake',
      limitations: ['Nothing runs here: commands are scripted.'],
    };
  }

  async resolveImage(reference: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    if (!/^(?:\S+@)?sha256:[0-9a-f]{64}$/.test(reference)) {
      throw sandboxError('SANDBOX_IMAGE_NOT_PINNED', {
        message: `expected an image by digest, got "${reference}"`,
      });
    }
    const { images } = this.#options;
    const id =
      images === undefined ? reference.slice(reference.indexOf('sha256:')) : images[reference];
    if (id === undefined) {
      throw sandboxError('SANDBOX_IMAGE_UNAVAILABLE', {
        message: `expected image ${reference} in the fake, but it is not there`,
      });
    }
    return id;
  }

  async openSession(request: SessionRequest, signal: AbortSignal): Promise<SandboxSession> {
    assertSessionRequest(request);
    await this.resolveImage(request.image, signal);
    const tree = await unpackFakeFiles(request.tree, signal);
    const unpack = async (archive: TreeArchive | null): Promise<FakeFiles> =>
      archive === null ? new Map() : unpackFakeFiles(archive, signal);
    const verifierPackage = await unpack(request.verifierPackage);
    const probeInputs = await unpack(request.probeInputs ?? null);
    const dependencies = await unpack(request.dependencies ?? null);
    signal.throwIfAborted();
    const isInput = request.layout === 'inputs';
    const view = {
      workspace: isInput ? new Map<string, FakeEntry>() : tree,
      input: isInput ? tree : NOTHING,
      verifierPackage,
      probeInputs,
      dependencies,
    };
    return new FakeSession(request, this.#options, view);
  }

  async reap(signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    return 0;
  }
}

type SessionView = Omit<FakeView, 'workspace' | 'stdin'> & {
  readonly workspace: Map<string, FakeEntry>;
};

const NOTHING: FakeFiles = new Map();

class FakeSession implements SandboxSession {
  readonly strategy = 'copy';
  readonly ready = Promise.resolve();
  readonly #request: SessionRequest;
  readonly #options: FakeSandboxOptions;
  readonly #view: SessionView;
  readonly #tree: FakeFiles;
  readonly #lifecycle: SessionLifecycle;
  readonly #changed = new Set<keyof InputDigests>();

  constructor(request: SessionRequest, options: FakeSandboxOptions, view: SessionView) {
    this.#request = request;
    this.#options = options;
    this.#view = view;
    this.#tree = new Map(view.workspace);
    this.#lifecycle = new SessionLifecycle(request);
  }

  async runSetup(request: RunRequest, signal: AbortSignal): Promise<RunOutcome> {
    assertRunRequest(request, this.#request);
    const endSetup = this.#lifecycle.beginSetup();
    try {
      return await this.#createRun(request, this.#view.workspace).release(signal);
    } finally {
      endSetup();
    }
  }

  async stage(request: RunRequest, signal: AbortSignal): Promise<StagedRun> {
    assertRunRequest(request, this.#request);
    this.#lifecycle.beginStage();
    signal.throwIfAborted();
    return this.#createRun(request, await this.#afterSetup());
  }

  async measure(signal: AbortSignal): Promise<InputDigests> {
    this.#lifecycle.assertOpen('measure');
    signal.throwIfAborted();
    const { tree, verifierPackage, dependencies = null } = this.#request;
    const digest = async (of: keyof InputDigests, archive: TreeArchive): Promise<string> => {
      const before = await digestOfTree(archive, signal);
      return this.#changed.has(of) ? sha256Hex(`${before} changed`) : before;
    };
    return {
      tree: await digest('tree', tree),
      package: verifierPackage && (await digest('package', verifierPackage)),
      dependencies: dependencies && (await digest('dependencies', dependencies)),
    };
  }

  async close(): Promise<void> {
    this.#lifecycle.close();
  }

  async #afterSetup(): Promise<Map<string, FakeEntry>> {
    const workspace = new Map(this.#view.workspace);
    const { keptPaths = [], additions } = this.#request;
    const refused =
      additions === undefined
        ? null
        : await new Additions(additions).findRefused(async (folders) =>
            folders.map((folder) => listFakeFolder(workspace, folder)),
          );
    for (const gone of refused?.gone ?? []) {
      const path = Buffer.from(gone, 'latin1').toString();
      for (const other of workspace.keys()) {
        if (`${other}/`.startsWith(`${path}/`)) workspace.delete(other);
      }
    }
    for (const path of [...keptPaths, ...(refused?.spoiled ?? [])]) {
      const entry = this.#tree.get(path);
      if (entry === undefined || toKind(entry) === 'folder') continue;
      for (const other of workspace.keys()) {
        if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) workspace.delete(other);
      }
      workspace.set(path, entry);
    }
    return workspace;
  }

  #createRun(request: RunRequest, workspace: Map<string, FakeEntry>): FakeRun {
    const command = this.#commandOf(request);
    const { package: access, stdinLine } = request;
    const view: FakeView = {
      workspace,
      input: this.#view.input,
      verifierPackage:
        access === 'shared' || access === 'apart' ? this.#view.verifierPackage : NOTHING,
      probeInputs: access === 'probe' ? this.#view.probeInputs : NOTHING,
      dependencies: this.#view.dependencies,
      stdin: stdinLine === undefined ? '' : `${stdinLine}\n`,
    };
    const behave = (): FakeBehaviour => {
      const behaviour = typeof command === 'function' ? command(view) : command;
      if (behaviour.meanwhileChanged !== undefined) this.#changed.add(behaviour.meanwhileChanged);
      return behaviour;
    };
    return new FakeRun({ request, workspace, behave, bytesMax: this.#request.limits.outputBytes });
  }

  #commandOf({ command }: RunRequest): FakeCommand {
    const found = command === null ? this.#options.imageCommand : this.#options.commands[command];
    if (found !== undefined) return found;
    if (command === null) {
      throw sandboxError('SANDBOX_IMAGE_UNFIT', {
        message: 'expected an image with an ENTRYPOINT or CMD, got one without',
      });
    }
    throw sandboxError('SANDBOX_MISUSED', {
      message: `expected a scripted command, got "${command}"`,
    });
  }
}

interface FakeRunParts {
  readonly request: RunRequest;
  readonly workspace: Map<string, FakeEntry>;
  readonly behave: () => FakeBehaviour;
  readonly bytesMax: number;
}

class FakeRun implements StagedRun {
  readonly #parts: FakeRunParts;
  readonly #lifecycle = new RunLifecycle();

  constructor(parts: FakeRunParts) {
    this.#parts = parts;
  }

  async release(signal: AbortSignal): Promise<RunOutcome> {
    this.#lifecycle.beginRelease();
    signal.throwIfAborted();
    const { request, workspace, behave, bytesMax } = this.#parts;
    const behaviour = behave();
    try {
      if (behaviour.hangs === 'until_abort') await aborted(signal);
      if (behaviour.breaksWith !== undefined) throw behaviour.breaksWith;
      for (const [path, entry] of Object.entries(behaviour.writes ?? {})) {
        if (entry === null) workspace.delete(path);
        else workspace.set(path, entry);
      }
      return toFakeOutcome(behaviour, request, bytesMax);
    } finally {
      request.onOutputEnd?.();
      this.#lifecycle.endRelease();
    }
  }

  async readFile(path: string, bytesMax: number, signal: AbortSignal): Promise<FileReading> {
    this.#lifecycle.assertReadable();
    signal.throwIfAborted();
    return readFakeFile(this.#parts.workspace, path, bytesMax);
  }

  async dispose(): Promise<void> {
    this.#lifecycle.dispose();
  }
}

function toKind(entry: FakeEntry): string {
  return typeof entry === 'object' && 'kind' in entry ? entry.kind : 'file';
}

/** Rejects with the signal's reason when it is aborted; never resolves. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
