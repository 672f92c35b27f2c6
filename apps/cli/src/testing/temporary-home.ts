import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureReady, stateFolder } from '@kervyxa/setup';

const CATALOGUE = 'runtimes.json';

export interface TemporaryHome {
  readonly folder: string;
  /** For a process that is to live in it. */
  readonly env: Readonly<Record<string, string>>;
  close(): void;
}

/** A state folder of its own, so a database of its own, with this machine's engine and images. */
export async function openTemporaryHome(): Promise<TemporaryHome> {
  const { dockerHost } = await ensureReady();
  const folder = mkdtempSync(join(tmpdir(), 'kervyxa-home-'));
  // PostgreSQL runs as another user where we are root.
  chmodSync(folder, 0o711);
  copyFileSync(join(stateFolder(), CATALOGUE), join(folder, CATALOGUE));
  return {
    folder,
    env: { KERVYXA_HOME: folder, DOCKER_HOST: dockerHost, DATABASE_URL: '' },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
