import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson, sha256Hex } from '@kervyxa/core';
import { describe, expect, it } from 'vitest';
import { inputFile } from '../testing/script-package.ts';
import { validate } from '../thread/validate.ts';
import { BROKEN_CODES } from './stage-end.ts';
import { type StageInputs, toManifest } from './inputs.ts';

const DOCS = join(import.meta.dirname, '../../../../docs');
const GUIDE = readFileSync(join(DOCS, 'checkers.md'), 'utf8');
const readSchema = (name: string) =>
  readFileSync(join(DOCS, `schemas/checker-${name}.schema.json`), 'utf8');
const exampleOf = (name: string) =>
  new RegExp(`\`\`\`json checker-${name}\n([^]*?)\`\`\``).exec(GUIDE)?.[1] ?? '';

const VALID = { kind: 'valid' };
const INPUTS: StageInputs = {
  contractId: null,
  stageKey: 'sum_check',
  resultKind: 'pass_fail',
  artifacts: [{ role: 'report', ...inputFile('{}', 'report.json') }],
  reference: new Map(),
  summaryText: null,
};

// Keeps R-CHECKER-PROTOCOL.
describe('checker-manifest.schema.json', () => {
  const check = (manifest: unknown) => validate(readSchema('manifest'), JSON.stringify(manifest));

  it.each<[string, Partial<StageInputs>]>([
    ['one artifact', {}],
    ['nothing', { artifacts: [] }],
    [
      'a published contract, a slot and words',
      {
        contractId: 'vct_01jf90aa4rrc',
        resultKind: 'score',
        reference: new Map([['labels', { ...inputFile('a', '../x\n'), mediaType: 'text/csv' }]]),
        summaryText: 'So it is.',
      },
    ],
  ])('describes what a program is shown: %s', (_, more) => {
    expect(check(toManifest({ ...INPUTS, ...more }))).toEqual(VALID);
  });

  it.each([
    ['another protocol', { protocol: 2 }],
    ['a path elsewhere', { summary_path: '/etc/passwd' }],
    ['a field that nobody wrote down', { extra: 1 }],
  ])('refuses %s', (_, change) => {
    expect(check({ ...toManifest(INPUTS), ...change })).toMatchObject({ kind: 'invalid' });
  });

  it('is what the guide shows, to the byte but for blanks', () => {
    const shown = canonicalJson(JSON.parse(exampleOf('manifest')));
    expect(shown).toBe(canonicalJson(toManifest(INPUTS)));
    expect(shown).toContain(sha256Hex('{}'));
  });
});

describe('checker-result.schema.json', () => {
  const check = (text: string) => validate(readSchema('result'), text);

  it.each([
    exampleOf('result'),
    '{"result":"verified"}',
    '{"result":"verified","score":0.5,"reason":null}',
    '{"result":"inconclusive","reason":"?","own":[1]}',
  ])('describes what a program may answer: %s', (text) => {
    expect(check(text)).toEqual(VALID);
  });

  it.each([
    '{}',
    '[]',
    '{"result":"error"}',
    '{"result":"verified","reason":1}',
    '{"result":"verified","score":"1"}',
  ])('refuses %s', (text) => {
    expect(check(text)).toMatchObject({ kind: 'invalid' });
  });
});

it('the guide has every code of a program that gives no answer, and no other', () => {
  const section = GUIDE.slice(
    GUIDE.indexOf('**What is no answer.**'),
    GUIDE.indexOf('JSON is read strictly'),
  );
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  const codes = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([A-Z_]+)`/g)]);
  expect(codes.map(([, code]) => code).toSorted()).toEqual([...BROKEN_CODES].toSorted());
});
