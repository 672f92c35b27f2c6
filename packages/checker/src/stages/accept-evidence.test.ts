import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AcceptanceSchema } from '../contract/acceptance.ts';
import { acceptEvidence } from './accept-evidence.ts';

const accept = (field: string, op: string, value: unknown, evidence: unknown) =>
  acceptEvidence(AcceptanceSchema.parse({ field, op, value }), evidence).outcome;

describe("a contract's rule on evidence", () => {
  it.each([
    ['gte', 0.5, 0.5, 'verified'],
    ['gte', 0.5, 0.49, 'refuted'],
    ['lte', 3, 3, 'verified'],
    ['lte', 3, 4, 'refuted'],
    ['eq', 'anatase', 'anatase', 'verified'],
    ['eq', 'anatase', 'rutile', 'refuted'],
    ['eq', false, false, 'verified'],
    ['eq', null, null, 'verified'],
    ['in', ['a', 'b'], 'b', 'verified'],
    ['in', ['a', 'b'], 'c', 'refuted'],
    ['in', [1, 'a'], 1, 'verified'],
  ])('%s %j is for %j %s', (op, value, found, outcome) => {
    expect(accept('/x', op, value, { x: found })).toBe(outcome);
  });

  it.each([
    ['a missing field', 'gte', 1, {}],
    ['evidence that is no object', 'gte', 1, 7],
    ['a number in quotes', 'gte', 1, { x: '5' }],
    ['a number where text is wanted', 'eq', '1', { x: 1 }],
    ['true where one is wanted', 'eq', 1, { x: true }],
    ['null where zero is wanted', 'lte', 0, { x: null }],
    ['a list of one where its element is wanted', 'eq', 1, { x: [1] }],
    ['text, which has no order here', 'gte', 'a', { x: 'b' }],
    ['another type than any of the list', 'in', ['1', '2'], { x: 1 }],
    ['an empty list', 'in', [], { x: 1 }],
  ])('decides nothing for %s: it is never refuted by that', (_, op, value, evidence) => {
    expect(accept('/x', op, value, evidence)).toBe('inconclusive');
  });

  it.each(['fraction', '/fraction', '/phases/0/a~1b/c~0d', 'phases/0/a~1b/c~0d', '//'])(
    'finds the field %s: a JSON Pointer, or a bare name',
    (field) => {
      const evidence = { phases: [{ 'a/b': { 'c~d': 1 } }], fraction: 1, '': { '': 1 } };
      expect(accept(field, 'eq', 1, evidence)).toBe('verified');
    },
  );

  it.each([
    'constructor/name',
    '__proto__',
    'list/length',
    'list/01',
    'list/-1',
    'text/0',
    'text/length',
  ])('does not take %s for a field, which nobody reported', (field) => {
    const evidence = { list: ['Object', 'Object'], text: 'Object' };
    expect(accept(field, 'in', ['Object', 2, 6, 'O'], evidence)).toBe('inconclusive');
  });

  it('verifies only what equals the value, for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (found, other) => {
        const parsed = AcceptanceSchema.safeParse({ field: '/x', op: 'eq', value: other });
        fc.pre(parsed.success);
        const isEqual = JSON.stringify(found) === JSON.stringify(other);
        expect(acceptEvidence(parsed.data, { x: found }).outcome === 'verified').toBe(
          isEqual || (found === 0 && other === 0),
        );
      }),
    );
  });
});
