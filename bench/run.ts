import { spawn } from 'node:child_process';

/** Runs a program to its end; its errors are shown. Rejects where it does not end with 0. */
export function run(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, ...env },
    });
    child.on('error', (cause) =>
      reject(
        new Error(`expected the program ${command} on PATH, which is compared with`, { cause }),
      ),
    );
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${command} ${args[0]} ended with ${code}`)),
    );
  });
}

/** A line of progress. */
export function say(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}
