import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { simpleGit, GitError } from 'simple-git';
import { createIntakeError } from '../errors.ts';
import { gitEnvironment, type GitRemote } from './environment.ts';
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
  /** Null for a process that has no business on a network. */
  readonly remote: GitRemote | null;
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

export interface GitStream {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves when the process and its helpers are gone. */
  readonly ended: Promise<{ readonly exitCode: number | null }>;
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
  const kill = (): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      killGroup(child.pid);
    }
  };
  signal.addEventListener('abort', kill, { once: true });
  // A git that ended early closes its input; its exit status says why.
  child.stdin.on('error', () => child.stdin.destroy());
  const ended = once(child, 'close').then(
    ([exitCode]: (number | null)[]) => {
      signal.removeEventListener('abort', kill);
      return { exitCode: exitCode ?? null };
    },
    (error: unknown) => {
      throw gitUnavailable(error);
    },
  );
  return { stdin: child.stdin, stdout: child.stdout, ended, kill };
}

/**
 * Streams a git command through `read`. Where `read` throws or stops early, git is ended; in any case it is gone when
 * this resolves. `exitCode` is null for a git that was ended by us or by a limit.
 */
export async function readGit<T>(
  context: GitContext,
  argv: readonly string[],
  signal: AbortSignal,
  read: (stdout: Readable) => Promise<T>,
): Promise<{ readonly value: T; readonly exitCode: number | null }> {
  const git = streamGit(context, argv, signal);
  git.stdin.end();
  try {
    const value = await read(git.stdout);
    if (!git.stdout.readableEnded) git.kill();
    const { exitCode } = await git.ended;
    signal.throwIfAborted();
    return { value, exitCode };
  } catch (error) {
    git.kill();
    await git.ended;
    signal.throwIfAborted();
    throw error;
  }
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
