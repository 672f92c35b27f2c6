import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, '../main.ts');

export interface CliProcess {
  readonly pid: number;
  readonly stdout: string;
  readonly stderr: string;
  kill(signal: NodeJS.Signals): void;
  /** Resolves once the stream (stderr) has the text; rejects with all of it where the process ends first. */
  says(text: string, stream?: 'stdout' | 'stderr'): Promise<void>;
  readonly ended: Promise<CliEnd>;
}

export interface CliEnd {
  /** Null where a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Closes the reading end of stdout before anything is written, as `| head` may. */
  readonly closeStdout?: boolean;
}

/** Starts the command line as a process of its own, as a user does. */
export function startCli(
  argv: readonly string[],
  { env, stdin = '', closeStdout = false }: CliOptions = {},
): CliProcess {
  const child = spawn(process.execPath, [MAIN, ...argv], { env: { ...process.env, ...env } });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (piece: string) => {
      texts[name] += piece;
      child.emit('said');
    });
  }
  if (closeStdout) child.stdout.destroy();
  // A process that ends before it has read everything closes its input.
  child.stdin.on('error', () => child.stdin.destroy());
  child.stdin.end(stdin);
  const ended = once(child, 'close').then(([exitCode]) => ({ exitCode, ...texts }));
  return {
    // A process that could not be started has none, and says so by `ended`.
    pid: child.pid ?? 0,
    get stdout() {
      return texts.stdout;
    },
    get stderr() {
      return texts.stderr;
    },
    kill: (signal) => child.kill(signal),
    says: (text, stream = 'stderr') =>
      new Promise((found, missed) => {
        const look = () => {
          if (texts[stream].includes(text)) found();
        };
        child.on('said', look);
        child.once('close', () =>
          missed(
            new Error(`expected "${text}" on ${stream}, got:\n${texts.stdout}${texts.stderr}`),
          ),
        );
        look();
      }),
    ended,
  };
}

/** Runs the command line to its end. */
export async function runCliProcess(
  argv: readonly string[],
  options?: CliOptions,
): Promise<CliEnd> {
  return startCli(argv, options).ended;
}
