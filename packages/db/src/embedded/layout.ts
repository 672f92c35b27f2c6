import { join } from 'node:path';
import { createDbError } from '../errors.ts';

/** Where the parts of one built-in server are. */
export interface Layout {
  readonly folder: string;
  /** Renamed into place once complete: data and password belong together. */
  readonly cluster: string;
  readonly data: string;
  readonly passwordFile: string;
  readonly pidFile: string;
  readonly socketFolder: string;
  readonly logFile: string;
}

/** What the kernel takes as the path of a unix socket: 108 bytes with the zero at the end. */
const SOCKET_PATH_BYTES_MAX = 107;

/** Throws DB_EMBEDDED_UNSUPPORTED for a folder whose path is too long. */
export function layoutOf(folder: string): Layout {
  const cluster = join(folder, 'cluster');
  const socketFolder = join(folder, 'socket');
  const socketBytes = Buffer.byteLength(join(socketFolder, '.s.PGSQL.5432'));
  if (socketBytes > SOCKET_PATH_BYTES_MAX) {
    throw createDbError('DB_EMBEDDED_UNSUPPORTED', {
      message: `expected a folder that leaves room for a socket of at most ${SOCKET_PATH_BYTES_MAX} bytes, got ${socketBytes} bytes below ${folder}`,
      fix: 'Set KERVYXA_HOME to a folder with a shorter path.',
    });
  }
  return {
    folder,
    cluster,
    data: join(cluster, 'data'),
    passwordFile: join(cluster, 'password'),
    pidFile: join(cluster, 'data', 'postmaster.pid'),
    socketFolder,
    logFile: join(folder, 'server.log'),
  };
}
