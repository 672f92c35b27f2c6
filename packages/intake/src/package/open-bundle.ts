import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import {
  BUNDLE_LIMITS,
  packTree,
  toPrintable,
  type TreeArchive,
  type TreeEntry,
  type TreeLimits,
} from '@kervyxa/core';
import { createIntakeError } from '../errors.ts';
import { walkFolder } from './load.ts';
import { passCanonical } from './pass-canonical.ts';

/**
 * Opens a dependency bundle: the archive that `kervyxa deps pack` wrote, or a folder with its content. Nothing of it is
 * kept in memory: it is read once for its digest and again each time that it is opened, which ends with
 * INTAKE_PACKAGE_UNREADABLE where it has changed meanwhile.
 *
 * Throws INTAKE_PACKAGE_UNREADABLE, INTAKE_PACKAGE_NOT_CANONICAL, INTAKE_PACKAGE_ENTRY_REFUSED,
 * INTAKE_PACKAGE_TOO_LARGE.
 */
export async function openBundle(
  path: string,
  limits: TreeLimits = BUNDLE_LIMITS,
): Promise<TreeArchive> {
  const facts = await stat(path).catch((error: unknown) => {
    throw cannotRead(path, error);
  });
  if (facts.isDirectory()) return openFolder(path, limits);
  if (facts.isFile()) return openFile(path, limits);
  throw unreadable(`got ${toPrintable(path, 300)}, which is neither a file nor a folder`);
}

async function openFolder(folder: string, limits: TreeLimits): Promise<TreeArchive> {
  const totals = { entryCount: 0, bytesTotal: 0 };
  const counted = async function* (): AsyncGenerator<TreeEntry> {
    for await (const entry of walkFolder(folder, limits)) {
      totals.entryCount += 1;
      totals.bytesTotal += entry.type === 'file' ? entry.size : 0;
      yield entry;
    }
  };
  const digest = await digestOf(packTree(counted(), new AbortController().signal));
  const open = (signal: AbortSignal) => packTree(walkFolder(folder, limits), signal);
  return { digest, ...totals, open: (signal) => unchanged(open(signal), digest, signal) };
}

async function openFile(file: string, limits: TreeLimits): Promise<TreeArchive> {
  const totals = { entryCount: 0, bytesTotal: 0 };
  const checked = passCanonical(readFrom(file), limits, (entryCount, bytesTotal) =>
    Object.assign(totals, { entryCount, bytesTotal }),
  );
  const digest = await digestOf(checked);
  return {
    digest,
    ...totals,
    open: (signal) => unchanged(readFrom(file), digest, signal),
  };
}

async function* readFrom(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file);
  } catch (error) {
    throw cannotRead(file, error);
  }
}

async function digestOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of stream) hash.update(piece);
  return hash.digest('hex');
}

/** Passes the stream on, and ends with an error where it is not what was read before. */
async function* unchanged(
  stream: AsyncIterable<Uint8Array>,
  digest: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const piece of stream) {
    signal.throwIfAborted();
    hash.update(piece);
    yield piece;
  }
  if (hash.digest('hex') === digest) return;
  throw unreadable('got one that has changed since it was read');
}

function cannotRead(path: string, cause: unknown): Error {
  return unreadable(`got ${toPrintable(path, 300)}, which can't be read`, cause);
}

function unreadable(got: string, cause?: unknown): Error {
  return createIntakeError('INTAKE_PACKAGE_UNREADABLE', {
    message: `expected a dependency bundle, ${got}`,
    fix: 'give the file that kervyxa deps pack wrote, or a folder with its content',
    cause,
  });
}
