import { open } from 'node:fs/promises';
import { isAppError, toPrintable } from '@kervyxa/core';
import {
  parsePublicKeys,
  readBundle,
  verifyEnvelope,
  type PublicKeys,
  type ReadOptions,
  type VerifiedBundle,
  type VerifiedEnvelope,
} from '@kervyxa/evidence';
import { cliError } from '../errors.ts';
import { toCause } from './contract-file.ts';

/** A bundle, or an attestation alone; verified either way. */
export type EvidenceFile =
  | ({ readonly kind: 'bundle' } & VerifiedBundle)
  | ({ readonly kind: 'attestation' } & VerifiedEnvelope);

/** More than any attestation or list of keys. */
const TEXT_BYTES_MAX = 4 * 1_048_576;
const BRACE = 0x7b;

/**
 * Reads and verifies an evidence file. An attestation alone needs keys: CLI_USAGE_INVALID. Throws CLI_FILE_UNREADABLE,
 * what `readBundle` throws, what `saveBlob` throws, and the signal's reason.
 */
export async function loadEvidence(
  path: string,
  { keys, expected = {}, saveBlob }: ReadOptions,
  signal: AbortSignal,
): Promise<EvidenceFile> {
  return reading(path, async () => {
    const file = await open(path, 'r');
    try {
      const head = Buffer.alloc(1);
      await file.read(head, 0, 1, 0);
      const stream = untilAborted(file.createReadStream({ start: 0, autoClose: false }), signal);
      if (head[0] === BRACE) {
        if (keys === null) throw noBundle();
        const bytes = await readAll(stream, path);
        return { kind: 'attestation', ...verifyEnvelope(bytes, keys, expected) };
      }
      const saving = saveBlob === undefined ? {} : { saveBlob };
      return { kind: 'bundle', ...(await readBundle(stream, { keys, expected, ...saving })) };
    } finally {
      await file.close();
    }
  });
}

/** Throws CLI_FILE_UNREADABLE, EVIDENCE_KEY_UNREADABLE. */
export async function loadKeys(path: string): Promise<PublicKeys> {
  return reading(path, async () => {
    const file = await open(path, 'r');
    try {
      const bytes = await readAll(file.createReadStream({ autoClose: false }), path);
      return parsePublicKeys(bytes.toString());
    } finally {
      await file.close();
    }
  });
}

/** A bundle has gigabytes: who stops the command does not wait for them. */
async function* untilAborted(
  stream: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const piece of stream) {
    signal.throwIfAborted();
    yield piece;
  }
}

async function readAll(stream: AsyncIterable<Uint8Array>, path: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let total = 0;
  for await (const piece of stream) {
    total += piece.length;
    if (total > TEXT_BYTES_MAX) throw unreadable(path, `more than ${TEXT_BYTES_MAX} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function reading<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (isAppError(error) || !(error instanceof Error && 'code' in error)) throw error;
    throw unreadable(path, toCause(error), error);
  }
}

export function noBundle(): Error {
  return cliError('CLI_USAGE_INVALID', {
    message: 'expected a bundle, got an attestation alone',
    fix: 'Give evidence.tar; "kervyxa evidence verify" checks an attestation.',
  });
}

function unreadable(path: string, got: string, cause?: unknown): Error {
  return cliError('CLI_FILE_UNREADABLE', {
    message: `expected a readable file at ${toPrintable(path, 300)}, got ${got}`,
    fix: 'Give the path of an evidence.tar, an attestation.json, or a file of public keys.',
    cause,
  });
}
