import { deepEqual } from 'node:assert/strict';
import { Readable } from 'node:stream';
import { rawTree } from '@kervyxa/testing';
import * as fc from 'fast-check';
import { readDiff } from '../../../packages/intake/src/git/diff.ts';
import { readListing } from '../../../packages/intake/src/git/listing.ts';
import { rawTreeFaults } from '../../../packages/intake/src/tree/raw-tree.ts';
import { edited } from '../arbitraries.ts';
import { defineTarget } from '../target.ts';

const FOLDER = '040000';
const ABSENT = '000000';
const modes = fc.constantFrom(ABSENT, '100644', '100755', '120000', '160000', FOLDER, '100664');
const oid = fc.constantFrom('0'.repeat(40), 'a1'.repeat(20), 'b2'.repeat(20));
const pathText = fc.oneof(
  fc.constantFrom('a', 'a/b', 'protected/x', '\t', ' ', '-', ':100644', 'é', 'a\nb', '"q"'),
  fc.string({ minLength: 1, maxLength: 5 }),
);
const path = fc.oneof(
  pathText.map((text) => Buffer.from(text.replaceAll('\0', ''))),
  fc.uint8Array({ minLength: 1, maxLength: 5 }).map((bytes) => bytes.filter((byte) => byte > 0)),
);

const diffRecord = fc
  .tuple(modes, modes, oid, oid, fc.constantFrom('A', 'D', 'M', 'T', 'R100', 'X'), path)
  .map(([from, to, a, b, status, bytes]) =>
    Buffer.concat([Buffer.from(`:${from} ${to} ${a} ${b} ${status}\0`), bytes, Buffer.of(0)]),
  );
const listRecord = fc
  .tuple(
    modes,
    fc.constantFrom('blob', 'tree', 'commit'),
    oid,
    fc.constantFrom('-', '0', '12'),
    path,
  )
  .map(([mode, type, id, size, bytes]) =>
    Buffer.concat([
      Buffer.from(`${mode} ${type} ${id} ${size.padStart(7)}\t`),
      bytes,
      Buffer.of(0),
    ]),
  );
const manyOf = (record: fc.Arbitrary<Buffer>): fc.Arbitrary<Uint8Array> =>
  edited(fc.array(record, { maxLength: 5 }).map((all) => Buffer.concat(all)));

/** What git says is not a solver's choice, and what can't be read is no verdict: an error of ours, never half a list. */
export const diffTarget = defineTarget('raw diff', {
  input: fc.tuple(manyOf(diffRecord), fc.nat(60)),
  async holds([bytes, size]) {
    const found = await orNull(async () => readDiff(inPieces(bytes, size + 1)));
    const wanted = diffNaively(Buffer.from(bytes));
    const changes = found?.changes.map(({ path: at, baseMode, mode, baseOid, oid: id }) => [
      baseMode,
      mode,
      baseOid,
      id,
      at,
    ]);
    deepEqual(changes ?? null, wanted);
  },
});

export const listingTarget = defineTarget('tree listing', {
  input: fc.tuple(manyOf(listRecord), fc.nat(60)),
  async holds([bytes, size]) {
    const found = await orNull(async () => readListing(inPieces(bytes, size + 1), 100));
    const records = typeof found === 'string' ? null : found;
    const wanted = listNaively(Buffer.from(bytes));
    deepEqual(
      records?.map((each) => [each.mode, each.oid, each.size, each.path, each.isUtf8]) ?? null,
      wanted,
    );
  },
});

export const listingBoundTarget = defineTarget('tree listing that is too long', {
  input: fc.tuple(fc.nat(30), fc.nat(20)),
  async holds([count, most]) {
    let given = 0;
    const record = Buffer.from(`100644 blob ${'a'.repeat(40)}       1\tx\0`);
    const endless = async function* (): AsyncGenerator<Buffer> {
      for (; given < count; given += 1) yield record;
    };
    const found = await readListing(Readable.from(endless()), most);
    deepEqual(typeof found === 'string', count > most);
  },
});

const rawName = fc.oneof(
  fc.constantFrom('a', 'b', 'a.b', 'a0', 'a-', 'A', '.git', '..', '.', 'a/b', 'é'),
  fc.string({ minLength: 1, maxLength: 3 }).map((text) => text.replaceAll('\0', '-')),
);
const rawMode = fc.constantFrom('100644', '100755', '120000', '160000', '40000', '040000', '644');
const rawEntries = fc.array(
  fc.record({ mode: rawMode, name: rawName, id: fc.constant('ab'.repeat(20)) }),
  { maxLength: 5 },
);

