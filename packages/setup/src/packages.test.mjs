import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { arePackagesCurrent, isNewEnough, packagesStamp } from './packages.mjs';

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
