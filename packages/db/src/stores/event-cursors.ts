import { createCipheriv, createDecipheriv } from 'node:crypto';
import { createDbError } from '../errors.ts';
import { queryRows, type Sql } from './sql.ts';

/** Where in the order of events one is: by the transaction that wrote it, and within that. */
type EventPlace = readonly [xid: bigint, id: bigint];

/**
 * Names places by 32 hex digits that tell nothing: the numbers themselves would tell watchers how much was written
 * between two events that they see, about what they do not (ADR 0032). All processes of a database name them alike.
 */
export interface EventCursors {
  toCursor(place: EventPlace): string;
  /** Throws DB_CURSOR_INVALID. */
  toPlace(cursor: string): EventPlace;
}

const FORM = /^[0-9a-f]{32}$/;
/** One block: two numbers of six bytes, and zeros by which one that we did not make is told. */
const NUMBER_BYTES = 6;
const ZEROS_AT = 2 * NUMBER_BYTES;
const CIPHER = 'aes-256-ecb';

/** Asks the database for its key once. */
export function createEventCursors(sql: Sql): () => Promise<EventCursors> {
  let cursors: Promise<EventCursors> | null = null;
  return () => {
    cursors ??= loadKey(sql).then(withKey);
    // Whoever asks next tries again.
    cursors.catch(() => (cursors = null));
    return cursors;
  };
}

async function loadKey(sql: Sql): Promise<Uint8Array> {
  const [row] = await queryRows<{ bytes: Uint8Array }>(
    sql,
    `SELECT bytes FROM secrets WHERE name = 'event_cursor'`,
    [],
  );
  if (row === undefined) throw new Error('expected the key of event cursors, got none');
  return row.bytes;
}

function withKey(key: Uint8Array): EventCursors {
  return {
    toCursor: ([xid, id]) => {
      const block = Buffer.alloc(16);
      block.writeUIntBE(Number(xid), 0, NUMBER_BYTES);
      block.writeUIntBE(Number(id), NUMBER_BYTES, NUMBER_BYTES);
      const cipher = createCipheriv(CIPHER, key, null).setAutoPadding(false);
      return cipher.update(block).toString('hex');
    },
    toPlace: (cursor) => {
      if (!FORM.test(cursor)) throw cursorInvalid(cursor);
      const decipher = createDecipheriv(CIPHER, key, null).setAutoPadding(false);
      const block = decipher.update(Buffer.from(cursor, 'hex'));
      if (block.readUInt32BE(ZEROS_AT) !== 0) throw cursorInvalid(cursor);
      return [
        BigInt(block.readUIntBE(0, NUMBER_BYTES)),
        BigInt(block.readUIntBE(NUMBER_BYTES, NUMBER_BYTES)),
      ];
    },
  };
}

function cursorInvalid(text: string): Error {
  return createDbError('DB_CURSOR_INVALID', {
    message: `expected the cursor of an event, got ${JSON.stringify(text.slice(0, 40))}`,
    fix: 'Send the cursor of the last event that you have, or none.',
  });
}
