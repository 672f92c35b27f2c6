import { put, putting, type LintRow } from './lint-row.ts';

const FORM = 'Correct the field; docs/checkers.md shows its form.';
const KIND_REFUSED = 'Remove the field, or make it null: stages of this kind have none.';
const KIND_NEEDED = 'Write the field: stages of this kind need it.';
const COMPARE =
  'Compare by eq, gte or lte with one value, or by in with a list of values; field is a JSON Pointer.';
const OWN_NAME = (noun: string) => `Give every ${noun} a name of its own.`;

/** One form or length of every kind; what each field asks for is the schema's, held by the JSON Schema beside it. */
const FORM_ROWS: readonly LintRow[] = [
  {
    code: 'key_unknown',
    what: 'a key that the format does not have',
    change: putting(['stages', 0, 'colour'], 'red'),
    pointer: '/stages/0/colour',
    message: 'expected only keys of the format, got "colour"',
    fix: 'Remove the key, or correct its spelling.',
  },
  {
    code: 'field_missing',
    what: 'a contract without a statement',
    change: putting(['statement_md'], undefined),
    pointer: '/statement_md',
    message: 'expected a text, got nothing',
    fix: 'Write the field; docs/checkers.md tells what it is for.',
  },
  {
    code: 'field_invalid',
    what: 'a title of 201 characters',
    change: putting(['title'], 'x'.repeat(201)),
    pointer: '/title',
    message: 'expected 1 to 200 characters, got 201 characters',
    fix: FORM,
  },
  {
    code: 'field_invalid',
    what: 'an empty title',
    change: putting(['title'], ''),
    pointer: '/title',
    message: 'expected 1 to 200 characters, got ""',
    fix: FORM,
  },
  {
    code: 'field_invalid',
    what: 'a key with capitals',
    change: putting(['reference_inputs', 1, 'key'], 'Columns'),
    pointer: '/reference_inputs/1/key',
    message: 'expected lower-case letters, digits and single _, got "Columns"',
    fix: FORM,
    also: ['slot_unknown', 'slot_unknown'],
  },
  {
    code: 'field_invalid',
    what: 'a key of 41 characters',
    change: putting(['reference_inputs', 1, 'key'], 'x'.repeat(41)),
    pointer: '/reference_inputs/1/key',
    message: `expected at most 40 characters, got "${'x'.repeat(41)}"`,
    fix: FORM,
    also: ['slot_unknown', 'slot_unknown'],
  },
  {
    code: 'field_invalid',
    what: 'a slot that lets no byte in',
    change: putting(['reference_inputs', 1, 'max_bytes'], 0),
    pointer: '/reference_inputs/1/max_bytes',
    message: 'expected at least 1, got 0',
    fix: FORM,
  },
  {
    code: 'field_invalid',
    what: 'half a byte',
    change: putting(['submission_requirements', 'required_artifacts', 0, 'max_bytes'], 1024.5),
    pointer: '/submission_requirements/required_artifacts/0/max_bytes',
    message: 'expected a whole number, got 1024.5',
    fix: FORM,
  },
  {
    code: 'field_invalid',
    what: 'a media type that is there twice',
    change: putting(['reference_inputs', 0, 'media_types'], ['text/csv', 'text/csv']),
    pointer: '/reference_inputs/0/media_types',
    message: 'expected every element once, got 2 elements',
    fix: FORM,
  },
  {
    code: 'field_invalid',
    what: 'a slot that is selected twice',
    change: putting(['stages', 0, 'reference_input_slots'], ['columns', 'columns']),
    pointer: '/stages/0/reference_input_slots',
    message: 'expected every element once, got 2 elements',
    fix: FORM,
  },
  {
    code: 'field_invalid',
    what: 'more slots than ten',
    change: ({ contract }) => {
      const [, columns] = contract.reference_inputs;
      const more = Array.from({ length: 9 }, (_, at) => ({ ...columns, key: `more_${at}` }));
      put(contract, ['reference_inputs'], [...contract.reference_inputs, ...more]);
    },
    pointer: '/reference_inputs',
    message: 'expected at most 10 elements, got 11 elements',
    fix: FORM,
  },
  {
    code: 'field_invalid',
    what: 'a contract without stages',
    change: ({ contract }) => {
      put(contract, ['stages'], []);
      put(contract, ['conformance_fixtures'], []);
    },
    pointer: '/stages',
    message: 'expected at least 1 element, got 0 elements',
    fix: FORM,
    also: ['score_stage_missing', 'file_unknown', 'file_unknown'],
  },
  {
    code: 'field_invalid',
    what: 'a stage of a kind that there is not',
    change: putting(['stages', 4, 'kind'], 'oracle'),
    pointer: '/stages/4/kind',
    message: 'expected sandbox, review, external, got "oracle"',
    fix: FORM,
  },
  {
    code: 'field_invalid',
    what: 'a hash that is none',
    change: putting(
      ['conformance_fixtures', 0, 'inputs', 'artifacts', 0, 'content_hash'],
      'sha256:0',
    ),
    pointer: '/conformance_fixtures/0/inputs/artifacts/0/content_hash',
    message: 'expected sha256: and 64 hex digits, got "sha256:0"',
    fix: FORM,
    also: ['fixture_hash_wrong'],
  },
  {
    code: 'field_invalid',
    what: 'a fixture that expects an error of ours',
    change: putting(['conformance_fixtures', 2, 'expected_result'], 'error'),
    pointer: '/conformance_fixtures/2/expected_result',
    message: 'expected verified or refuted or inconclusive, got "error"',
    fix: FORM,
    also: ['fixture_inconclusive_missing'],
  },
  {
    code: 'field_invalid',
    what: 'a version below one',
    change: putting(['version_number'], 0),
    pointer: '/version_number',
    message: 'expected at least 1, got 0',
    fix: FORM,
  },
  {
    code: 'field_invalid',
    what: 'an id of something else',
    change: putting(['id'], 'vfr_01jm4nq8xw1p'),
    pointer: '/id',
    message: 'expected an id such as vct_…, got "vfr_01jm4nq8xw1p"',
    fix: FORM,
  },
  {
    code: 'field_invalid',
    what: 'a day that no year has',
    change: putting(['created_at'], '2026-02-30T00:00:00Z'),
    pointer: '/created_at',
    message: 'expected a time as RFC 3339 has it, got "2026-02-30T00:00:00Z"',
    fix: FORM,
  },
  {
    code: 'field_invalid',
    what: 'limits that are one number',
    change: putting(['stages', 0, 'limits'], 512),
    pointer: '/stages/0/limits',
    message: 'expected an object, got 512',
    fix: FORM,
  },
  {
    code: 'text_invalid',
    what: 'half a character',
    change: putting(['title'], 'x\ud800'),
    pointer: '/title',
    message: 'expected whole characters and no NUL, got something else in a value',
    fix: 'Write the character itself, or both halves of its \\u escape.',
  },
  {
    code: 'text_invalid',
    what: 'NUL in a key of an author’s own schema',
    change: putting(['stages', 1, 'evidence_schema'], { 'a\0b': true }),
    pointer: '/stages/1/evidence_schema',
    message: 'expected whole characters and no NUL, got something else in a key',
    fix: 'Write the character itself, or both halves of its \\u escape.',
  },
];

