import { systemClock } from '@kervyxa/core';
import pc from 'picocolors';
import type { WriteStream } from 'node:tty';
import type { Host, Screen, StopSignal } from '../host.ts';

const STOP_SIGNALS: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Width of what is written into a file or a pipe. */
const FILE_COLUMNS = 100;

/** This process, as the commands see it. */
export function createProcessHost(): Host {
  return {
    stdout: toScreen(process.stdout, process.env),
    stderr: toScreen(process.stderr, process.env),
    interactive: process.stdin.isTTY && process.stderr.isTTY,
    env: process.env,
    clock: systemClock,
    stdin: process.stdin,
    onStopSignal(listener) {
      for (const signal of STOP_SIGNALS) process.on(signal, listener);
      return () => {
        for (const signal of STOP_SIGNALS) process.off(signal, listener);
      };
    },
    every(ms, tick) {
      const timer = setInterval(tick, ms).unref();
      return () => clearInterval(timer);
    },
    exitNow: (exitCode) => process.exit(exitCode),
  };
}

/** Waits until both streams have handed everything over, so that an exit cuts nothing off a pipe. */
export async function drainOutput(): Promise<void> {
  await Promise.all([process.stdout, process.stderr].map(drain));
}

function toScreen(stream: WriteStream, env: NodeJS.ProcessEnv): Screen {
  let readerGone = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // `kervyxa … | head`: the reader has what it wanted.
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
    readerGone = true;
  });
  const isTerminal = stream.isTTY === true;
  const colored = isTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  return {
    isTerminal: isTerminal && env['TERM'] !== 'dumb',
    colors: pc.createColors(colored),
    get columns() {
      return isTerminal ? Math.max(stream.columns, 40) : FILE_COLUMNS;
    },
    write(text) {
      if (!readerGone) stream.write(text);
    },
  };
}

function drain(stream: WriteStream): Promise<void> {
  return new Promise((done) => {
    if (stream.destroyed || !stream.writable) done();
    // The callback comes with the error, too, where the reader has gone.
    else stream.write('', () => done());
  });
}
