/** Large enough that the keeper starts few processes, small enough not to matter in our memory. */
const FRAME_BYTES_MAX = 4 * 1_024 * 1_024;

/**
 * Gathers the pieces of a stream to frames for the keeper: a line with the number of bytes, the bytes, and at the
 * end a line with 0. Each frame is a buffer of its own.
 */
export async function* packFrames(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let gathered: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    let rest = piece;
    while (rest.length > 0) {
      const taken = rest.subarray(0, FRAME_BYTES_MAX - bytes);
      rest = rest.subarray(taken.length);
      gathered.push(taken);
      bytes += taken.length;
      if (bytes === FRAME_BYTES_MAX) {
        yield toFrame(gathered, bytes);
        gathered = [];
        bytes = 0;
      }
    }
  }
  if (bytes > 0) yield toFrame(gathered, bytes);
  yield Buffer.from('0\n');
}

function toFrame(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  return Buffer.concat([Buffer.from(`${bytes}\n`), ...pieces]);
}