export const rawTreeTarget = defineTarget('bytes of a tree', {
  input: edited(rawEntries.map(rawTree)),
  holds(bytes) {
    const isFine = rawTreeFaults('', bytes, null).length === 0;
    const problem = treeProblem(Buffer.from(bytes));
    // A folder's own name is refused for more reasons than these, but never for fewer.
    if (isFine) deepEqual(problem, null);
    if (problem !== null) deepEqual(isFine, false);
  },
});

function inPieces(bytes: Uint8Array, size: number): Readable {
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    Buffer.from(bytes.subarray(index * size, (index + 1) * size)),
  );
  return Readable.from(pieces);
}

async function orNull<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('expected ')) return null;
    throw error;
  }
}

/** Fields at fixed columns, one path each. */
function diffNaively(bytes: Buffer): unknown[] | null {
  const parts = splitNul(bytes);
  if (parts === null || parts.length % 2 === 1) return null;
  const found: unknown[] = [];
  for (let at = 0; at < parts.length; at += 2) {
    const head = (parts[at] ?? Buffer.alloc(0)).toString('latin1');
    const [from, to] = [head.slice(1, 7), head.slice(8, 14)];
    const [a, b] = [head.slice(15, 55), head.slice(56, 96)];
    const isHead =
      head === `:${from} ${to} ${a} ${b} ${head.slice(97)}` &&
      isOf(from, '0123456789', 6) &&
      isOf(to, '0123456789', 6) &&
      isOf(a, '0123456789abcdef', 40) &&
      isOf(b, '0123456789abcdef', 40) &&
      ['A', 'D', 'M', 'T'].includes(head.slice(97));
    if (!isHead) return null;
    const side = (mode: string): string => (mode === FOLDER ? ABSENT : mode);
    if (side(from) === ABSENT && side(to) === ABSENT) continue;
    found.push([side(from), side(to), a, b, (parts[at + 1] ?? Buffer.alloc(0)).toString()]);
  }
  return found;
}

function listNaively(bytes: Buffer): unknown[] | null {
  const parts = splitNul(bytes);
  if (parts === null) return null;
  const found: unknown[] = [];
  for (const part of parts) {
    const tab = part.indexOf('\t');
    const [mode = '', type = '', id = '', ...rest] = part
      .toString('latin1', 0, Math.max(tab, 0))
      .split(' ');
    const size = rest.at(-1) ?? '';
    const isRecord =
      tab >= 0 &&
      isOf(mode, '0123456789', 6) &&
      type !== '' &&
      isOf(type, 'abcdefghijklmnopqrstuvwxyz', type.length) &&
      isOf(id, '0123456789abcdef', 40) &&
      rest.slice(0, -1).every((each) => each === '') &&
      (size === '-' || (size !== '' && isOf(size, '0123456789', size.length)));
    if (!isRecord) return null;
    const at = part.subarray(tab + 1);
    const isText = Buffer.from(at.toString()).equals(at);
    if (mode !== FOLDER)
      found.push([mode, id, size === '-' ? 0 : Number(size), at.toString(), isText]);
  }
  return found;
}

function splitNul(bytes: Buffer): Buffer[] | null {
  const parts: Buffer[] = [];
  let start = 0;
  for (const [at, byte] of bytes.entries()) {
    if (byte !== 0) continue;
    parts.push(bytes.subarray(start, at));
    start = at + 1;
  }
  return start === bytes.length ? parts : null;
}

function isOf(text: string, letters: string, length: number): boolean {
  return text.length === length && [...text].every((each) => letters.includes(each));
}

/** What keeps bytes from being a tree as git itself would write it, names of folders aside. */
function treeProblem(bytes: Buffer): string | null {
  const seen: { name: Buffer; isFolder: boolean }[] = [];
  let at = 0;
  while (at < bytes.length) {
    const space = bytes.indexOf(' ', at);
    const nul = space < 0 ? -1 : bytes.indexOf(0, space + 1);
    if (nul < 0 || nul + 20 >= bytes.length) return 'cut off';
    const mode = bytes.toString('latin1', at, space);
    const entry = { name: bytes.subarray(space + 1, nul), isFolder: mode === '40000' };
    if (!['100644', '100755', '120000', '160000', '40000'].includes(mode)) return `mode ${mode}`;
    if (entry.name.includes('/')) return 'slash';
    if (seen.some((other) => other.name.equals(entry.name))) return 'twice';
    const last = seen.at(-1);
    if (last !== undefined && sortKeyOf(last) > sortKeyOf(entry)) return 'order';
    seen.push(entry);
    at = nul + 21;
  }
  return null;
}

function sortKeyOf({ name, isFolder }: { name: Buffer; isFolder: boolean }): string {
  return name.toString('hex') + (isFolder ? '2f' : '');
}
