import { z } from 'zod';

/** What an id names; the prefix of its text. */
export const ID_PREFIXES = {
  principal: 'prn',
  key: 'key',
  contract: 'con',
  submission: 'sub',
  run: 'run',
  challenge: 'chl',
  transfer: 'tfr',
  payout: 'pay',
  worker: 'wrk',
  claim: 'clm',
} as const;
export type IdKind = keyof typeof ID_PREFIXES;

/** Crockford's alphabet in lower case: no i, l, o or u. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const RANDOM_BYTES = 16;
const RANDOM_CHARS = 26;

/** Makes ids that nobody can guess; chance is an argument, so that tests choose it. */
export type IdSource = (kind: IdKind) => string;

/** Ids such as `sub_…` with 128 random bits. `randomBytes` answers that many bytes. */
export function createIdSource(randomBytes: (count: number) => Uint8Array): IdSource {
  return (kind) => `${ID_PREFIXES[kind]}_${toBase32(randomBytes(RANDOM_BYTES))}`;
}

/** An id of one kind, as it comes from outside. */
export function idSchemaOf(kind: IdKind): z.ZodString {
  return z
    .string()
    .regex(
      new RegExp(`^${ID_PREFIXES[kind]}_[${ALPHABET}]{${RANDOM_CHARS}}$`),
      `expected an id such as ${ID_PREFIXES[kind]}_…`,
    );
}

function toBase32(bytes: Uint8Array): string {
  let rest = bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
  let text = '';
  for (let index = 0; index < RANDOM_CHARS; index += 1) {
    text = (ALPHABET[Number(rest & 31n)] ?? '') + text;
    rest >>= 5n;
  }
  return text;
}
