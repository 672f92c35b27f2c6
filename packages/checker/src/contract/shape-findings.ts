import { toPrintable } from '@kervyxa/core';
import type { z } from 'zod';
import { lintFindingOf, type LintFinding } from './finding.ts';
import { wordsOf } from './issue-words.ts';
import type { LintCode } from './lint-table.ts';
import { toPointer, valueAt } from './pointer.ts';

/** What one kind of document knows of its own issues beyond what every document says. */
export interface IssueRules {
  /** A more telling code than `field_missing`, `field_invalid` or `key_unknown`; null: there is none. */
  readonly codeOf: (path: readonly PropertyKey[], value: unknown) => LintCode | null;
  /** What judges the rest of an object whose member of this name, which chooses its form, is none that is known. */
  readonly restOf: Readonly<Record<string, z.ZodType>>;
  /** The part of the document that is judged. */
  readonly withinReach: (document: unknown) => unknown;
}

/** Of one object: whoever has more has not misspelt them. */
const UNKNOWN_KEYS_MAX = 100;

const NO_RULES: IssueRules = {
  codeOf: () => null,
  restOf: {},
  withinReach: (document) => document,
};

const FIXES: Partial<Record<LintCode, string>> = {
  key_unknown: 'Remove the key, or correct its spelling.',
  field_missing: 'Write the field; docs/checkers.md tells what it is for.',
  field_invalid: 'Correct the field; docs/checkers.md shows its form.',
  stage_field_refused: 'Remove the field, or make it null: stages of this kind have none.',
  stage_field_missing: 'Write the field: stages of this kind need it.',
  acceptance_invalid:
    'Compare by eq, gte or lte with one value, or by in with a list of values; field is a JSON Pointer.',
  limit_out_of_range: 'Choose a number in the range that docs/checkers.md gives.',
};

/** What a schema has against a document, as findings; empty where there is nothing. */
export function shapeFindings(
  file: string,
  schema: z.ZodType,
  document: unknown,
  options: Partial<IssueRules> = {},
): LintFinding[] {
  const rules = { ...NO_RULES, ...options };
  const judged = rules.withinReach(document);
  return issuesOf(schema, judged, rules.restOf, []).flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys
        .slice(0, UNKNOWN_KEYS_MAX)
        .map((key) => findingAt([...issue.path, key], unknownKey(key), true));
    }
    const value = valueAt(document, issue.path);
    return [findingAt(issue.path, wordsOf(issue, value), false)];
  });

  function findingAt(path: readonly PropertyKey[], message: string, isUnknown: boolean) {
    const value = valueAt(document, path);
    const general = value === undefined ? 'field_missing' : 'field_invalid';
    const code = rules.codeOf(path, value) ?? (isUnknown ? 'key_unknown' : general);
    const fix = FIXES[code] ?? 'Correct the field.';
    return lintFindingOf(code, { file, pointer: toPointer(path) }, { message, fix });
  }
}

function unknownKey(key: string): string {
  return `expected only keys of the format, got "${toPrintable(key, 100)}"`;
}

/** Looks on where a union gives up on an object that is of no known form. */
function issuesOf(
  schema: z.ZodType,
  document: unknown,
  restOf: IssueRules['restOf'],
  below: readonly PropertyKey[],
): z.core.$ZodIssue[] {
  const parsed = schema.safeParse(valueAt(document, below));
  if (parsed.success) return [];
  return parsed.error.issues.flatMap((issue) => {
    const path = [...below, ...issue.path];
    const own = { ...issue, path };
    const chooser = issue.code === 'invalid_union' ? String(issue.path.at(-1)) : '';
    const rest = Object.hasOwn(restOf, chooser) ? restOf[chooser] : undefined;
    if (rest === undefined) return [own];
    return [own, ...issuesOf(rest, document, {}, path.slice(0, -1))];
  });
}
