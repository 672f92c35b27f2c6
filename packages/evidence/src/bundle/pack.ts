import { TREE_END_BYTES, treeHeader, treePadding } from '@kervyxa/core';
import { toPublicPem, type PublicKey } from '../attestation/keys.ts';
import { ATTESTATION, KEY, MANIFEST, TEXTS, type FileRef, type TextName } from './manifest.ts';

export interface BundleParts {
  readonly texts: Readonly<Record<TextName | typeof MANIFEST, string>>;
  /** The envelope over the statement that came with the texts. */
  readonly attestation: string;
  readonly key: Pick<PublicKey, 'publicKey'>;
  readonly blobs: readonly FileRef[];
  /** The bytes of one of `blobs`, once. */
  readonly openBlob: (blob: FileRef) => AsyncIterable<Uint8Array>;
}

/**
 * The bundle as a stream: a plain tar archive in the one form that `packTree` gives it, with the files in the order of
 * `bundle.json`. Holds one piece of an archive in memory. Throws what `openBlob` throws, and a RangeError where it gives
 * another number of bytes than it should.
 */
export async function* packBundle(parts: BundleParts): AsyncGenerator<Uint8Array> {
  yield* packText(MANIFEST, parts.texts[MANIFEST]);
  yield* packText(ATTESTATION, parts.attestation);
  yield* packText(KEY, toPublicPem(parts.key));
  for (const name of TEXTS) yield* packText(name, parts.texts[name]);
  for (const blob of parts.blobs) {
    yield* packHeader(blob.path, blob.size);
    let size = 0;
    for await (const piece of parts.openBlob(blob)) {
      size += piece.length;
      yield piece;
    }
    if (size !== blob.size) {
      throw new RangeError(`expected ${blob.size} bytes of ${blob.path}, got ${size}`);
    }
    yield treePadding(size);
  }
  yield Buffer.alloc(TREE_END_BYTES);
}

function packText(path: string, text: string): Uint8Array[] {
  const content = Buffer.from(text);
  return [...packHeader(path, content.length), content, treePadding(content.length)];
}

function packHeader(path: string, size: number): Uint8Array[] {
  return treeHeader({ type: 'file', path, executable: false, size, content: new Uint8Array() });
}
