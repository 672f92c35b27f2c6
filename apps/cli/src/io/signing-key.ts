import { generateKeyPairSync } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isAppError, toPrintable, type Clock } from '@kervyxa/core';
import {
  parsePublicKeys,
  parseSigningKey,
  toPublicKeysDocument,
  type PublicKey,
  type PublicKeys,
  type SigningKey,
} from '@kervyxa/evidence';
import { stateFolder } from '@kervyxa/setup';
import { cliError } from '../errors.ts';
import { toJsonText } from '../present/json.ts';

/** The keys of one signer. */
export interface SigningKeys {
  readonly current: SigningKey & Pick<PublicKey, 'createdAt'>;
  /** The oldest first, the one in use last. */
  readonly publicKeys: PublicKeys;
}

/** Where those of the command line are. A daemon on the same machine has others. */
export function ownKeysFolder(): string {
  return join(stateFolder(), 'own-keys');
}

/**
 * The keys in a folder of theirs; the first key is made where there is none. Read them again before each signature: a
 * key that another process has retired signs nothing that anybody believes.
 *
 * The folder (mode 0700) holds `<keyid>.pem`, the private key in use (PKCS #8, mode 0600; that of a retired key is
 * removed), and `keys-<n>.json`, every public key with its times as it stands at /.well-known/kervyxa-keys.json. The
 * highest n counts. Each is written whole and then linked to its name, so that of several processes one makes the next.
 *
 * Throws CLI_KEY_UNUSABLE.
 */
export function openSigningKeys(folder: string, clock: Clock): SigningKeys {
  return using(folder, () => {
    makeFolder(folder);
    if (newest(folder) === 0) makeNext(folder, { after: 0, known: [], at: clock.now() });
    return readKeys(folder);
  });
}

/**
 * Puts a new key in the place of the one in use, which is retired from now on. What was signed before stays good.
 * Throws CLI_KEY_UNUSABLE.
 */
export function rotateSigningKey(folder: string, clock: Clock): SigningKeys {
  return using(folder, () => {
    makeFolder(folder);
    const after = newest(folder);
    const known = after === 0 ? [] : readPublicKeys(folder, after);
    makeNext(folder, { after, known, at: clock.now() });
    const keys = readKeys(folder);
    for (const name of readdirSync(folder)) {
      const isOld = known.some(({ keyid }) => name === `${keyid}.pem`);
      if (isOld && name !== `${keys.current.keyid}.pem`) rmSync(join(folder, name));
    }
    return keys;
  });
}

interface Next {
  /** Number of the list that this one follows; 0 for the first. */
  readonly after: number;
  readonly known: PublicKeys;
  readonly at: Date;
}

/** Makes the list that follows; where another process has made it meanwhile, that one stands. */
function makeNext(folder: string, { after, known, at }: Next): void {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const { keyid, publicKey } = parseSigningKey(pem);
  const retired = known.map((key) => ({ ...key, retiredAt: key.retiredAt ?? at }));
  const document = toPublicKeysDocument([
    ...retired,
    { keyid, publicKey, createdAt: at, retiredAt: null },
  ]);
  const secret = join(folder, `${keyid}.pem`);
  const draft = join(folder, `${keyid}.draft`);
  writeNew(secret, pem, 0o600);
  writeNew(draft, toJsonText(document), 0o644);
  try {
    linkSync(draft, join(folder, `keys-${after + 1}.json`));
    syncFolder(folder);
  } catch (error) {
    rmSync(secret);
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft);
  }
}

function readKeys(folder: string): SigningKeys {
  const number = newest(folder);
  try {
    const publicKeys = readPublicKeys(folder, number);
    const last = publicKeys.at(-1);
    const pem = readFileSync(join(folder, `${last?.keyid}.pem`), 'utf8');
    const current = parseSigningKey(pem);
    if (current.keyid !== last?.keyid) throw unusable(folder, 'another key under its name');
    return { current: { ...current, createdAt: last.createdAt }, publicKeys };
  } catch (error) {
    // Another process has just put the next key in its place.
    if (newest(folder) > number) return readKeys(folder);
    throw error;
  }
}

function readPublicKeys(folder: string, number: number): PublicKeys {
  return parsePublicKeys(readFileSync(join(folder, `keys-${number}.json`), 'utf8'));
}

/** The highest number of a list; 0 where there is none. */
function newest(folder: string): number {
  const numbers = readdirSync(folder).map((name) => Number(/^keys-(\d+)\.json$/.exec(name)?.[1]));
  return Math.max(0, ...numbers.filter(Number.isSafeInteger));
}

/** On the disk when it returns: a list must not outlive its key. */
function writeNew(path: string, text: string, mode: number): void {
  writeFileSync(path, text, { flag: 'wx', mode, flush: true });
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** The parent has the usual mode: a PostgreSQL that runs as another user lives beside the keys. */
function makeFolder(folder: string): void {
  mkdirSync(dirname(folder), { recursive: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

function using<T>(folder: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (isAppError(error) && error.code === 'CLI_KEY_UNUSABLE') throw error;
    const hasCode = error instanceof Error && 'code' in error;
    throw unusable(folder, hasCode ? String(error.code) : 'something else', error);
  }
}

function unusable(folder: string, got: string, cause?: unknown): Error {
  return cliError('CLI_KEY_UNUSABLE', {
    message: `expected the signing key in ${toPrintable(folder, 300)}, got ${toPrintable(got, 100)}`,
    fix: 'look at the permissions there; where the key itself is lost, "kervyxa keys rotate" makes the next one, "kervyxa worker-key rotate" that of a worker',
    cause,
  });
}
