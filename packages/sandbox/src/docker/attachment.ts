import type { Duplex } from 'node:stream';
import { sandboxError } from '../errors.ts';
import type { OutputStream } from '../port.ts';
import type { Engine } from './engine.ts';
import { FrameReader } from './frames.ts';

export interface Attachment {
  /** Resolves when the engine has sent all output; rejects where the stream broke off. */
  readonly ended: Promise<void>;
  /** Resolves when the bytes are taken, so that a slow reader slows its writer. */
  write(bytes: Uint8Array | string): Promise<void>;
  /** Lets go of the connection; the container's stdin ends. */
  close(): void;
}

/**
 * Attaches to stdin, stdout and stderr of a container that was not started yet, or its first lines could be missed
 * (THREATS C22). Output is read as it comes and never buffered here.
 */
export async function attach(
  engine: Engine,
  containerId: string,
  onOutput: (stream: OutputStream, chunk: Uint8Array) => void,
): Promise<Attachment> {
  const path = `/containers/${containerId}/attach?stream=1&stdin=1&stdout=1&stderr=1`;
  return toAttachment(await engine.call('attach to a container', engine.upgrade(path)), onOutput);
}

function toAttachment(
  socket: Duplex,
  onOutput: (stream: OutputStream, chunk: Uint8Array) => void,
): Attachment {
  const frames = new FrameReader(onOutput);
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  // The owner may look at it late, or never where it gave up before.
  ended.catch(() => undefined);
  socket.on('data', (chunk: Uint8Array) => {
    try {
      frames.push(chunk);
    } catch (error) {
      reject(error);
      socket.destroy();
    }
  });
  socket.on('error', (cause) => reject(brokenOff(cause)));
  const finish = (): void => (frames.isAtBoundary ? resolve() : reject(brokenOff(undefined)));
  socket.on('end', finish);
  socket.on('close', finish);
  return {
    ended,
    write: (bytes) =>
      new Promise((resolveWrite, rejectWrite) => {
        socket.write(bytes, (error) => {
          if (error) rejectWrite(brokenOff(error));
          else resolveWrite();
        });
      }),
    close: () => socket.destroy(),
  };
}

function brokenOff(cause: unknown): Error {
  return sandboxError('SANDBOX_RUN_LOST', {
    message: 'expected the whole output of a container, got a stream that broke off',
    cause,
  });
}
