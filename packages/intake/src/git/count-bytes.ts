import { Transform } from 'node:stream';

/** Passes bytes on as long as `take`, which is told of each piece's length, says that it may go on. */
export function countBytes(take: (bytes: number) => boolean): Transform {
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      if (take(piece.length)) done(null, piece);
      else done(new Error('expected fewer bytes'));
    },
  });
}
