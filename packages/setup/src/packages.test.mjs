import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  arePackagesCurrent,
  clientStamp,
  isClientCurrent,
  isNewEnough,
  packagesStamp,
} from './packages.mjs';

/** @type {string} */
let repository;
beforeEach(() => {
  repository = mkdtempSync(join(tmpdir(), 'kervyxa-packages-'));
  for (const folder of ['node_modules', 'packages/core', 'packages/empty', 'apps/cli']) {
    mkdirSync(join(repository, folder), { recursive: true });
  }
  for (const file of [
    'package.json',
    'package-lock.json',
    'packages/core/package.json',
    'apps/cli/package.json',
  ]) {
    writeFileSync(join(repository, file), '{}');
  }
  writeFileSync(join(repository, 'node_modules/.kervyxa-stamp'), packagesStamp(repository));
});
afterEach(() => rmSync(repository, { recursive: true }));

describe('node_modules', () => {
  it('is current after a finished installation', () => {
    expect(arePackagesCurrent(repository)).toBe(true);
  });

  it('is stale when an installation was interrupted, for it has no stamp', () => {
    rmSync(join(repository, 'node_modules'), { recursive: true });
    expect(arePackagesCurrent(repository)).toBe(false);
  });

  it.each(['package-lock.json', 'package.json', 'apps/cli/package.json'])(
    'is stale when %s changed',
    (file) => {
      writeFileSync(join(repository, file), '{"a":1}');
      expect(arePackagesCurrent(repository)).toBe(false);
    },
  );

  it('is stale when a workspace came along', () => {
    writeFileSync(join(repository, 'packages/empty/package.json'), '{}');
    expect(arePackagesCurrent(repository)).toBe(false);
  });
});

describe('the database client', () => {
  const SCHEMA = 'prisma/schema.prisma';
  const PROGRAM = 'packages/db/package.json';
  beforeEach(() => {
    for (const folder of ['prisma', 'packages/db/src/generated']) {
      mkdirSync(join(repository, folder), { recursive: true });
    }
    for (const file of [SCHEMA, PROGRAM]) writeFileSync(join(repository, file), '{}');
    const stamp = join(repository, 'packages/db/src/generated/.stamp');
    writeFileSync(stamp, clientStamp(repository));
  });

  it('is current after it was generated', () => {
    expect(isClientCurrent(repository)).toBe(true);
  });

  it('is missing in a fresh clone, and where its generation was interrupted', () => {
    rmSync(join(repository, 'packages/db/src/generated'), { recursive: true });
    expect(isClientCurrent(repository)).toBe(false);
  });

  it.each([SCHEMA, PROGRAM])('is stale when %s changed', (file) => {
    writeFileSync(join(repository, file), 'model A {}');
    expect(isClientCurrent(repository)).toBe(false);
  });
});

describe('isNewEnough', () => {
  it.each([
    ['20.20.2', false],
    ['22.17.9', false],
    ['22.18.0', true],
    ['23.0.0', true],
    ['24.1.0', true],
    ['', false],
  ])('%s: %s', (version, expected) => {
    expect(isNewEnough(version)).toBe(expected);
  });
});
