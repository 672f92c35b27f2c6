import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadRecipes, parseRecipe, recipeDigest } from './recipe.mjs';

const good = {
  name: 'kervyxa-runtime/x:1',
  official: `x:1-slim@sha256:${'0'.repeat(64)}`,
  probe: 'true',
  debian: { suite: 'bookworm', packages: ['git'] },
  npm: [{ package: 'npm@10.9.9', integrity: `sha512-${'A'.repeat(86)}==`, from: '.', to: 'usr/x' }],
  links: { 'usr/bin/x': '../x' },
  harness: [],
};

/** @param {object} change */
function parseWith(change) {
  return () => parseRecipe(JSON.stringify({ ...good, ...change }), 'docker/x/runtime.json');
}

describe('a runtime recipe', () => {
  it('is read as it stands', () => {
    expect(parseWith({})()).toEqual(good);
  });

  it.each([
    ['a name of another family', { name: 'node:22' }],
    ['an official image without a digest', { official: 'x:1-slim' }],
    ['no probe', { probe: '' }],
    ['a Debian package that is an option', { debian: { suite: 'bookworm', packages: ['-oX'] } }],
    ['a version range', { npm: [{ ...good.npm[0], package: 'npm@^10' }] }],
    ['no integrity', { npm: [{ ...good.npm[0], integrity: undefined }] }],
    ['an absolute target', { npm: [{ ...good.npm[0], to: '/usr/x' }] }],
    ['no links', { links: undefined }],
    ['a harness file elsewhere', { harness: good.npm }],
  ])('is refused with %s', (_, change) => {
    expect(parseWith(change)).toThrow(
      expect.objectContaining({
        code: 'SETUP_RECIPE_INVALID',
        message: expect.stringContaining('docker/x/runtime.json'),
      }),
    );
  });

  it('is refused when it is no JSON', () => {
    expect(() => parseRecipe('{', 'f')).toThrow(
      expect.objectContaining({ code: 'SETUP_RECIPE_INVALID' }),
    );
  });

  it('has a digest that follows its content, not the order of keys', () => {
    const digest = recipeDigest(good);
    const reversed = Object.fromEntries(Object.entries(good).toReversed());
    expect(recipeDigest(reversed)).toBe(digest);
    expect(recipeDigest({ ...good, probe: 'false' })).not.toBe(digest);
  });
});

describe('the harness', () => {
  /** @type {string} */
  let folder;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kervyxa-recipe-'));
    mkdirSync(join(folder, 'x'));
    writeFileSync(join(folder, 'x/runtime.json'), JSON.stringify(good));
    mkdirSync(join(folder, 'harness/python/__pycache__'), { recursive: true });
    writeFileSync(join(folder, 'harness/count.sh'), 'exit 0');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('changes the image and not what is below it', () => {
    const [before] = loadRecipes(folder);
    writeFileSync(join(folder, 'harness/count.sh'), 'exit 1');
    const [after] = loadRecipes(folder);
    expect(after?.digest).not.toBe(before?.digest);
    expect(after?.baseDigest).toBe(before?.baseDigest);
  });

  it('leaves tests and compiled files at home', () => {
    const [before] = loadRecipes(folder);
    writeFileSync(join(folder, 'harness/python/count.test.ts'), '');
    writeFileSync(join(folder, 'harness/python/__pycache__/count.pyc'), '');
    const [after] = loadRecipes(folder);
    expect(after?.digest).toBe(before?.digest);
    expect(after?.harnessFiles).toEqual([
      {
        path: 'usr/local/lib/kervyxa/count.sh',
        source: join(folder, 'harness/count.sh'),
        sha256: createHash('sha256').update('exit 0').digest('hex'),
        executable: true,
      },
    ]);
  });
});

describe('the recipes of this repository', () => {
  it('are node 22 and python, on one base system', () => {
    const recipes = loadRecipes().map(({ recipe }) => recipe);
    expect(recipes.map(({ name }) => name)).toEqual([
      'kervyxa-runtime/node:22',
      'kervyxa-runtime/python:1',
    ]);
    expect(recipes[0]?.debian).toEqual(recipes[1]?.debian);
  });
});
