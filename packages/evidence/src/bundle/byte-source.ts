/** Reads a stream in the amounts that its reader wants. One call at a time. */
export interface ByteSource {
  /** The next bytes; null where the stream ends before there are so many. For little. */
  take(bytes: number): Promise<Buffer | null>;
  /** The same in pieces as they come; fewer where the stream ends before. */
  pieces(bytes: number): AsyncGenerator<Buffer>;
  /** Ends the reading. */
  close(): Promise<void>;
}

export function createByteSource(stream: AsyncIterable<Uint8Array>): ByteSource {
  const iterator = stream[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);

  async function* pieces(bytes: number): AsyncGenerator<Buffer> {
    let wanted = bytes;
    while (wanted > 0) {
      if (held.length === 0) {
        const next = await iterator.next();
        if (next.done === true) return;
        held = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
      }
      const piece = held.subarray(0, wanted);
      held = held.subarray(piece.length);
      wanted -= piece.length;
      if (piece.length > 0) yield piece;
    }
  }

  return {
    pieces,
    take: async (bytes) => {
      const taken = Buffer.concat(await Array.fromAsync(pieces(bytes)));
      return taken.length === bytes ? taken : null;
    },
    close: async () => void (await iterator.return?.()),
  };
}
