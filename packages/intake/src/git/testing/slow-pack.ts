import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { rawCommit, rawTree } from '@kervyxa/testing';

const COMMIT = 1;
const TREE = 2;
const BLOB = 3;
const DELTA = 7;

/**
 * A pack of few hundred kilobytes whose last commit adds many small files, each a delta of one of two large blobs in
 * turn: neither stays in git's cache while the other is unpacked. The large ones are in the history only, in a commit
 * between `parent` and `commit`.
 */
export function slowPack({ files, baseBytes }: { files: number; baseBytes: number }): {
  pack: Uint8Array;
  parent: string;
  commit: string;
} {
  const objects: Buffer[] = [];
  const add = (type: number, name: string, content: Uint8Array): string => {
    objects.push(Buffer.concat([entryHeader(type, content.length), deflateSync(content)]));
    return idOf(name, content);
  };
  const large = [0, 1].map((byte) => add(BLOB, 'blob', Buffer.alloc(baseBytes, byte)));
  const small = Array.from({ length: files }, (_, index) => {
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
  });
  const treeOf = (ids: readonly string[]): string =>
    add(
      TREE,
      'tree',
      rawTree(
        ids.map((id, index) => ({ mode: '100644', name: String(index).padStart(5, '0'), id })),
      ),
    );
  const commitOf = (ids: readonly string[], parents: string[]): string =>
    add(COMMIT, 'commit', Buffer.from(rawCommit(treeOf(ids), parents)));
  const first = add(BLOB, 'blob', Buffer.from('first\n'));
  const parent = commitOf([first], []);
  const between = commitOf(large, [parent]);
  const commit = commitOf(small, [between]);
  const head = Buffer.alloc(12, 'PACK');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(objects.length, 8);
  const body = Buffer.concat([head, ...objects]);
  const pack = Buffer.concat([body, createHash('sha1').update(body).digest()]);
  return { pack, parent, commit };
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
