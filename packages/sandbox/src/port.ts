import type { TreeArchive } from '@kervyxa/core';

/** Limits of every container of a session. All are settlement-critical and come from the contract. */
export interface SandboxLimits {
  readonly memoryBytes: number;
  readonly cpuCount: number;
  readonly pidsMax: number;
  /** What a process may add to or change in its folder, beyond the tree it starts from. */
  readonly workspaceBytes: number;
  /** stdout and stderr together; one byte more and the container is killed. */
  readonly outputBytes: number;
}

/**
 * Where runs find things. `workspace`: the tree at /workspace, fresh for each run, where it may be changed. `inputs`: the
 * tree read-only at /input, and in the place of /workspace an empty /output for each run; `readFile` reads below that.
 * There is nothing else then: no set-up, kept paths, hidden package, inputs of a probe or dependencies, and no
 * `kervyxa-run`.
 */
export type SessionLayout = 'workspace' | 'inputs';

/**
 * SHA-256 over names, modes and contents of what runs read and nobody may change, 64 hex digits each; null for what the
 * session has not. Equal content has equal digests on every engine.
 */
export interface InputDigests {
  readonly tree: string;
  readonly package: string | null;
  readonly dependencies: string | null;
}

/** How a fresh /workspace is made; the choice changes no verdict. */
export type WorkspaceStrategy = 'overlay' | 'copy';

export type AddedKind = 'folder' | 'link' | 'other';

/**
 * `inside`: a folder that stays, and each thing in it is asked about in its turn; of one that `stays` nothing is.
 * A folder or link that `goes` takes all along that is below it.
 */
export type AdditionFate = 'stays' | 'inside' | 'goes';

export interface AdditionRule {
  /** Paths of files, links and gitlinks of the tree. */
  readonly treePaths: readonly string[];
  /** Asked about what set-up put where the tree has nothing. Bytes of a path that are no UTF-8 come replaced. */
  judge(path: string, kind: AddedKind): AdditionFate;
}

export interface SessionRequest {
  /** Content digest of the image: `sha256:…` or `name@sha256:…`. Never a tag. */
  readonly image: string;
  readonly limits: SandboxLimits;
  readonly tree: TreeArchive;
  /** `workspace` where it is left out. */
  readonly layout?: SessionLayout;
  /**
   * Files and links of the tree that every run finds as the tree has them, whatever set-up put in their place: code of
   * the solver's may have run in it. Left out: none.
   */
  readonly keptPaths?: readonly string[];
  /** What no run finds of what set-up added to folders of the tree. Left out: all of it stays. */
  readonly additions?: AdditionRule;
  /** Hidden files, at `$KERVYXA_VERIFIER_PACKAGE` for the runs that ask for them and for no other. */
  readonly verifierPackage: TreeArchive | null;
  /** What a probe gets of them, at `$KERVYXA_PROBE`; left out or null: an empty folder in the same place. */
  readonly probeInputs?: TreeArchive | null;
  /**
   * The dependency bundle, read-only at `$KERVYXA_DEPS` for set-up and for every run; left out or null: an empty folder
   * in the same place. Its `npmrc` and `pip.conf` are the user's configuration of npm and pip in the containers, and what
   * is in its folder `home` is in $HOME too, as writable folders with links to the files.
   */
  readonly dependencies?: TreeArchive | null;
  /** How many runs may be staged in all; each gets a workspace of its own. */
  readonly runsMax: number;
}

export type OutputStream = 'stdout' | 'stderr';

/**
 * What of the hidden files a run sees; in the place of what it does not see are empty folders.
 *
 * - `none`: nothing.
 * - `probe`: `probeInputs`.
 * - `shared`: the package, readable by every process of the run.
 * - `apart`: the package, readable by a second user only, under whom the command runs. It starts the code under test
 *   with `kervyxa-run COMMAND [ARGUMENT…]`, as the user of every other run, who owns /workspace and can't read the
 *   package or the processes of the second user.
 */
export type PackageAccess = 'none' | 'probe' | 'shared' | 'apart';

export interface RunRequest {
  /**
   * For `/bin/sh -c`, in /workspace or, with layout `inputs`, in /output. Null, with `inputs` alone: ENTRYPOINT and CMD of
   * the image, in its WORKDIR and with its ENV, as the session's user; SANDBOX_IMAGE_UNFIT where it has neither.
   */
  readonly command: string | null;
  readonly timeoutMs: number;
  readonly package: PackageAccess;
  /** The one line on the command's stdin, without its newline; left out: stdin is empty. Of printable ASCII. */
  readonly stdinLine?: string;
  /** Every byte in order, also those beyond what is kept. Must not throw and must not keep the chunk. */
  readonly onOutput?: (stream: OutputStream, chunk: Uint8Array) => void;
  /**
   * The output has ended, and as a rule the command with it: who waits for its CPU may go on while the engine takes
   * the container down. A command that closes its output early only crowds its own neighbours. Must not throw.
   */
  readonly onOutputEnd?: () => void;
}

export interface CapturedStream {
  readonly bytesTotal: number;
  /** 64 hex digits over all bytes that arrived. */
  readonly sha256: string;
  /** The first bytes, at most 64 KiB; `onOutput` has the rest. */
  readonly head: Uint8Array;
}

/**
 * The exit status of a run with layout `inputs` whose command ended with 0 before all its other processes had ended. A
 * command that ends with it itself is not told apart: it fails either way.
 */
