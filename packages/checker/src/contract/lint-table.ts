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
  // Form.
  json_invalid: refuse('The file is not UTF-8 JSON, nests too deep, or has a key twice.'),
  text_invalid: refuse('A text has half a character in it, or NUL.'),
  key_unknown: refuse('An object has a key that the format does not know.'),
  field_missing: refuse('A required field is missing.'),
  field_invalid: refuse(
    'A field has another type, form, length or range than the format asks for.',
  ),
  key_duplicated: refuse('Two slots, stages, roles, fixtures or problems have the same name.'),
  // Stages.
  stage_field_missing: refuse('A stage lacks a field that stages of its kind need.'),
  stage_field_refused: refuse('A stage has a field that only stages of another kind have.'),
  acceptance_invalid: refuse(
    'The rule over returned evidence is none of eq, gte, lte with one value and in with a list, or its field no pointer.',
  ),
  evidence_schema_broken: refuse(
    'An evidence schema is no JSON Schema 2020-12 that can be checked here.',
  ),
  slot_unknown: refuse('A stage or fixture names a slot that the contract does not declare.'),
  slots_unselected: refuse(
    'A slot is sealed, and a sandbox stage does not say which slots it reads.',
  ),
  // Scores and answers.
  score_missing: refuse('A score contract has no scale.'),
  score_refused: refuse('A pass_fail contract has a scale.'),
  score_stage_missing: refuse('No sandbox stage of a score contract gives a score.'),
  score_stage_refused: refuse('A stage of a pass_fail contract gives a score.'),
  answer_format_missing: advise('Text is accepted, and nothing says in what form.'),
  answer_format_refused: refuse('A form is given for text, and text is not accepted.'),
  // Fixtures.
  fixture_stage_unknown: refuse('A fixture names a stage that the contract does not have.'),
  fixture_stage_refused: refuse('A fixture names a stage that is no sandbox stage.'),
  fixture_slot_unbound: refuse('A fixture has no file for a required slot.'),
  role_unknown: refuse('A fixture names a role that the contract does not declare.'),
  summary_text_refused: refuse('A fixture has a text, and text is not accepted.'),
  expected_score_missing: refuse('A verified fixture of a score stage does not say its score.'),
  expected_score_refused: refuse('A fixture that has no score says one.'),
  fixture_file_missing: refuse('A file that a fixture names is not in the folder.'),
  fixture_hash_wrong: refuse('A fixture names another hash than its file has, or none.'),
  fixture_size_wrong: refuse('A fixture names another size than its file has, or none.'),
  fixture_link_refused: refuse('A fixture names a link, which no program sees.'),
  fixture_file_too_large: refuse('A file of a fixture is larger than its slot allows.'),
  fixture_unsealed: refuse('A fixture has the bytes that a sealed slot is bound to.'),
  fixture_unmet: refuse(
    'A fixture that should be verified or refuted lacks what a submission must have, so nothing is run.',
  ),
  fixture_verified_missing: refuse('No fixture of a sandbox stage should be verified.'),
  fixture_refuted_missing: refuse('No fixture of a sandbox stage should be refuted.'),
  fixture_inconclusive_missing: advise('No fixture of a sandbox stage should be inconclusive.'),
  // Programs.
  implementation_invalid: refuse(
    'The program of a stage is no `.py` file of the folder, builtin or image pinned by digest.',
  ),
  image_not_pinned: refuse('An image is named by tag.'),
  builtin_unknown: refuse('There is no builtin of that name.'),
  builtin_role_missing: refuse('The contract does not declare the role that a builtin reads.'),
  builtin_slot_missing: refuse(
    'The contract does not declare the slot that a builtin reads, or its stage does not select it.',
  ),
  script_missing: refuse('The script that a stage names is not in the folder.'),
  script_invalid: refuse('A script is empty, larger than 256 KiB, or not UTF-8.'),
  limit_out_of_range: refuse('A stage asks for more than there is, or for less than works.'),
  disk_counts_as_memory: advise(
    'A stage asks for as much scratch as memory or more, and what it writes counts as memory.',
  ),
  // The folder.
  contract_missing: refuse('A checker package is wanted, and the folder is none.'),
  contract_ambiguous: refuse('A problem has a contract of its own and names a published one.'),
  protocol_missing: refuse('A review stage names `./review-protocol.json`, which is not there.'),
  problem_missing: refuse('A folder of a campaign has no `problem.json`.'),
  campaign_empty: advise('A campaign has no problems yet.'),
  statement_missing: refuse('A problem has no `statement.md`.'),
  statement_invalid: refuse('A statement is empty, larger than 256 KiB, or not UTF-8.'),
  slot_unmentioned: advise('The statement never mentions a slot.'),
  reference_missing: refuse('A problem has no file for a required slot.'),
  reference_unbound: advise(
    'Nothing is bound to a required slot, so no criterion of a kervyxa contract can use the package.',
  ),
  reference_unknown: refuse('A file of `reference/` has the name of no slot.'),
  reference_duplicated: refuse('Two files of `reference/` have the name of one slot.'),
  reference_too_large: refuse('A file of `reference/` is larger than its slot allows.'),
  link_not_https: refuse('A link leads elsewhere than to an https URL.'),
  link_not_mounted: advise('A sandbox stage reads a slot that is a link, and will not find it.'),
  sealing_missing: refuse('A slot is sealed, and the problem does not say until when.'),
  sealing_unused: advise('A problem says until when slots are sealed, and none is.'),
  skill_missing: refuse('A folder of `skills/` has no `SKILL.md`, or a named skill is not there.'),
  file_unpublished: advise('`context.md` and `changelog.md` are not published.'),
  file_unknown: advise('A file that the format does not know; nothing of it is published.'),
}) satisfies Readonly<Record<string, LintTraits>>;

export type LintCode = keyof typeof LINT_TABLE;
