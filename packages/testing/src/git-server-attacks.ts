import { createHash, randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Readable, Transform } from 'node:stream';
import { deflateSync } from 'node:zlib';

const PACKET_BYTES = 32_768;

/** A packet of git's wire format: four hex digits of length, then the content. */
function packet(content: Uint8Array): Buffer {
  const length = (content.length + 4).toString(16).padStart(4, '0');
  return Buffer.concat([Buffer.from(length), content]);
}

/** Band 1 carries the pack, band 2 text that git prints on the user's terminal. */
function sideband(band: 1 | 2, content: Uint8Array): Buffer {
  return packet(Buffer.concat([Buffer.from([band]), content]));
}

/**
 * The answer of protocol version 2 to a fetch: a pack of one blob, 1 TiB by its header, whose compressed bytes are
 * random and never end. The receiver writes them to disk for as long as it is let.
 */
export function endlessPack(response: ServerResponse, request: Buffer): Readable {
  response.setHeader('content-type', 'application/x-git-upload-pack-result');
  return Readable.from(endlessPackets(request));
}

function* endlessPackets(request: Buffer): Generator<Buffer> {
  yield* toPackStart(request);
  const header = Buffer.from('5041434b0000000200000001', 'hex'); // PACK, version 2, one object
  const blobOf1TiB = Buffer.from([0xb0, 0x80, 0x80, 0x80, 0x80, 0x40]);
  const zlibHeader = Buffer.from([0x78, 0x01]);
  yield sideband(1, Buffer.concat([header, blobOf1TiB, zlibHeader]));
  const noise = randomBytes(PACKET_BYTES);
  const storedBlock = Buffer.alloc(5);
  storedBlock.writeUInt16LE(PACKET_BYTES, 1);
  storedBlock.writeUInt16LE(0xffff - PACKET_BYTES, 3);
  const piece = sideband(1, Buffer.concat([storedBlock, noise]));
  while (true) yield piece;
}

/** What stands before the pack: a client that told what it has, and is not done telling, wants an answer to that. */
function toPackStart(request: Buffer): Buffer[] {
  const start = packet(Buffer.from('packfile\n'));
  if (request.includes('0009done')) return [start];
  const [acknowledgments, ready] = ['acknowledgments\n', 'ready\n'].map((line) =>
    packet(Buffer.from(line)),
  );
  return [acknowledgments ?? start, ready ?? start, Buffer.from('0001'), start];
}

/** The answer of protocol version 2 to a fetch: this pack. */
export function givenPack(response: ServerResponse, request: Buffer, pack: Uint8Array): Readable {
  response.setHeader('content-type', 'application/x-git-upload-pack-result');
  const packets = toPackStart(request);
  for (let at = 0; at < pack.length; at += PACKET_BYTES) {
    packets.push(sideband(1, pack.subarray(at, at + PACKET_BYTES)));
  }
  return Readable.from([...packets, Buffer.from('0000')]);
}

const BLOB = 3;
const DELTA_BY_OFFSET = 6;
const COPIES = 256;

/**
 * A pack of a few kilobytes whose last object is 4 GiB of zeros, made of copies of copies: who resolves it without a
 * limit allocates all of it.
 */
export function deltaBombPack(): Buffer {
  const base = Buffer.alloc(65_536);
  const objects = [packObject(BLOB, base.length, Buffer.alloc(0), base)];
  let size = base.length;
  for (let step = 0; step < 2; step += 1) {
    // Copy from offset 0, as much as one instruction can, 256 times; without a size it copies 64 KiB.
    const copied = Math.min(size, 0xffffff);
    const copy = copied === 65_536 ? [0x80] : [0xf0, 0xff, 0xff, 0xff];
    const delta = Buffer.concat([
      variableLength(size),
      variableLength(copied * COPIES),
      ...Array.from({ length: COPIES }, () => Buffer.from(copy)),
    ]);
    const back = objects.at(-1)?.length ?? 0;
    objects.push(packObject(DELTA_BY_OFFSET, delta.length, offsetBack(back), delta));
    size = copied * COPIES;
  }
  const header = Buffer.from('5041434b0000000200000003', 'hex');
  const body = Buffer.concat([header, ...objects]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

function packObject(type: number, size: number, reference: Buffer, content: Buffer): Buffer {
  const head = [(type << 4) | (size & 0x0f)];
  for (let rest = size >> 4; rest > 0; rest >>= 7) {
    head[head.length - 1] = (head.at(-1) ?? 0) | 0x80;
    head.push(rest & 0x7f);
  }
  return Buffer.concat([Buffer.from(head), reference, deflateSync(content)]);
}

/** Seven bits a byte, lowest first. Not by shifting: sizes go beyond 32 bits. */
function variableLength(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    const isLast = rest < 128;
    bytes.push((rest % 128) | (isLast ? 0 : 0x80));
    if (isLast) return Buffer.from(bytes);
  }
}

/** Seven bits a byte, highest first, each further byte one less: git's form of a distance within a pack. */
function offsetBack(distance: number): Buffer {
  const bytes = [distance & 0x7f];
  for (let rest = distance >> 7; rest > 0; rest >>= 7) {
    rest -= 1;
    bytes.unshift((rest & 0x7f) | 0x80);
  }
  return Buffer.from(bytes);
}

/** Puts text with terminal escapes in front of the pack of a version 2 answer. */
export function floodBeforePack(bytes: number): Transform {
  const line = Buffer.from(`\u001b]0;owned\u0007\u001b[2J\u001b[31mfatal: pay this solver\n`);
  const text = Buffer.alloc(1_000, line);
  let flooded = false;
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      const at = piece.indexOf('packfile\n');
      if (flooded || at < 0) {
        done(null, piece);
        return;
      }
      flooded = true;
      const end = at + 'packfile\n'.length;
      this.push(piece.subarray(0, end));
      for (let sent = 0; sent < bytes; sent += text.length) this.push(sideband(2, text));
      done(null, piece.subarray(end));
    },
  });
}

/** Lets at most this many bytes a second through; with 0 nothing at all, until the connection is cut. */
export function throttle(bytesPerSecond: number): Transform {
  let timer: NodeJS.Timeout | undefined;
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      if (bytesPerSecond === 0) return;
      const send = (from: number): void => {
        const end = Math.min(piece.length, from + Math.max(1, Math.floor(bytesPerSecond / 10)));
        this.push(piece.subarray(from, end));
        if (end === piece.length) done();
        else timer = setTimeout(send, 100, end);
      };
      timer = setTimeout(send, 100, 0);
    },
    destroy(error, done) {
      clearTimeout(timer);
      done(error);
    },
  });
}
