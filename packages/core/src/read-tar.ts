import { Parser, type ReadEntry } from 'tar';

export interface TarEntry {
  readonly path: string;
  /** `other` is a device, FIFO, hard link, or nothing that can be read. */
  readonly type: 'file' | 'folder' | 'symlink' | 'other';
  /** Whether its owner may execute it. */
  readonly executable: boolean;
  /** Bytes of content to come. */
  readonly size: number;
  /** Where a symbolic link leads; null for all else. */
  readonly target: string | null;
}

/** The first bytes of gzip and of Zstandard, which the parser would unpack by itself: a little becomes as much as it likes. */
const COMPRESSED = [Buffer.from([0x1f, 0x8b]), Buffer.from([0x28, 0xb5, 0x2f, 0xfd])];
const MAGIC_BYTES_MAX = 4;

type OnEntry = (entry: TarEntry) => ((piece: Uint8Array) => void) | undefined;

/**
 * Reads a tar stream, `packTree`'s or an engine's. `onEntry` sees each entry in order and may return a taker of its
 * content, which gets the bytes in pieces; nothing is kept here. Rejects with what either throws, and with an error
 * where the stream is no whole plain archive.
 */
export async function readTar(
  stream: AsyncIterable<Uint8Array | string>,
  onEntry: OnEntry,
): Promise<void> {
  const reader = createTarReader(onEntry);
  for await (const chunk of stream) reader.write(Buffer.from(chunk));
  reader.end();
}

/** The same for a stream that somebody else reads: pieces are handed in as they pass. Both throw what `readTar` would. */
export function createTarReader(onEntry: OnEntry): {
  write(piece: Buffer): void;
  end(): void;
} {
  let bytes = 0;
  let magic = Buffer.alloc(0);
  const parser = new Parser({
    strict: true,
    onReadEntry: (entry) => {
      const take = onEntry(toEntry(entry, toType(entry.type)));
      entry.on('data', (piece: Buffer) => take?.(piece));
    },
  });
  parser.on('ignoredEntry', (entry: ReadEntry) => onEntry(toEntry(entry, 'other')));
  parser.on('meta', assertRecords);
  return {
    write: (piece) => {
      // The parser knows an archive by its first entry, and an empty one has none.
      if (bytes === 0 && piece.every((byte) => byte === 0)) return;
      bytes += piece.length;
      if (magic.length < MAGIC_BYTES_MAX) {
        magic = Buffer.concat([magic, piece.subarray(0, MAGIC_BYTES_MAX)]);
        if (isCompressed(magic)) throw new Error('expected a plain archive, got a compressed one');
      }
      parser.write(piece);
    },
    end: () => {
      if (bytes > 0) parser.end();
    },
  };
}

/**
 * The parser passes over a record that it can't read, and then takes the short name of the header below for the name of
 * the file: another one than other readers see. The long name of an old archive is no record, and ends with a NUL.
 */
function assertRecords(text: string): void {
  if (text.endsWith('\0') && !RECORD_START.test(text)) return;
  const isWhole = text
    .replace(/\n$/, '')
    .split('\n')
    .every((line) => Number(RECORD_START.exec(line)?.[1]) === Buffer.byteLength(line) + 1);
  if (!isWhole || !text.endsWith('\n') || /[\0\ufffd]/.test(text)) {
    throw new Error('expected extended headers that can be read, got others');
  }
}

/** `<length> <key>=`, the length that of the whole record with its newline. */
const RECORD_START = /^(\d+) [^=\0]+=/;

/** Whether a stream that begins with these bytes is a compressed one. */
export function isCompressed(bytes: Uint8Array): boolean {
  return COMPRESSED.some((magic) => magic.equals(bytes.subarray(0, magic.length)));
}

function toEntry({ path, size, mode, linkpath }: ReadEntry, type: TarEntry['type']): TarEntry {
  const target = type === 'symlink' ? (linkpath ?? '') : null;
  return { path, type, size, executable: ((mode ?? 0) & 0o100) !== 0, target };
}

function toType(type: string): TarEntry['type'] {
  switch (type) {
    case 'File':
    case 'OldFile':
      return 'file';
    case 'Directory':
      return 'folder';
    case 'SymbolicLink':
      return 'symlink';
    default:
      return 'other';
  }
}
