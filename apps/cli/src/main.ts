import { runCli } from './cli.ts';
import { createProcessHost, drainOutput } from './io/process-host.ts';

const exitCode = await runCli(process.argv.slice(2), createProcessHost());
await drainOutput();
// Not left to the event loop: a connection that somebody keeps open must not keep the user waiting.
process.exit(exitCode);