export const OUTLIVED_STATUS = 121;

/** Facts about one ended run. No judgement: the verifier grades. */
export interface RunOutcome {
  /** The process's exit status, 128 + n for death by signal n. */
  readonly exitCode: number;
  /** Our own flag, set before the kill; true beats whatever exit status came. */
  readonly timedOut: boolean;
  readonly outputExceeded: boolean;
  /** The cgroup killed at least one process for memory; the run may still have ended with 0. */
  readonly oomKilled: boolean;
  /** A fork was refused by the pids limit; null where the host can't tell. */
  readonly pidsLimitHit: boolean | null;
  /** The run's folder has no space or inode left; null where it was not looked at (exit 0). */
  readonly workspaceFull: boolean | null;
  /** Highest memory of the container in bytes, from the cgroup; null where the host can't tell. */
  readonly peakMemoryBytes: number | null;
  /** From release to end; information only, never part of a verdict. */
  readonly durationMs: number;
  readonly stdout: CapturedStream;
  readonly stderr: CapturedStream;
}

export type FileReading =
  | {
      readonly kind: 'file';
      readonly bytesTotal: number;
      readonly sha256: string;
      /** Newlines, and one for a last line that has none. */
      readonly lineCount: number;
      /** The whole content: a file is read whole or not at all. */
      readonly head: Uint8Array;
    }
  | { readonly kind: 'absent' }
  /** A link, folder, socket, FIFO or device, or a path that leads through a link. */
  | { readonly kind: 'not_regular'; readonly found: string }
  /** Its size, sparse parts included, is above `bytesMax`; nothing of it was read. */
  | { readonly kind: 'too_large'; readonly bytesMax: number };

/**
 * A container that is started and waits at a gate of ours; the command has not begun.
 * `release` at most once, then `readFile` any number of times, then `dispose`. `dispose` is always right: before
 * release, after a failure, twice.
 */
export interface StagedRun {
  /** Opens the gate; the clock of `timeoutMs` starts here. Resolves when the container is dead and its output read. */
  release(signal: AbortSignal): Promise<RunOutcome>;
  /** Reads a file of the run's folder as the run left it, never through a link. Throws SANDBOX_REQUEST_INVALID. */
  readFile(path: string, bytesMax: number, signal: AbortSignal): Promise<FileReading>;
  dispose(): Promise<void>;
}

/**
 * One tree on one image. `runSetup` zero or more times, one after another, before the first `stage`; what the last
 * one left, with `keptPaths` put back and without what `additions` refuses, is where every staged run starts, and no run can change that. Then `stage` side
 * by side as wished.
 * `close` disposes of every run and removes every container and volume of the session, also after a failed start;
 * safe twice.
 */
export interface SandboxSession {
  readonly strategy: WorkspaceStrategy;
  /**
   * Resolves when the tree is laid out; rejects with what kept it from that, and then so does every set-up and run.
   * They may be asked for before: what can be made ready meanwhile is, and they wait with the rest.
   */
  readonly ready: Promise<void>;
  runSetup(request: RunRequest, signal: AbortSignal): Promise<RunOutcome>;
  stage(request: RunRequest, signal: AbortSignal): Promise<StagedRun>;
  /**
   * Reads again what was laid out, as it lies there now; waits for `ready`. Call it once runs may start and once they have
   * ended: whatever changed between was changed from outside, since no run can.
   */
  measure(signal: AbortSignal): Promise<InputDigests>;
  close(): Promise<void>;
}

export interface EngineFacts {
  /** `docker` or `fake`. */
  readonly kind: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly cgroupVersion: '1' | '2';
  readonly cpuCount: number;
  readonly memoryBytes: number;
  readonly architecture: string;
  readonly strategy: WorkspaceStrategy;
  /** What starts the containers of runs, such as `runc` or `runsc`. */
  readonly runtime: string;
  /** What this engine can't do, each a sentence; empty on a full one. */
  readonly limitations: readonly string[];
}

/**
 * Runs commands that nobody trusts. Any number of sessions side by side. Nothing outlives `close` but what a killed
 * program left, and `reap` removes that by label.
 *
 * Throws AppError with fault infra: SANDBOX_ENGINE_UNAVAILABLE, SANDBOX_HOST_TOO_SMALL, SANDBOX_RUNTIME_UNAVAILABLE,
 * SANDBOX_IMAGE_UNAVAILABLE, SANDBOX_WORKSPACE_FAILED, SANDBOX_RUN_LOST, SANDBOX_DISK_FULL, SANDBOX_CLEANUP_FAILED. Fault caller:
 * SANDBOX_IMAGE_NOT_PINNED, SANDBOX_IMAGE_UNFIT, SANDBOX_REQUEST_INVALID. Fault bug: SANDBOX_MISUSED. Whatever the
 * command itself does is an outcome, never an exception. An aborted signal kills the container and rejects with the
 * signal's reason.
 */
export interface Sandbox {
  inspect(signal: AbortSignal): Promise<EngineFacts>;
  /** The image id (`sha256:…`) that a catalogue digest or `name@sha256:…` means here; refuses tags and unfit images. */
  resolveImage(reference: string, signal: AbortSignal): Promise<string>;
  openSession(request: SessionRequest, signal: AbortSignal): Promise<SandboxSession>;
  /** Removes what dead programs of this host left; answers how many containers and volumes. */
  reap(signal: AbortSignal): Promise<number>;
}
