import { createServer } from 'node:net';

/**
 * One at a time on this machine, by a name that the kernel forgets when its process ends, however it ends. Null where
 * another has it; else gives it back when called.
 */
export async function tryStartLock(folder: string): Promise<(() => Promise<void>) | null> {
  const server = createServer((connection) => connection.destroy());
  // A leading NUL: a socket without a file. The name may be 107 bytes long, as the folder's socket path.
  const name = `\0${folder}/start`;
  const isMine = await new Promise<boolean>((resolve, reject) => {
    server.once('listening', () => resolve(true));
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen(name);
  });
  if (!isMine) return null;
  return () => new Promise((resolve) => server.close(() => resolve()));
}
