import { createHash } from 'node:crypto';
import { TREE_END_BYTES, treeHeader, treePadding } from '@kervyxa/core';
import type { Expectations } from '../attestation/envelope.ts';
import type { PublicKeys } from '../attestation/keys.ts';
import { createByteSource, type ByteSource } from './byte-source.ts';
import { bundleRefused } from './refused.ts';
import { verifyTexts, type VerifiedBundle } from './verify-texts.ts';
import { ATTESTATION, KEY, MANIFEST, TEXTS, type FileRef } from './manifest.ts';

/** Of one text; a result with all that it may tell has some hundred kilobytes. */
const TEXT_BYTES_MAX = 16 * 1_048_576;
/** Octal digits of the size in a tar header. */
const SIZE_FIELD = { from: 124, to: 135 };
const BLOCK_BYTES = 512;

export interface ReadOptions {
  /** Whose signature is believed. Null: whoever it says, which proves no origin. */
  readonly keys: PublicKeys | null;
  readonly expected?: Expectations;
  /**
   * Gets each archive once everything that names it is verified; its digest is known only when its last piece has
   * come. Left out: archives are held against their digests and forgotten.
   */
  readonly saveBlob?: (blob: FileRef, content: AsyncIterable<Uint8Array>) => Promise<void>;
}

/**
 * Reads a bundle as a stream, and believes none of it before it is verified.
 *
 * 1. `bundle.json`, attestation, key and texts are read, each under the header that `packBundle` writes and no other.
 * 2. They are held against each other and against the signature: `verifyTexts`.
 * 3. Archives follow in the order, with the sizes and the digests that were signed.
 * 4. Then the archive ends, and so does the stream.
 *
 * So of one run, view and key there is one bundle, to the byte. Throws EVIDENCE_BUNDLE_REFUSED, what `verifyEnvelope`
 * throws, and what the stream or `saveBlob` throws.
 */
export async function readBundle(
  stream: AsyncIterable<Uint8Array>,
  { keys, expected = {}, saveBlob = drain }: ReadOptions,
): Promise<VerifiedBundle> {
  const source = createByteSource(stream);
  try {
    const texts = new Map<string, Buffer>();
    for (const name of [MANIFEST, ATTESTATION, KEY, ...TEXTS]) {
      texts.set(name, await readText(source, name));
    }
    const bundle = verifyTexts(texts, keys, expected);
    for (const blob of bundle.blobs) await readBlob(source, blob, saveBlob);
    await readEnd(source);
    return bundle;
  } finally {
    await source.close();
  }
}

async function readText(source: ByteSource, name: string): Promise<Buffer> {
  const header = await source.take(BLOCK_BYTES);
  const size = parseInt(header?.toString('latin1', SIZE_FIELD.from, SIZE_FIELD.to) ?? '', 8);
  if (header === null || !(size <= TEXT_BYTES_MAX) || !header.equals(headerOf(name, size))) {
    const here = name === MANIFEST ? `a bundle, which begins with ${name}` : `${name} here`;
    throw bundleRefused(`expected ${here}, got something else`);
  }
  const text = await source.take(size);
  if (text === null) throw bundleRefused(`expected ${size} bytes of ${name}, got fewer`);
  await readPadding(source, size);
  return text;
}

async function readBlob(
  source: ByteSource,
  blob: FileRef,
  saveBlob: NonNullable<ReadOptions['saveBlob']>,
): Promise<void> {
  const wanted = headerOf(blob.path, blob.size);
  const header = await source.take(wanted.length);
  if (header === null || !header.equals(wanted)) {
    throw bundleRefused(`expected ${blob.path} here, got something else`);
  }
  const digest = createHash('sha256');
  let size = 0;
  const content = async function* () {
    for await (const piece of source.pieces(blob.size)) {
      digest.update(piece);
      size += piece.length;
      yield piece;
    }
  };
  await saveBlob(blob, content());
  if (size !== blob.size) {
    throw bundleRefused(`expected ${blob.size} bytes of ${blob.path}, got ${size}`);
  }
  const sha256 = digest.digest('hex');
  if (sha256 !== blob.sha256) {
    throw bundleRefused(`expected ${blob.path} with SHA-256 ${blob.sha256}, got ${sha256}`);
  }
  await readPadding(source, size);
}

async function readPadding(source: ByteSource, size: number): Promise<void> {
  const wanted = treePadding(size);
  if ((await source.take(wanted.length))?.equals(wanted) === true) return;
  throw bundleRefused('expected zeros up to the next block, got something else');
}

async function readEnd(source: ByteSource): Promise<void> {
  const end = await source.take(TREE_END_BYTES);
  if (end?.equals(Buffer.alloc(TREE_END_BYTES)) !== true || (await source.take(1)) !== null) {
    throw bundleRefused('expected the end of the archive, got something else');
  }
}

function headerOf(path: string, size: number): Buffer {
  const content = new Uint8Array();
  return Buffer.concat(treeHeader({ type: 'file', path, executable: false, size, content }));
}

async function drain(_blob: FileRef, content: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of content) void piece;
}
