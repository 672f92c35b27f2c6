const BLOCK = 512;

export interface NaiveEntry {
  readonly path: string;
  readonly type: 'file' | 'folder' | 'other';
  readonly executable: boolean;
  readonly content: Buffer;
}

/** Reads a POSIX archive from beginning to end, by the book; null where a header or what follows it is broken. */
export function readTarNaively(bytes: Buffer): NaiveEntry[] | null {
  const entries: NaiveEntry[] = [];
  let pax = new Map<string, string>();
  for (let at = 0; at + BLOCK <= bytes.length;) {
    const header = bytes.subarray(at, at + BLOCK);
    at += BLOCK;
    if (header.every((byte, index) => byte === 0 || isOfSum(index))) return entries;
    if (!hasRightSum(header)) return null;
    const size = pax.get('size') === undefined ? octal(header, 124, 12) : Number(pax.get('size'));
    if (!Number.isSafeInteger(size) || size < 0) return null;
    const type = String.fromCharCode(header[156] ?? 0);
    const isContent = !'123456'.includes(type);
    const length = isContent ? size : 0;
    if (at + length > bytes.length) return null;
    const content = bytes.subarray(at, at + length);
    at += Math.ceil(length / BLOCK) * BLOCK;
    if (type === 'x') {
      pax = paxOf(content);
      continue;
    }
    entries.push({
      path: (pax.get('path') ?? nameOf(header)).replace(/^(\.\/+)+/, '').replace(/\/+$/, ''),
      type: typeOf(type, pax.get('path') ?? nameOf(header)),
      executable: (octal(header, 100, 8) & 0o100) !== 0,
      content,
    });
    pax = new Map();
  }
  return entries;
}

/** The sum of all bytes, those of the sum itself as blanks. */
function hasRightSum(header: Buffer): boolean {
  const sum = header.reduce((total, byte, index) => total + (isOfSum(index) ? 0x20 : byte), 0);
  return octal(header, 148, 8) === sum;
}

function isOfSum(index: number): boolean {
  return index >= 148 && index < 156;
}

function octal(header: Buffer, at: number, length: number): number {
  const digits =
    header
      .toString('latin1', at, at + length)
      .split('\0')[0]
      ?.trim() ?? '';
  return digits === '' ? 0 : Number.parseInt(digits, 8);
}

function textOf(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}

function nameOf(header: Buffer): string {
  const prefix = textOf(header, 257, 5) === 'ustar' ? textOf(header, 345, 155) : '';
  const name = textOf(header, 0, 100);
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** An old archive says by a slash that a file is a folder. */
function typeOf(type: string, name: string): NaiveEntry['type'] {
  if (type === '5') return 'folder';
  if (type !== '0' && type !== '\0' && type !== '7') return 'other';
  return name.endsWith('/') ? 'folder' : 'file';
}

/** `<length> <key>=<value>\n`, the length counting itself. */
function paxOf(content: Buffer): Map<string, string> {
  const found = new Map<string, string>();
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(' ', at);
    const length = Number.parseInt(content.toString('latin1', at, space), 10);
    if (space < 0 || !(length > 0)) break;
    const [key = '', ...value] = content.toString('utf8', space + 1, at + length - 1).split('=');
    found.set(key, value.join('='));
    at += length;
  }
  return found;
}
