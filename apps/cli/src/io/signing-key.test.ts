import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSigningKeys, rotateSigningKey } from './signing-key.ts';

let root = '';
let folder = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kervyxa-keys-'));
  folder = join(root, 'a', 'signing');
});
afterEach(() => rmSync(root, { recursive: true }));

const at = (second: number) => ({
  now: () => new Date(Date.UTC(2026, 0, 1, 0, 0, second)),
  monotonicMs: () => 0,
});
const modeOf = (path: string) => statSync(path).mode & 0o777;

// Keeps R-EVIDENCE-KEYS.
describe('the signing key', () => {
  it('is made once, readable by its owner only, and found again', () => {
    const { current, publicKeys } = openSigningKeys(folder, at(1));
    expect(readdirSync(folder).toSorted()).toEqual(
      [`${current.keyid}.pem`, 'keys-1.json'].toSorted(),
    );
    expect([modeOf(folder), modeOf(join(folder, `${current.keyid}.pem`))]).toEqual([0o700, 0o600]);
    expect(publicKeys).toMatchObject([
      { keyid: current.keyid, createdAt: at(1).now(), retiredAt: null },
    ]);
    expect(openSigningKeys(folder, at(2)).current.keyid).toBe(current.keyid);
  });

  it('leaves the state folder that it makes open to a PostgreSQL of another user', () => {
    const state = join(folder, 'state');
    openSigningKeys(join(state, 'own-keys'), at(1));
    expect([modeOf(state) & 0o011, modeOf(join(state, 'own-keys'))]).toEqual([0o011, 0o700]);
  });

  it('is followed by another: the old one is retired, kept in public, and gone in private', () => {
    const first = openSigningKeys(folder, at(1)).current.keyid;
    const { current, publicKeys } = rotateSigningKey(folder, at(5));
    expect(publicKeys).toMatchObject([
      { keyid: first, createdAt: at(1).now(), retiredAt: at(5).now() },
      { keyid: current.keyid, createdAt: at(5).now(), retiredAt: null },
    ]);
    expect(readdirSync(folder).filter((name) => name.endsWith('.pem'))).toEqual([
      `${current.keyid}.pem`,
    ]);
    const third = rotateSigningKey(folder, at(9));
    expect(third.publicKeys.map(({ retiredAt }) => retiredAt)).toEqual([
      at(5).now(),
      at(9).now(),
      null,
    ]);
  });

  it('is rotated where there was none yet', () => {
    expect(rotateSigningKey(folder, at(1)).publicKeys).toHaveLength(1);
  });

  it('is lost: told so, and the next one can still be made', () => {
    const { keyid } = openSigningKeys(folder, at(1)).current;
    rmSync(join(folder, `${keyid}.pem`));
    expect(() => openSigningKeys(folder, at(2))).toThrow(
      expect.objectContaining({ code: 'CLI_KEY_UNUSABLE' }),
    );
    expect(rotateSigningKey(folder, at(3)).publicKeys).toHaveLength(2);
  });

  it('somebody puts another key under the name of the one in use: refused', () => {
    const { keyid } = openSigningKeys(folder, at(1)).current;
    const { privateKey } = generateKeyPairSync('ed25519');
    writeFileSync(
      join(folder, `${keyid}.pem`),
      privateKey.export({ type: 'pkcs8', format: 'pem' }),
    );
    expect(() => openSigningKeys(folder, at(2))).toThrow(
      expect.objectContaining({
        code: 'CLI_KEY_UNUSABLE',
        message: expect.stringContaining('another key under its name'),
      }),
    );
  });
});
