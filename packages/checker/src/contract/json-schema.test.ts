import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { passFailContract, publishedContract } from '../testing/published-contract.ts';
import { valueAt } from './pointer.ts';
import { VERIFIER_CONTRACT_JSON_SCHEMA } from './json-schema.ts';
import { VerifierContractSchema } from './verifier-contract.ts';

const FILE = join(import.meta.dirname, '../../../../docs/schemas/verifier-contract.schema.json');
// Formats are notes for readers; the patterns beside them decide.
const ajv = new Ajv2020({
  strict: true,
  strictRequired: false,
  strictTypes: false,
  validateFormats: false,
});
const accepts = ajv.compile(VERIFIER_CONTRACT_JSON_SCHEMA);

/** What stands between fields that JSON Schema can't relate. */
const BEYOND_JSON_SCHEMA = [
  'key_duplicated',
  'slot_unknown',
  'fixture_stage_unknown',
  'fixture_stage_refused',
  'fixture_slot_unbound',
  'role_unknown',
  'expected_score_missing',
  'text_invalid',
];

function canSay(issue: z.core.$ZodIssue, contract: unknown): boolean {
  if (issue.code !== 'custom') return true;
  const code: unknown = issue.params?.['code'];
  if (code !== 'expected_score_refused') return !BEYOND_JSON_SCHEMA.includes(String(code));
  // Unless it is refused for its stage, which only its key leads to.
  const isPassFail = valueAt(contract, ['result_kind']) === 'pass_fail';
  const result = valueAt(contract, [...issue.path.slice(0, 2), 'expected_result']);
  return isPassFail || result !== 'verified';
}

describe('the JSON Schema of a published contract', () => {
  it('is the one in docs/schemas, which scripts/write-schema.ts writes', () => {
    expect(JSON.parse(readFileSync(FILE, 'utf8'))).toEqual(
      JSON.parse(JSON.stringify(VERIFIER_CONTRACT_JSON_SCHEMA)),
    );
  });

  it('is a schema by the rules of draft 2020-12', () => {
    expect(ajv.validateSchema(VERIFIER_CONTRACT_JSON_SCHEMA)).toBe(true);
  });

  it.each([
    ['a score contract with every kind of stage', publishedContract()],
    ['a pass_fail contract', passFailContract()],
  ])('lets %s through, as the program does', (_what, contract) => {
    expect(accepts(contract)).toBe(true);
    expect(VerifierContractSchema.safeParse(contract).error?.issues).toBeUndefined();
  });

  it('agrees with the program on whatever is done to a contract, as far as it can speak', () => {
    fc.assert(
      fc.property(changedContract(), (contract) => {
        const { error } = VerifierContractSchema.safeParse(contract);
        const isRefused = !accepts(contract);
        const isSayable = (error?.issues ?? []).some((issue) => canSay(issue, contract));
        // Refused by one and not by the other, for a reason that both know.
        expect({ isRefused, issues: error?.issues ?? [] }).toSatisfy(() =>
          isRefused ? error !== undefined : !isSayable,
        );
      }),
      { numRuns: 1_000 },
    );
  });
});

/** A valid contract, of which one to three values are replaced, removed or added. */
function changedContract(): fc.Arbitrary<unknown> {
  const change = fc.oneof(
    fc.record({ at: fc.nat(), value: replacement() }),
    fc.constantFrom(...AT_CONDITIONS).map(([path, value]) => ({ path, value })),
  );
  return fc
    .tuple(
      fc.constantFrom(publishedContract(), passFailContract()),
      fc.array(change, { minLength: 1, maxLength: 3 }),
    )
    .map(([contract, changes]) => {
      const document: unknown = structuredClone(contract);
      for (const each of changes) {
        if ('path' in each) setAt(document, each.path, each.value);
        else replaceAt(document, each.at, each.value);
      }
      return document;
    });
}

/** What other fields depend on. */
const AT_CONDITIONS: readonly (readonly [path: readonly PropertyKey[], value: unknown])[] = [
  [['result_kind'], 'pass_fail'],
  [['result_kind'], 'score'],
  [['score'], null],
  [['score'], publishedContract().score],
  [['stages', 0, 'result_kind'], 'score'],
  [['stages', 1, 'result_kind'], 'pass_fail'],
  [['reference_inputs', 0, 'sealed'], true],
  [['stages', 0, 'reference_input_slots'], undefined],
  [['submission_requirements', 'accepts_text_only'], true],
  [['submission_requirements', 'answer_format_md'], 'One number.'],
  [['conformance_fixtures', 0, 'inputs', 'summary_text'], '42'],
  [['conformance_fixtures', 0, 'expected_score'], 1],
  [['conformance_fixtures', 1, 'expected_score'], 1],
];

function setAt(document: unknown, path: readonly PropertyKey[], value: unknown): void {
  const owner = valueAt(document, path.slice(0, -1));
  if (typeof owner === 'object' && owner !== null) Reflect.set(owner, path.at(-1) ?? '', value);
}

const REMOVED = Symbol('removed');

function replacement(): fc.Arbitrary<unknown> {
  return fc.oneof(
    fc.constant(REMOVED),
    fc.constantFrom<unknown>(null, true, false, 0, 1, -1, 1.5, 2 ** 60, '', 'a', 'A b', [], {}),
    fc.constantFrom('sandbox', 'review', 'external', 'contract', 'partner', 'score', 'pass_fail'),
    fc.constantFrom('verified', 'refuted', 'measure', 'labels', 'eq', 'in', 'rpt_0123456789'),
    fc.constantFrom(
      'x'.repeat(41),
      '😀'.repeat(200),
      '😀'.repeat(201),
      '~2',
      '2026-02-30T00:00:00Z',
    ),
    fc.jsonValue({ maxDepth: 2 }),
  );
}

/** Replaces, removes or adds the value at one of all places of a document. */
function replaceAt(document: unknown, at: number, value: unknown): void {
  const places: [owner: object, key: string][] = [];
  const walk = (owner: unknown): void => {
    if (typeof owner !== 'object' || owner === null) return;
    places.push([owner, Array.isArray(owner) ? String(owner.length) : 'added']);
    for (const [key, each] of Object.entries(owner)) {
      places.push([owner, key]);
      walk(each);
    }
  };
  walk(document);
  const [owner, key] = places[at % places.length] ?? [{}, ''];
  if (value !== REMOVED) Reflect.set(owner, key, value);
  else if (Array.isArray(owner)) owner.splice(Number(key), 1);
  else Reflect.deleteProperty(owner, key);
}
