import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { layoutOf } from '../embedded/layout.ts';
import { stopServer } from '../embedded/server.ts';

const PREFIX = 'kervyxa-test-postgres-';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder of the run's PostgreSQL, which the first test that needs one starts. */
    testPostgresFolder: string;
  }
}

/** One PostgreSQL for a whole run of tests, which costs nothing until a test asks for it. */
export async function setup(project: {
  provide(name: 'testPostgresFolder', folder: string): void;
}): Promise<() => Promise<void>> {
  await removeLeftovers();
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  // The server may run as another user, who has to get to its own folders inside.
  chmodSync(folder, 0o711);
  project.provide('testPostgresFolder', folder);
  return () => removeServer(folder);
}

/** Servers of runs that were killed. */
async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(PREFIX) ? name.slice(PREFIX.length).split('-')[0] : undefined;
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) await removeServer(join(tmpdir(), name));
  }
}

async function removeServer(folder: string): Promise<void> {
  await stopServer(layoutOf(folder));
  rmSync(folder, { recursive: true, force: true });
}
