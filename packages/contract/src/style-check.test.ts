import { describe, expect, it } from 'vitest';
import { isStyleCheck } from './style-check.ts';

const PACKAGE_JSON = JSON.stringify({
  scripts: {
    lint: 'eslint . && npm run format',
    format: 'prettier --check .',
    test: 'node --test',
    check: 'npm run lint && npm test',
    again: 'npm run again',
  },
});

describe('a style check', () => {
  it.each([
    'npx eslint . --max-warnings=0',
    'cd web && node_modules/.bin/tsc --noEmit && npx prettier --check .',
    'python3 -m black --check .',
    'ruff check . && ruff format --check .',
    'npm run lint',
  ])('is %s', (command) => {
    expect(isStyleCheck(command, PACKAGE_JSON)).toBe(true);
  });

  it.each([
    'node test.js && npx eslint .',
    'npx eslint . && node test.js',
    'npm run check',
    'npm run again',
    'npm test',
    'sh "$KERVYXA_VERIFIER_PACKAGE/judge.sh"',
    'true',
    '',
  ])('is not %s', (command) => {
    expect(isStyleCheck(command, PACKAGE_JSON)).toBe(false);
  });

  it('is no npm script that nobody knows', () => {
    expect(isStyleCheck('npm run lint', null)).toBe(false);
  });
});
