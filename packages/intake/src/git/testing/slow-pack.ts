import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { rawCommit, rawTree } from '@kervyxa/testing';

export const COMMIT = 1;
export const TREE = 2;
export const BLOB = 3;
const DELTA = 7;

interface SlowPackSize {
  readonly files: number;
  readonly baseBytes: number;
}

/**
 * A pack of few hundred kilobytes whose last commit adds many small files, each a delta of one of two large blobs in
 * turn: neither stays in git's cache while the other is unpacked. The large ones are in the history only, in a commit
 * between `parent` and `commit`.
 */
export function slowPack({ files, baseBytes }: SlowPackSize): {
  pack: Uint8Array;
  parent: string;
  commit: string;
} {
  const writer = createPackWriter();
  const large = writer.addLarge(baseBytes);
  const small = writer.addDeltas(large, { files, baseBytes });
  const first = writer.add(BLOB, 'blob', Buffer.from('first\n'));
  const parent = writer.addCommit(writer.addTree([first]), []);
  const between = writer.addCommit(writer.addTree(large), [parent]);
  const commit = writer.addCommit(writer.addTree(small), [between]);
  return { pack: writer.pack(), parent, commit };
}

/**
 * The same in two packs: the large blobs are buried in the history of `base`, and the deltas, which can not stand
 * without them, are in the history of `commit`, whose own tree has neither.
 */
export function buriedPacks({ files, baseBytes }: SlowPackSize): {
  basePack: Uint8Array;
  base: string;
  thinPack: Uint8Array;
  commit: string;
} {
  const ours = createPackWriter();
  const large = ours.addLarge(baseBytes);
  const tree = ours.addTree([ours.add(BLOB, 'blob', Buffer.from('first\n'))]);
  const root = ours.addCommit(tree, []);
  const base = ours.addCommit(tree, [ours.addCommit(ours.addTree(large), [root])]);
  const theirs = createPackWriter();
  const small = theirs.addTree(theirs.addDeltas(large, { files, baseBytes }));
  const commit = theirs.addCommit(tree, [theirs.addCommit(small, [root]), base]);
  return { basePack: ours.pack(), base, thinPack: theirs.pack(), commit };
}

/** Writes a pack object by object; ids come back, and nothing is checked. */
export function createPackWriter() {
  const objects: Buffer[] = [];
  const add = (type: number, name: string, content: Uint8Array): string => {
    objects.push(Buffer.concat([entryHeader(type, content.length), deflateSync(content)]));
    return idOf(name, content);
  };
  return {
    add,
    addLarge: (bytes: number): string[] =>
      [0, 1].map((byte) => add(BLOB, 'blob', Buffer.alloc(bytes, byte))),
    /** Small files, each a delta of one of the large ones in turn. */
    addDeltas: (large: readonly string[], { files, baseBytes }: SlowPackSize): string[] =>
      Array.from({ length: files }, (_, index) => {
        const content = Buffer.from(`small ${index}\n`);
        const delta = Buffer.concat([
          varint(baseBytes),
          varint(content.length),
          Buffer.from([content.length]),
          content,
        ]);
        const base = Buffer.from(large[index % 2] ?? '', 'hex');
        objects.push(Buffer.concat([entryHeader(DELTA, delta.length), base, deflateSync(delta)]));
        return idOf('blob', content);
      }),
    /** An object as a delta of another, which may be in no pack of this world. */
    addDelta: (base: string, delta: Uint8Array): void => {
      const head = entryHeader(DELTA, delta.length);
      objects.push(Buffer.concat([head, Buffer.from(base, 'hex'), deflateSync(delta)]));
    },
    addTree: (ids: readonly string[]): string => {
      const entries = ids.map((id, index) => ({
        mode: '100644',
        name: String(index).padStart(5, '0'),
        id,
      }));
      return add(TREE, 'tree', rawTree(entries));
    },
    addCommit: (tree: string, parents: readonly string[]): string =>
      add(COMMIT, 'commit', Buffer.from(rawCommit(tree, parents))),
    pack: (): Uint8Array => {
      const head = Buffer.alloc(12, 'PACK');
      head.writeUInt32BE(2, 4);
      head.writeUInt32BE(objects.length, 8);
      const body = Buffer.concat([head, ...objects]);
      return Buffer.concat([body, createHash('sha1').update(body).digest()]);
    },
  };
}

function idOf(name: string, content: Uint8Array): string {
  return createHash('sha1').update(`${name} ${content.length}\0`).update(content).digest('hex');
}

/** Type and four bits of the size, then seven bits a byte. */
function entryHeader(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 15)];
  for (let rest = size >> 4; rest > 0; rest >>= 7) {
    bytes.push((bytes.pop() ?? 0) | 0x80, rest & 0x7f);
  }
  return Buffer.from(bytes);
}

function varint(size: number): Buffer {
  const bytes = [size & 0x7f];
  for (let rest = size >> 7; rest > 0; rest >>= 7) {
    bytes.push((bytes.pop() ?? 0) | 0x80, rest & 0x7f);
  }
  return Buffer.from(bytes);
}
