import { describe, expect, it } from 'vitest';
import { findTests, idsOfTitle, readThreats } from './catalogue.ts';

const threats = readThreats();
const tests = findTests();

// Keeps R-THREATS-ALL.
describe('the catalogue of attacks', () => {
  it('has each id once', () => {
    const ids = threats.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ids.length).toBeGreaterThan(200);
  });

  it('has a test for every attack: a title that begins with its id', () => {
    const missing = threats.map(({ id }) => id).filter((id) => (tests.get(id)?.size ?? 0) === 0);
    expect(missing).toEqual([]);
  });

  it('has every attack that a title names', () => {
    const known = new Set(threats.map(({ id }) => id));
    const unknown = [...tests].filter(([id]) => !known.has(id));
    expect(unknown.map(([id, files]) => `${id} in ${[...files].join(', ')}`)).toEqual([]);
  });
});

it('takes all ids at the beginning of a title, and none behind it', () => {
  // Spelled out they would count as titles.
  const ids = [`C${20}`, `C${21}`, `BUG-${33}`];
  expect(idsOfTitle(`${ids.join(' ')} floods its output, as in M16 too`)).toEqual(ids);
  expect(idsOfTitle('floods its output (C20)')).toEqual([]);
  expect(idsOfTitle(`BUG-${33}`)).toEqual([]);
});
