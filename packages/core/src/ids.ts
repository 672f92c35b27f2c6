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
  verifier: 'vfr',
  verifierContract: 'vct',
  implementation: 'vim',
  reviewProtocol: 'rpt',
  problem: 'prb',
  entry: 'ent',
  check: 'chk',
  seat: 'sea',
} as const;
export type IdKind = keyof typeof ID_PREFIXES;

/** Crockford's alphabet in lower case: no i, l, o or u. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const RANDOM_BYTES = 16;
const RANDOM_CHARS = 26;
const IDS_AT_ONCE = 256;

/** Makes ids that nobody can guess; chance is an argument, so that tests choose it. */
export type IdSource = (kind: IdKind) => string;

/** Ids such as `sub_…` with 128 random bits. `randomBytes` answers as many bytes as it is asked for. */
export function createIdSource(randomBytes: (count: number) => Uint8Array): IdSource {
  // Asked for many at once: asking takes longer than the bytes do.
  let pool: Uint8Array = new Uint8Array();
  return (kind) => {
    if (pool.length < RANDOM_BYTES) pool = randomBytes(RANDOM_BYTES * IDS_AT_ONCE);
    const bytes = pool.subarray(0, RANDOM_BYTES);
    pool = pool.subarray(RANDOM_BYTES);
    return `${ID_PREFIXES[kind]}_${toBase32(bytes)}`;
  };
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
