import { text } from 'node:stream/consumers';
import { isFileMode, type TreeRecord } from '../tree/record.ts';
import type { GitContext, GitStream } from './process.ts';
import { streamGit, toReadError } from './process.ts';

export interface ObjectHeader {
  readonly type: string;
  readonly size: number;
}

/** One object, its content in pieces that must be read to the end before the next object. */
export interface StreamedObject extends ObjectHeader {
  readonly content: AsyncIterable<Uint8Array>;
}

const NEWLINE = 0x0a;
const HEADER_BYTES_MAX = 200;
const REQUEST_IDS_AHEAD = 1_000;

/**
 * Reads objects, in the order asked, through one `git cat-file --batch`. The ids are written ahead of the answers, so
 * that git works while the reader does; the pipe's own limit keeps memory constant. The process ends with the loop.
 *
 * Throws an Error where an object is missing or git ends early: the store is complete, so that is damage; but
 * LimitReached where a limit ended git.
 */
export async function* readObjects(
  context: GitContext,
  ids: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<StreamedObject> {
  if (ids.length === 0) return;
  const git = streamGit(context, ['cat-file', '--batch'], signal);
  const writing = writeIds(git, ids);
  const source = new ByteSource(git.stdout, signal);
  const asReadError = async (error: unknown): Promise<Error> => {
    git.kill();
    git.stdout.destroy();
    const end = await git.ended;
    signal.throwIfAborted();
    return toReadError(error, end);
  };
  try {
    for (const id of ids) {
      const { type, size } = parseHeader(await source.line(), id);
      let left = size;
      const content = async function* (): AsyncGenerator<Uint8Array> {
        while (left > 0) {
          // Whoever reads the content gets its error, past the loop below.
          const piece = await source.some(left).catch(async (error: unknown) => {
            throw await asReadError(error);
          });
          left -= piece.length;
          yield piece;
        }
      };
      yield { type, size, content: content() };
      if (left > 0) throw new Error('expected the whole object to be read before the next');
      if ((await source.some(1))[0] !== NEWLINE)
        throw new Error('expected a newline after an object');
    }
    await writing;
  } catch (error) {
    throw await asReadError(error);
  } finally {
    git.kill();
    git.stdout.destroy();
    await git.ended;
  }
}

/** One small object as a whole, or null where it has more than `bytesMax` bytes. */
export async function collect(
  object: StreamedObject,
  bytesMax: number,
): Promise<Uint8Array | null> {
  const pieces: Uint8Array[] = [];
  for await (const piece of object.content) {
    if (object.size <= bytesMax) pieces.push(piece);
  }
  return object.size <= bytesMax ? Buffer.concat(pieces) : null;
}

/** Bytes of one file of a tree; null where it is none or has more than `bytesMax` bytes. */
export async function readFileOf(
  context: GitContext,
  record: TreeRecord | undefined,
  bytesMax: number,
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  if (record === undefined || !isFileMode(record.mode) || record.size > bytesMax) return null;
  for await (const object of readObjects(context, [record.oid], signal)) {
    return await collect(object, bytesMax);
  }
  return null;
}

/** Type and size of one object without reading it; null where it is not there. */
export async function describeObject(
  context: GitContext,
  id: string,
  signal: AbortSignal,
): Promise<ObjectHeader | null> {
  const git = streamGit(context, ['cat-file', '--batch-check'], signal);
  git.stdin.end(`${id}\n`);
  const [line] = await Promise.all([text(git.stdout), git.ended]);
  signal.throwIfAborted();
  return line === `${id} missing\n` ? null : parseHeader(line.trimEnd(), id);
}

async function writeIds(git: GitStream, ids: readonly string[]): Promise<void> {
  for (let start = 0; start < ids.length; start += REQUEST_IDS_AHEAD) {
    const block = `${ids.slice(start, start + REQUEST_IDS_AHEAD).join('\n')}\n`;
    if (git.stdin.destroyed) return;
    await new Promise<void>((resolve) => {
      // Also called with an error once git is gone; the reader finds that out by itself.
      git.stdin.write(block, () => resolve());
    });
  }
  git.stdin.end();
}

function parseHeader(line: string, id: string): ObjectHeader {
  const match = /^([0-9a-f]{40}) ([a-z]+) (\d+)$/.exec(line);
  const [, found, type, size] = match ?? [];
  if (found !== id || type === undefined) throw new Error(`expected the object ${id}, got none`);
  return { type, size: Number(size) };
}

/** Bytes of a stream, handed out without copying. */
class ByteSource {
  readonly #pieces: AsyncIterator<Buffer>;
  readonly #signal: AbortSignal;
  #current: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>, signal: AbortSignal) {
    this.#signal = signal;
    this.#pieces = stream[Symbol.asyncIterator]();
  }

  /** Between 1 and `max` bytes. */
  async some(max: number): Promise<Buffer> {
    while (this.#current.length === 0) await this.#more();
    const taken = this.#current.subarray(0, max);
    this.#current = this.#current.subarray(taken.length);
    return taken;
  }

  async line(): Promise<string> {
    for (;;) {
      const end = this.#current.indexOf(NEWLINE);
      if (end >= 0) {
        const line = this.#current.toString('latin1', 0, end);
        this.#current = this.#current.subarray(end + 1);
        return line;
      }
      if (this.#current.length > HEADER_BYTES_MAX) throw new Error('expected an object header');
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    const next = await this.#pieces.next();
    // An abort ends git, and so the stream; whoever reads, here or in an object's content, gets its reason.
    this.#signal.throwIfAborted();
    if (next.done === true) throw new Error('expected more bytes from git, got the end');
    this.#current =
      this.#current.length === 0 ? next.value : Buffer.concat([this.#current, next.value]);
  }
}
