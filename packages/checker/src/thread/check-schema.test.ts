import { describe, expect, it } from 'vitest';
import { checkAgainstSchema } from './check-schema.ts';

const VALID = { kind: 'valid' };

/** Definitions d0 … d40, of which each names the next one twice. */
function doubling(word: 'allOf' | 'anyOf'): object {
  const steps = Array.from({ length: 40 }, (_, step) => {
    const next = { $ref: `#/$defs/d${step + 1}` };
    return [`d${step}`, { [word]: [next, next] }] as const;
  });
  return { $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(steps), d40: { type: 'string' } } };
}

// Keeps R-CHECKER-SCHEMA.
describe.concurrent('a schema that', () => {
  const patience = { timeoutMs: 500 };

  it('is plain takes what satisfies it, and tells of the rest where and why', async () => {
    const schema = { properties: { a: { type: 'string' } } };
    expect(await checkAgainstSchema(schema, { a: 'a' })).toEqual(VALID);
    expect(await checkAgainstSchema(schema, { a: 1 })).toEqual({
      kind: 'invalid',
      problems: [{ pointer: '/a', message: 'must be string' }],
    });
  });

  it('is 100,000 levels deep, and so is the value', async () => {
    let deep: unknown = {};
    for (let level = 0; level < 100_000; level += 1) deep = { items: deep };
    expect(await checkAgainstSchema(deep, 1)).toMatchObject({ kind: 'schema_broken' });
    expect(await checkAgainstSchema({}, deep)).toMatchObject({ kind: 'invalid' });
  });

  it('refers to itself without end', async () => {
    expect(await checkAgainstSchema({ $ref: '#' }, 1)).toMatchObject({
      kind: 'schema_broken',
      message: expect.stringContaining('refers to itself'),
    });
  });

  it('doubles the work with each reference: it is stopped', async () => {
    const check = await checkAgainstSchema(doubling('allOf'), 'a', patience);
    expect(check).toMatchObject({
      kind: 'schema_broken',
      message: expect.stringContaining('500 ms'),
    });
  });

  it('doubles the problems with each reference: it runs out of its memory, and nobody else does', async () => {
    const check = await checkAgainstSchema(doubling('anyOf'), 1, {
      memoryMb: 32,
      timeoutMs: 60_000,
    });
    expect(check).toMatchObject({
      kind: 'schema_broken',
      message: expect.stringContaining('32 MB'),
    });
  });

  it('would compare each of 50,000 elements with each other: it answers', async () => {
    const many = Array.from({ length: 50_000 }, (_, at) => ({ at }));
    expect(await checkAgainstSchema({ uniqueItems: true }, many)).toEqual(VALID);
  });

  it('would backtrack for ever in another engine: it answers', async () => {
    const text = `${'a'.repeat(50_000)}!`;
    expect(await checkAgainstSchema({ pattern: '^(a+)+$' }, text)).toMatchObject({
      kind: 'invalid',
    });
  });

  it('lists 20,000 values: it answers', async () => {
    const values = Array.from({ length: 20_000 }, (_, at) => ({ at }));
    expect(await checkAgainstSchema({ enum: values }, { at: 19_999 })).toEqual(VALID);
  });

  it('closes quotes and comments to put code into the check: it names a key', async () => {
    const key = "\u2028'+process.exit(7)+`${process.exit(8)}`//*/";
    const schema = { required: [key], properties: { [key]: { const: key, pattern: '\n*/' } } };
    expect(await checkAgainstSchema(schema, {})).toMatchObject({ kind: 'invalid' });
  });
});
