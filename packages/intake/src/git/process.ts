import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { simpleGit, GitError } from 'simple-git';
import { createIntakeError } from '../errors.ts';
import { gitEnvironment } from './environment.ts';
import type { IntakeLimits } from './limits.ts';

const GUARD = fileURLToPath(new URL('guard.sh', import.meta.url));
const OUTPUT_BYTES_MAX = 1_048_576;

/** How git is run on one repository. */
export interface GitContext {
  readonly gitDir: string;
  /** Folders of repositories whose objects are read as if they were this one's. */
  readonly alternates?: readonly string[];
  readonly home: string;
  readonly limits: IntakeLimits;
  /** URL of the gateway that git may fetch from; null for a process that has no business on a network. */
  readonly remote: string | null;
}

export interface GitResult {
  /** Null where a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  /** For classification only: part of it is the server's text. Never shown. */
  readonly stderr: string;
}

/**
 * Runs a git command to its end and returns what it said, whatever its exit status; each stream is kept up to 1 MiB.
 * Rejects with the signal's reason when aborted, and with INTAKE_GIT_UNAVAILABLE where git can't be started.
 */
export async function runGit(
  context: GitContext,
  argv: readonly string[],
  signal: AbortSignal,
): Promise<GitResult> {
  signal.throwIfAborted();
  const environment = gitEnvironment(context);
  let result: GitResult | undefined;
  const git = simpleGit({
    baseDir: context.home,
    binary: 'sh',
    abort: signal,
    // simple-git guards against values from users. These are constants of ours, and each switches something off.
    allowEnvironment: Object.keys(environment),
    unsafe: {
      allowUnsafeAskPass: true,
      allowUnsafeConfigEnvCount: true,
      allowUnsafeConfigPaths: true,
      allowUnsafeCredentialHelper: true,
      allowUnsafeDiffExternal: true,
      allowUnsafeFsMonitor: true,
      allowUnsafeHooksPath: true,
      allowUnsafePager: true,
      allowUnsafeTemplateDir: true,
    },
    errors: (_error, { exitCode, stdOut, stdErr }) => {
      result = { exitCode, stdout: join(stdOut), stderr: join(stdErr) };
      return undefined;
    },
  })
    .env(environment)
    .outputHandler((_command, stdout, stderr) => {
      capOutput(stdout);
      capOutput(stderr);
    });
  try {
    await git.raw([...guardArguments(context.limits), ...argv]);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof GitError)) throw error;
    throw gitUnavailable(error);
  }
  signal.throwIfAborted();
  if (result === undefined) throw gitUnavailable(new Error('no result'));
  if (result.exitCode === 126 || result.exitCode === 127) throw gitUnavailable(new Error('no git'));
  return result;
}

export interface GitEnd {
  /** Null where a signal ended it. */
  readonly exitCode: number | null;
  /** A limit of time ended it, and not `kill`. */
  readonly isLimit: boolean;
}

export interface GitStream {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves when the process and its helpers are gone. */
  readonly ended: Promise<GitEnd>;
  /** Ends the process and its helpers. Safe to call twice. */
  kill(): void;
}

/**
 * Starts a git command whose output is read as it comes: what simple-git, which collects output, can't do. Same guard,
 * same environment. The caller reads stdout or kills; an aborted signal kills.
 */
export function streamGit(
  context: GitContext,
  argv: readonly string[],
  signal: AbortSignal,
): GitStream {
  signal.throwIfAborted();
  const child = spawn('sh', [...guardArguments(context.limits), ...argv], {
    cwd: context.home,
    env: gitEnvironment(context),
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let isKilled = false;
  const kill = (): void => {
    isKilled = true;
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      killGroup(child.pid);
    }
  };
  signal.addEventListener('abort', kill, { once: true });
  // A git that ended early closes its input; its exit status says why.
  child.stdin.on('error', () => child.stdin.destroy());
  const ended = once(child, 'close').then(
    ([code, name]: (number | NodeJS.Signals | null)[]): GitEnd => {
      signal.removeEventListener('abort', kill);
      const exitCode = typeof code === 'number' ? code : null;
      // timeout(1) ends as what it runs has ended: by the signal, or with 128 and its number.
      const isTimeUsedUp = name === 'SIGXCPU' || exitCode === 152 || exitCode === 137;
      return { exitCode, isLimit: isTimeUsedUp || (name === 'SIGKILL' && !isKilled) };
    },
    (error: unknown) => {
      throw gitUnavailable(error);
    },
  );
  // Whoever reads awaits it later than a git that could not be started tells so.
  ended.catch(() => undefined);
  return { stdin: child.stdin, stdout: child.stdout, ended, kill };
}

/**
 * Streams a git command through `read`. Where `read` throws or stops early, git is ended; in any case it is gone when
 * this resolves.
 */
export async function readGit<T>(
  context: GitContext,
  argv: readonly string[],
  signal: AbortSignal,
  read: (stdout: Readable) => Promise<T>,
): Promise<{ readonly value: T; readonly end: GitEnd }> {
  const git = streamGit(context, argv, signal);
  git.stdin.end();
  try {
    const value = await read(git.stdout);
    if (!git.stdout.readableEnded) git.kill();
    const end = await git.ended;
    signal.throwIfAborted();
    return { value, end };
  } catch (error) {
    git.kill();
    const end = await git.ended;
    signal.throwIfAborted();
    throw toReadError(error, end);
  }
}

/**
 * Git was stopped by a limit of ours while it read objects. A pack of few kilobytes can make each of many small
 * objects cost the unpacking of a large one, so this is the doing of whoever made the pack, and no damage.
 */
export class LimitReached extends Error {
  override readonly name = 'LimitReached';

  constructor(cause: unknown) {
    super('git went beyond its limits of time while it read objects', { cause });
  }
}

/** Git could not read objects for another reason: damage, or more memory than it may have. */
export class ReadFailed extends Error {
  override readonly name = 'ReadFailed';

  constructor(cause: unknown) {
    super('git could not read objects', { cause });
  }
}

/** What a failure to read means, given how git ended. */
export function toReadError(error: unknown, { isLimit }: GitEnd): Error {
  return isLimit ? new LimitReached(error) : new ReadFailed(error);
}

function guardArguments(limits: IntakeLimits): string[] {
  return [
    GUARD,
    String(Math.ceil(limits.gitMemoryBytesMax / 1_024)),
    String(Math.ceil(limits.packBytesMax / 512)),
    String(limits.gitCpuSecondsMax),
    String(limits.gitWallSecondsMax),
  ];
}

/** After the cap the stream is still read, so that git does not stall, but nothing of it is kept (THREATS G26). */
function capOutput(stream: NodeJS.ReadableStream): void {
  let bytes = 0;
  stream.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes <= OUTPUT_BYTES_MAX) return;
    stream.removeAllListeners('data');
    stream.resume();
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // The group ended by itself in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function join(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces).toString('utf8');
}

function gitUnavailable(cause: unknown): Error {
  return createIntakeError('INTAKE_GIT_UNAVAILABLE', {
    message: 'expected git to start under sh and timeout, got no process',
    fix: 'install git, and coreutils for timeout, in /usr/local/bin, /usr/bin or /bin',
    cause,
  });
}
