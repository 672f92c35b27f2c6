import type { Readable } from 'node:stream';
import { readTar } from '@kervyxa/core';
import type Docker from 'dockerode';
import { FileCapture } from '../capture.ts';
import { sandboxError } from '../errors.ts';
import type { FileReading } from '../port.ts';
import { statusOf } from './engine-errors.ts';
import type { Engine } from './engine.ts';
import type { WorkFolder } from './gate.ts';

/** The type bits of the engine's file modes, which are Go's. */
const GO_TYPES: readonly (readonly [bit: number, name: string])[] = [
  [31, 'folder'],
  [27, 'symbolic link'],
  [26, 'device'],
  [25, 'named pipe'],
  [24, 'socket'],
  [21, 'character device'],
  [19, 'irregular file'],
];

/** There is something, and the engine can't say what. */
const UNDESCRIBED: PathStat = { type: 'entry that the engine can not describe', size: 0 };

interface PathStat {
  readonly type: string;
  readonly size: number;
}

/**
 * Reads one file of a dead container through the engine, which sees its folder as it was left. Each part of the
 * path is looked at by itself, so that no link is followed, wherever it stands (THREATS C28, BUG-39). The container
 * must be dead: nothing may change between the look and the reading.
 */
export async function readWorkspaceFile(
  engine: Engine,
  container: Docker.Container,
  folder: WorkFolder,
  parts: readonly string[],
  bytesMax: number,
  signal: AbortSignal,
): Promise<FileReading> {
  let path: string = folder;
  let found: PathStat = { type: 'folder', size: 0 };
  for (const [index, part] of parts.entries()) {
    signal.throwIfAborted();
    path = `${path}/${part}`;
    const looked = await statPath(engine, container, path);
    if (looked === null) return { kind: 'absent' };
    found = looked;
    const isLast = index === parts.length - 1;
    if (isLast) break;
    if (found.type === 'file') return { kind: 'absent' };
    if (found.type !== 'folder') return { kind: 'not_regular', found: found.type };
  }
  if (found.type !== 'file') return { kind: 'not_regular', found: found.type };
  if (found.size > bytesMax) return { kind: 'too_large', bytesMax };
  return readContent(engine, container, { path, size: found.size }, signal);
}

async function statPath(
  engine: Engine,
  container: Docker.Container,
  path: string,
): Promise<PathStat | null> {
  const answer = container.infoArchive({ path }).catch(async (error: unknown) => {
    const status = statusOf(error);
    if (status === 404) {
      // 404 is said of a missing container too, and that is no fault of the solver's.
      await container.inspect();
      return null;
    }
    if (status !== 500) throw error;
    // An engine can't describe a link that leads in a circle, nor a time of the year 10000, and calls it trouble of
    // its own. It is the file's where the engine can describe the root, which mounts the same and no run can write.
    await container.infoArchive({ path: '/' }).then((root: Readable) => root.resume());
    return UNDESCRIBED;
  });
  const response: (Readable & { headers: Record<string, string | undefined> }) | PathStat | null =
    await engine.call('look at a file of a run', answer);
  if (response === null || 'type' in response) return response;
  response.resume();
  return parsePathStat(response.headers['x-docker-container-path-stat']);
}

/** Exported for its test. Throws SANDBOX_RUN_LOST where the engine's answer is not one. */
export function parsePathStat(header: string | undefined): PathStat {
  const { mode, size } = readStat(Buffer.from(header ?? '', 'base64').toString());
  if (typeof mode !== 'number' || typeof size !== 'number') {
    throw sandboxError('SANDBOX_RUN_LOST', {
      message: 'expected size and mode of a file from the engine, got neither',
    });
  }
  // Bit 31 is in use, which the bit operators take for a sign.
  const hasBit = (bit: number): boolean => Math.floor(mode / 2 ** bit) % 2 === 1;
  const type = GO_TYPES.find(([bit]) => hasBit(bit))?.[1] ?? 'file';
  return { type, size };
}

function readStat(json: string): { readonly mode?: unknown; readonly size?: unknown } {
  try {
    // What is no object has no fields either.
    return Object(JSON.parse(json));
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

async function readContent(
  engine: Engine,
  container: Docker.Container,
  { path, size }: { readonly path: string; readonly size: number },
  signal: AbortSignal,
): Promise<FileReading> {
  const stream = await engine.call('read a file of a run', container.getArchive({ path }));
  const capture = new FileCapture(size);
  let entries = 0;
  await readTar(untilAborted(stream, signal), (entry) => {
    entries += 1;
    if (entry.type !== 'file' || entry.size !== size || entries > 1) {
      throw changed(`one file of ${size} bytes`, `a ${entry.type} of ${entry.size} bytes`);
    }
    return (piece) => capture.push(piece);
  });
  const { bytesTotal, sha256, head, lineCount } = capture.finish();
  if (entries !== 1 || bytesTotal !== size) throw changed(`${size} bytes`, `${bytesTotal}`);
  return { kind: 'file', bytesTotal, sha256, head, lineCount };
}

async function* untilAborted<T>(stream: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  for await (const chunk of stream) {
    signal.throwIfAborted();
    yield chunk;
  }
}

function changed(expected: string, got: string): Error {
  return sandboxError('SANDBOX_RUN_LOST', {
    message: `expected ${expected} from the engine, got ${got}`,
  });
}
