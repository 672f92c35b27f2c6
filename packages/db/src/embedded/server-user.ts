import { chown, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createDbError } from '../errors.ts';

/** Who PostgreSQL runs as; null: we ourselves. It refuses to run as root. */
export type ServerUser = { readonly uid: number; readonly gid: number } | null;

/** Nobody, on every Linux; initdb wants a user that has a name. */
const NOBODY = { uid: 65_534, gid: 65_534 };

export function serverUser(): ServerUser {
  return process.getuid?.() === 0 ? NOBODY : null;
}

export async function giveTo(user: ServerUser, path: string): Promise<void> {
  if (user !== null) await chown(path, user.uid, user.gid);
}

/** The first folder on the way to `path`, itself included, that the user may not enter; null where there is none. */
export async function closedFolderOn(path: string, user: ServerUser): Promise<string | null> {
  if (user === null) return null;
  for (let folder = path; ; folder = dirname(folder)) {
    const { mode, uid } = await stat(folder);
    if (uid !== user.uid && (mode & 0o001) === 0) return folder;
    if (folder === dirname(folder)) return null;
  }
}

/** Throws DB_EMBEDDED_UNSUPPORTED. */
export async function assertReachable(folder: string, user: ServerUser): Promise<void> {
  const closed = await closedFolderOn(folder, user);
  if (closed === null) return;
  throw createDbError('DB_EMBEDDED_UNSUPPORTED', {
    message: `expected a folder that PostgreSQL can enter as user nobody, which it runs as because we are root, got ${closed}`,
    fix: `Run \`chmod o+x ${closed}\`, set KERVYXA_HOME to another folder, or don't run as root.`,
  });
}
