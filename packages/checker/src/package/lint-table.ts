import type { LintFinding } from './finding.ts';

interface LintTraits {
  readonly severity: LintFinding['severity'];
  /** One sentence for the table in docs/checkers.md. */
  readonly meaning: string;
}

const refuse = (meaning: string): LintTraits => ({ severity: 'refuse', meaning });
const advise = (meaning: string): LintTraits => ({ severity: 'advise', meaning });

/** Every code that lint has; a code keeps its meaning for ever. */
export const LINT_TABLE = Object.freeze({
  contract_missing: refuse('The folder has no `verifier-contract.json`.'),
  json_invalid: refuse('The file is not UTF-8 JSON, nests too deep, or has a key twice.'),
  key_unknown: refuse('An object has a key that the format does not know.'),
  field_missing: refuse('A required field is missing.'),
  field_invalid: refuse(
    'A field has another type, form, length or range than the format asks for.',
  ),
  implementation_invalid: refuse(
    'The program of a stage is no `.py` file of the folder, builtin or image pinned by digest.',
  ),
  builtin_unknown: refuse('There is no builtin of that name.'),
  image_not_pinned: refuse('An image is named by tag.'),
  script_missing: refuse('The script that a stage names is not in the folder.'),
  script_invalid: refuse('A script is empty, larger than 256 KiB, or not UTF-8.'),
  fixture_file_missing: refuse('A file that a fixture names is not in the folder.'),
  fixture_hash_wrong: refuse('A fixture names another hash or size than its file has, or none.'),
  file_unknown: advise('A file that the format does not know; nothing of it is published.'),
}) satisfies Readonly<Record<string, LintTraits>>;

export type LintCode = keyof typeof LINT_TABLE;
