import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { messageOf } from './errors.mjs';
import { sendSignal } from './processes.mjs';

const HEAD_LINES = 6;
const TAIL_LINES = 12;
const KILL_AFTER_MS = 10_000;

/**
 * @typedef {object} CommandResult
 * @property {number} exitCode 127 when the program could not be started, 128 + n for a signal
 * @property {string} stdout
 * @property {string} excerpt the first and last lines of stdout and stderr, for a message
 *
 * @typedef {object} CommandOptions
 * @property {string} [cwd]
 * @property {NodeJS.ProcessEnv} [env]
 * @property {((line: string) => void) | undefined} [onLine]
 * @property {((pid: number) => void) | undefined} [onStart]
 * @property {AbortSignal | undefined} [signal]
 */

/**
 * Runs a program without a shell, in a process group of its own, so that all it started can be ended together; a
 * terminal's Ctrl-C reaches it only through `signal`. Rejects with the signal's reason after the group is gone.
 * @param {string} program
 * @param {string[]} args
 * @param {CommandOptions} [options]
 * @returns {Promise<CommandResult>}
 */
export async function runCommand(program, args, { cwd, env, onLine, onStart, signal } = {}) {
  signal?.throwIfAborted();
  const child = spawn(program, args, {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (child.pid !== undefined) onStart?.(child.pid);
  const stop = () => stopGroup(child);
  signal?.addEventListener('abort', stop, { once: true });

  const excerpt = createExcerpt();
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      excerpt.add(line);
      onLine?.(line);
    });
  }
  const exitCode = await new Promise((resolve) => {
    child.on('error', (error) => {
      excerpt.add(messageOf(error));
      resolve(127);
    });
    child.on('close', (code, name) => resolve(code ?? 128 + signalNumber(name)));
  });
  signal?.removeEventListener('abort', stop);
  signal?.throwIfAborted();
  return { exitCode, stdout, excerpt: excerpt.text() };
}

/** The beginning, where npm says what is wrong, and the end, where apt does. */
export function createExcerpt() {
  /** @type {string[]} */
  const head = [];
  /** @type {string[]} */
  const tail = [];
  let omitted = 0;
  return {
    /** @param {string} line */
    add(line) {
      if (head.length < HEAD_LINES) head.push(line);
      else tail.push(line);
      if (tail.length <= TAIL_LINES) return;
      tail.shift();
      omitted += 1;
    },
    text: () => [...head, ...(omitted > 0 ? [`… (${omitted} lines)`] : []), ...tail].join('\n'),
  };
}

/** @param {import('node:child_process').ChildProcess} child */
function stopGroup(child) {
  const { pid } = child;
  if (pid === undefined) return;
  sendSignal(-pid, 'SIGTERM');
  const timer = setTimeout(() => sendSignal(-pid, 'SIGKILL'), KILL_AFTER_MS);
  child.on('close', () => clearTimeout(timer));
}

/** @param {NodeJS.Signals | null} name */
function signalNumber(name) {
  return name === 'SIGKILL' ? 9 : name === 'SIGINT' ? 2 : 15;
}

/**
 * @param {string} text
 * @returns {string} each line moved in, to stand below a message
 */
export function indent(text) {
  return text.replace(/^/gm, '    ');
}