const NAME_ROWS: readonly LintRow[] = (
  [
    ['slot', ['reference_inputs', 1, 'key'], 'labels', ['slot_unknown', 'slot_unknown']],
    ['stage', ['stages', 4, 'key'], 'reading', []],
    ['fixture', ['conformance_fixtures', 1, 'key'], 'form_right', []],
  ] as const
).map(([noun, path, name, also]) => ({
  code: 'key_duplicated',
  what: `two of one name: ${noun}`,
  change: putting(path, name),
  pointer: `/${path.join('/')}`,
  message: `expected every ${noun} once, got "${name}" again`,
  fix: OWN_NAME(noun),
  also,
}));

const ROLE_ROW: LintRow = {
  code: 'key_duplicated',
  what: 'two of one name: role',
  change: ({ contract }) => {
    const { required_artifacts: roles } = contract.submission_requirements;
    put(contract, ['submission_requirements', 'required_artifacts', 1], roles[0]);
  },
  pointer: '/submission_requirements/required_artifacts/1/role',
  message: 'expected every role once, got "predictions" again',
  fix: OWN_NAME('role'),
};

const STAGE_ROWS: readonly LintRow[] = [
  ...(
    [
      [
        0,
        'sandbox',
        'review_protocol_id',
        'rpt_01jf90aa4rrc',
        'expected null, got "rpt_01jf90aa4rrc"',
      ],
      [0, 'sandbox', 'rule_owner', 'partner', 'expected null, got "partner"'],
      [
        0,
        'sandbox',
        'acceptance',
        { field: 'a', op: 'eq', value: 1 },
        'expected null, got an object',
      ],
      [0, 'sandbox', 'external_system', 'A registry', 'expected null, got "A registry"'],
      [2, 'review', 'evidence_schema', {}, 'expected null, got an object'],
      [2, 'review', 'rule_owner', 'contract', 'expected null, got "contract"'],
      [
        2,
        'review',
        'acceptance',
        { field: 'a', op: 'eq', value: 1 },
        'expected null, got an object',
      ],
      [2, 'review', 'external_system', 'A registry', 'expected null, got "A registry"'],
      [
        2,
        'review',
        'reference_input_slots',
        [],
        'expected only keys of the format, got "reference_input_slots"',
      ],
      [
        2,
        'review',
        'result_kind',
        'pass_fail',
        'expected only keys of the format, got "result_kind"',
      ],
      [
        2,
        'review',
        'implementation',
        './checker.py',
        'expected only keys of the format, got "implementation"',
      ],
      [
        3,
        'external',
        'review_protocol_id',
        'rpt_01jf90aa4rrc',
        'expected null, got "rpt_01jf90aa4rrc"',
      ],
      [
        3,
        'external',
        'reference_input_slots',
        [],
        'expected only keys of the format, got "reference_input_slots"',
      ],
      [
        3,
        'external',
        'result_kind',
        'pass_fail',
        'expected only keys of the format, got "result_kind"',
      ],
      [
        4,
        'partner',
        'acceptance',
        { field: 'a', op: 'eq', value: 1 },
        'expected null, got an object',
      ],
    ] as const
  ).map(([stage, kind, field, value, message]): LintRow => {
    return {
      code: 'stage_field_refused',
      what: `${field} on a stage of kind ${kind}`,
      change: putting(['stages', stage, field], value),
      pointer: `/stages/${stage}/${field}`,
      message,
      fix: KIND_REFUSED,
    };
  }),
  ...(
    [
      [0, 'sandbox', 'implementation', undefined, 'expected a text, got nothing'],
      [2, 'review', 'review_protocol_id', null, 'expected a text, got null'],
      [3, 'external', 'external_system', undefined, 'expected a text, got nothing'],
      [3, 'external', 'rule_owner', null, 'expected contract, partner, got null'],
      [3, 'contract', 'acceptance', null, 'expected an object, got null'],
      [3, 'contract', 'evidence_schema', null, 'expected an object, got null'],
    ] as const
  ).map(([stage, kind, field, value, message]): LintRow => {
    return {
      code: 'stage_field_missing',
      what: `a stage of kind ${kind} without ${field}`,
      change: putting(['stages', stage, field], value),
      pointer: `/stages/${stage}/${field}`,
      message,
      fix: KIND_NEEDED,
      // Nothing names the script any more.
      ...(field === 'implementation' && { also: ['file_unknown'] }),
    };
  }),
  ...(
    [
      ['value', [0.5], 'expected a text, a number, true, false or null, got 1 element'],
      ['op', 'matches', 'expected eq, gte, lte, in, got "matches"'],
      ['op', 'in', 'expected a list, got 0.5'],
      [
        'field',
        'a~2b',
        'expected a JSON Pointer, in which ~ is written ~0 and / is ~1, got "a~2b"',
      ],
      ['field', '', 'expected 1 to 120 characters, got ""'],
    ] as const
  ).map(([field, value, message]): LintRow => {
    const isIn = field === 'op' && value === 'in';
    return {
      code: 'acceptance_invalid',
      what: `a comparison whose ${field} is ${JSON.stringify(value)}`,
      change: putting(['stages', 3, 'acceptance', field], value),
      pointer: `/stages/3/acceptance/${isIn ? 'value' : field}`,
      message,
      fix: COMPARE,
    };
  }),
  {
    code: 'slot_unknown',
    what: 'a stage that selects a slot which is not declared',
    change: putting(['stages', 0, 'reference_input_slots'], ['rows']),
    pointer: '/stages/0/reference_input_slots/0',
    message: 'expected a slot of reference_inputs, got "rows"',
    fix: 'Declare the slot in reference_inputs, or take it out of the selection.',
  },
  {
    code: 'slots_unselected',
    what: 'a sandbox stage that does not select, where a slot is sealed',
    change: putting(['stages', 0, 'reference_input_slots'], undefined),
    pointer: '/stages/0/reference_input_slots',
    message: 'expected the slots that this stage reads, as the slot "labels" is sealed, got none',
    fix: 'Write reference_input_slots on every sandbox stage; [] where it reads none.',
  },
];

export const CONTRACT_ROWS: readonly LintRow[] = [
  ...FORM_ROWS,
  ...NAME_ROWS,
  ROLE_ROW,
  ...STAGE_ROWS,
];
