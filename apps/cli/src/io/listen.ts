import { once } from 'node:events';
import { createServer } from 'node:net';
import type { ListenOptions } from '../daemon-options.ts';
import { cliError } from '../errors.ts';

/** Throws CLI_LISTEN_FAILED where the address can't be had now: before anything is set up, begun or printed. */
export async function assertListenable(options: ListenOptions): Promise<void> {
  const probe = createServer();
  try {
    await once(probe.listen(options), 'listening');
  } catch (error) {
    throw toListenError(error, options);
  }
  await new Promise((closed) => probe.close(closed));
}

const PROBLEMS: Readonly<Record<string, { message: string; fix: string }>> = {
  EADDRINUSE: {
    message: 'something else listens there',
    fix: 'If that is a kervyxa, it runs already. Else choose another port with --port.',
  },
  EACCES: { message: 'this user may not listen there', fix: 'Choose a --port above 1023.' },
  EADDRNOTAVAIL: { message: 'no such address', fix: 'Give an address of this machine as --host.' },
  ENOTFOUND: { message: 'no such address', fix: 'Give an address of this machine as --host.' },
};

/** CLI_LISTEN_FAILED for what the system says of an address; any other error as it is. */
export function toListenError(error: unknown, { host, port }: ListenOptions): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const problem = PROBLEMS[code];
  if (problem === undefined) return error;
  return cliError('CLI_LISTEN_FAILED', {
    message: `expected to listen on ${host} port ${port}, got ${code}: ${problem.message}`,
    fix: problem.fix,
    cause: error,
  });
}
