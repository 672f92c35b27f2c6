import { isUtf8 } from 'node:buffer';
import { toPrintable } from '@kervyxa/core';
import type { z } from 'zod';
import type { ContractDraft } from '../contract/draft.ts';
import { lintFindingOf, type LintFinding } from '../contract/finding.ts';
import { shapeFindings } from '../contract/shape-findings.ts';
import { PROBLEM_FILE, STATEMENT_FILE } from './file-names.ts';
import type { FolderView } from './folder-view.ts';
import { readJsonFile } from './json-file.ts';
import { type ProblemDetails, ProblemDetailsSchema } from './problem.ts';

const STATEMENT_BYTES_MAX = 256 * 1_024;

export interface JsonFile<T> {
  /** Null where a finding refuses the file. */
  readonly value: T | null;
  readonly findings: readonly LintFinding[];
}

/** A JSON file of one schema. */
export function parseJsonFile<Schema extends z.ZodType>(
  file: string,
  content: Uint8Array,
  schema: Schema,
): JsonFile<z.infer<Schema>> {
  const json = readJsonFile(file, content);
  if ('finding' in json) return { value: null, findings: [json.finding] };
  const parsed = schema.safeParse(json.document);
  return parsed.success
    ? { value: parsed.data, findings: [] }
    : { value: null, findings: shapeFindings(file, schema, json.document) };
}

export interface ProblemFiles {
  readonly details: ProblemDetails | null;
  readonly statement: string | null;
  readonly findings: readonly LintFinding[];
}

/** `problem.json` and `statement.md` of a problem; `draft` is the contract that is beside them or shared. */
export function readProblemFiles(view: FolderView, draft: ContractDraft | null): ProblemFiles {
  const file = `${view.own}${PROBLEM_FILE}`;
  const content = view.files.get(file);
  if (content === undefined) {
    const words = {
      message: `expected ${PROBLEM_FILE} in a folder of problems/, got none`,
      fix: 'Write slug, title and summary into it.',
    };
    const missing = lintFindingOf('problem_missing', { file }, words);
    return { details: null, statement: null, findings: [missing] };
  }
  const details = parseJsonFile(file, content, ProblemDetailsSchema);
  const statement = readStatement(view);
  return {
    details: details.value,
    statement: statement.value,
    findings: [
      ...details.findings,
      ...(details.value === null ? [] : contractProblems(file, view, details.value, draft)),
      ...statement.findings,
      ...(statement.value === null ? [] : mentionProblems(view, statement.value, draft)),
    ],
  };
}

function contractProblems(
  file: string,
  view: FolderView,
  { verifier_contract: published, sealing }: ProblemDetails,
  draft: ContractDraft | null,
): LintFinding[] {
  if (published !== undefined && draft !== null) {
    const words = {
      message: `expected one contract, got ${published} and verifier-contract.json`,
      fix: 'Remove the one that is not meant.',
    };
    return [lintFindingOf('contract_ambiguous', { file, pointer: '/verifier_contract' }, words)];
  }
  if (published !== undefined) return [];
  const sealed = draft?.slots.find((slot) => slot.sealed);
  if (sealed !== undefined && sealing === undefined) {
    const words = {
      message: `expected sealing, as the slot "${toPrintable(sealed.key ?? '', 60)}" is sealed, got none`,
      fix: 'Write sealing with sealed_until and submission_limit.',
    };
    return [lintFindingOf('sealing_missing', { file, pointer: '/sealing' }, words)];
  }
  if (sealed !== undefined || sealing === undefined) return [];
  const words = {
    message: 'expected a sealed slot, which sealing is about, got none',
    fix: 'Mark the slot with "sealed": true in verifier-contract.json, or remove sealing.',
  };
  return [lintFindingOf('sealing_unused', { file, pointer: '/sealing' }, words)];
}

function readStatement({ files, own }: FolderView): JsonFile<string> {
  const file = `${own}${STATEMENT_FILE}`;
  const content = files.get(file);
  if (content === undefined) {
    const words = {
      message: `expected the task in ${STATEMENT_FILE}, got no such file`,
      fix: 'Write down the task, what to submit and how it is judged.',
    };
    return { value: null, findings: [lintFindingOf('statement_missing', { file }, words)] };
  }
  const text = isUtf8(content) ? Buffer.from(content).toString() : null;
  if (text !== null && text.trim() !== '' && content.length <= STATEMENT_BYTES_MAX) {
    return { value: text, findings: [] };
  }
  const words = {
    message: `expected 1 to ${STATEMENT_BYTES_MAX} bytes of UTF-8 text, got something else`,
    fix: 'Keep the statement to the task; what is long belongs into a reference input or a skill.',
  };
  return { value: null, findings: [lintFindingOf('statement_invalid', { file }, words)] };
}

/** A slot that the statement never names is one that nobody knows to read. */
function mentionProblems(
  { own }: FolderView,
  statement: string,
  draft: ContractDraft | null,
): LintFinding[] {
  const words = new Set(statement.toLowerCase().split(/[^a-z0-9_]+/));
  return (draft?.slots ?? []).flatMap(({ key }) =>
    key === null || words.has(key)
      ? []
      : [
          lintFindingOf(
            'slot_unmentioned',
            { file: `${own}${STATEMENT_FILE}` },
            {
              message: `expected the slot "${toPrintable(key, 60)}" to be mentioned, got no word of it`,
              fix: 'Say by its key what the reference input is for.',
            },
          ),
        ],
  );
}
