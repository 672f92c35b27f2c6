import { z } from 'zod';
import { lintFindingOf, type LintFinding } from './finding.ts';
import type { LintCode } from './lint-table.ts';
import { toPointer } from './pointer.ts';
import { withinReach } from './reach.ts';
import { ruleBreaches } from './rules.ts';
import { EXTERNAL_SHAPE, STAGE_SHAPE } from './schema.ts';
import { isJsonObject, jsonObjectOf } from './schema-parts.ts';
import { shapeFindings, type IssueRules } from './shape-findings.ts';

/**
 * Everything that is wrong with a contract, all at once, in the order of form and rules. `schema` is the shape of the
 * published or the authored document.
 */
export function contractFindings(
  file: string,
  schema: z.ZodType,
  document: unknown,
): LintFinding[] {
  const rules: IssueRules = {
    restOf: REST_OF,
    withinReach,
    codeOf: (path, value) => codeOf(path, value, document),
  };
  return [
    ...shapeFindings(file, schema, document, rules),
    ...ruleBreaches(document).map(({ code, path, message, fix }) =>
      lintFindingOf(code, { file, pointer: toPointer(path) }, { message, fix }),
    ),
  ];
}

const REST_OF = {
  kind: z.looseObject(STAGE_SHAPE),
  rule_owner: z.strictObject({
    ...EXTERNAL_SHAPE,
    rule_owner: z.unknown(),
    evidence_schema: jsonObjectOf().nullable().default(null),
    acceptance: z.unknown(),
  }),
};

/** What only some kinds of stage have. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  sandbox: ['implementation'],
  review: ['review_protocol_id'],
  external: ['rule_owner', 'external_system', 'acceptance', 'evidence_schema'],
};
const OPTIONAL: Readonly<Record<string, readonly string[]>> = {
  sandbox: ['evidence_schema', 'reference_input_slots', 'result_kind', 'limits'],
  review: [],
  external: ['evidence_schema'],
};
const KIND_FIELDS = new Set([NEEDED, OPTIONAL].flatMap((each) => Object.values(each).flat()));

function codeOf(path: readonly PropertyKey[], value: unknown, document: unknown): LintCode | null {
  const [list, index, name, inner] = path.map(String);
  if (list !== 'stages' || name === undefined) return null;
  if (name === 'limits' && inner !== undefined && typeof value === 'number') {
    return 'limit_out_of_range';
  }
  if (name === 'acceptance' && inner !== undefined) return 'acceptance_invalid';
  if (path.length > 3 || !KIND_FIELDS.has(name)) return null;
  const stages: unknown = isJsonObject(document) ? document['stages'] : null;
  const stage: unknown = Array.isArray(stages) ? stages[Number(index)] : null;
  if (!isJsonObject(stage)) return null;
  const kind = String(stage['kind']);
  if ((value ?? null) === null) {
    return NEEDED[kind]?.includes(name) === true ? 'stage_field_missing' : null;
  }
  return hasField(stage, kind, name) ? null : 'stage_field_refused';
}

function hasField(stage: Readonly<Record<string, unknown>>, kind: string, name: string): boolean {
  if (name === 'acceptance') return kind === 'external' && stage['rule_owner'] === 'contract';
  return [NEEDED, OPTIONAL].some((fields) => fields[kind]?.includes(name) === true);
}
