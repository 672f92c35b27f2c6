import { put, putting, type LintRow } from './lint-row.ts';

const RIGHT = ['conformance_fixtures', 0] as const;
const ARTIFACT = '/conformance_fixtures/0/inputs/artifacts/0';

const SCORE_ROWS: readonly LintRow[] = [
  {
    code: 'score_missing',
    what: 'a score contract without a scale',
    change: putting(['score'], null),
    pointer: '/score',
    message: 'expected the scale of a score contract, got none',
    fix: 'Write score with unit, direction and description.',
  },
  {
    code: 'score_refused',
    what: 'a pass_fail contract with a scale',
    change: ({ contract }) => {
      put(contract, ['result_kind'], 'pass_fail');
      put(contract, ['conformance_fixtures', 3, 'expected_score'], null);
    },
    pointer: '/score',
    message: 'expected null in a pass_fail contract, got a scale',
    fix: 'Take score out, or make it null: a pass_fail contract measures nothing.',
  },
  {
    code: 'score_stage_refused',
    what: 'a stage that gives a score in a pass_fail contract',
    change: ({ contract }) => {
      put(contract, ['result_kind'], 'pass_fail');
      put(contract, ['score'], null);
      put(contract, ['stages', 1, 'result_kind'], 'score');
    },
    pointer: '/stages/1/result_kind',
    message: 'expected pass_fail, as the contract is, got score',
    fix: 'Make the contract a score contract, or the stage a pass_fail one.',
  },
  {
    code: 'score_stage_missing',
    what: 'a score contract of which no stage measures',
    change: ({ contract }) => {
      put(contract, ['stages', 1, 'result_kind'], 'pass_fail');
      put(contract, ['conformance_fixtures', 3, 'expected_score'], null);
    },
    pointer: '/stages',
    message: 'expected a sandbox stage that gives the score, got none',
    fix: 'Leave result_kind out of a sandbox stage, or make it score: only programs measure.',
  },
  {
    code: 'expected_score_missing',
    what: 'a verified fixture of a score stage without its number',
    change: putting(['conformance_fixtures', 3, 'expected_score'], undefined),
    pointer: '/conformance_fixtures/3/expected_score',
    message: 'expected the number that a conforming program gives, got none',
    fix: 'Write the score that this fixture has.',
  },
  {
    code: 'expected_score_refused',
    what: 'a refuted fixture with a number',
    change: putting(['conformance_fixtures', 4, 'expected_score'], 0),
    pointer: '/conformance_fixtures/4/expected_score',
    message: 'expected null: only a verified fixture of a score stage has a score, got a number',
    fix: 'Make it null.',
  },
  {
    code: 'expected_score_refused',
    what: 'a number for a stage that passes or fails',
    change: putting([...RIGHT, 'expected_score'], 1),
    pointer: '/conformance_fixtures/0/expected_score',
    message: 'expected null: only a verified fixture of a score stage has a score, got a number',
    fix: 'Make it null.',
  },
];

const ANSWER_ROWS: readonly LintRow[] = [
  {
    code: 'answer_format_refused',
    what: 'a form of the answer where no text is accepted',
    change: putting(['submission_requirements', 'answer_format_md'], 'One number.'),
    pointer: '/submission_requirements/answer_format_md',
    message: 'expected null, as no text is accepted, got a format',
    fix: 'Make it null, or accept text.',
  },
  {
    code: 'answer_format_missing',
    what: 'text in whatever form',
    change: putting(['submission_requirements', 'accepts_text_only'], true),
    pointer: '/submission_requirements/answer_format_md',
    message: 'expected the form that an answer in words must have, got none',
    fix: 'Say how the answer must be written, precisely enough that a program can read it.',
  },
  {
    code: 'summary_text_refused',
    what: 'a fixture with a text where none is accepted',
    change: putting([...RIGHT, 'inputs', 'summary_text'], '42'),
    pointer: '/conformance_fixtures/0/inputs/summary_text',
    message: 'expected null, as no text is accepted, got a text',
    fix: 'Make it null, or accept text.',
  },
];

const REFERENCE_ROWS: readonly LintRow[] = [
  {
    code: 'fixture_stage_unknown',
    what: 'a fixture of a stage that there is not',
    change: putting(['conformance_fixtures', 2, 'stage_key'], 'shape'),
    pointer: '/conformance_fixtures/2/stage_key',
    message: 'expected the key of a stage, got "shape"',
    fix: 'Name the sandbox stage that this fixture tries.',
    also: ['fixture_inconclusive_missing'],
  },
  ...(
    [
      ['review', 'reading'],
      ['external', 'measured'],
    ] as const
  ).map(([kind, key]): LintRow => {
    return {
      code: 'fixture_stage_refused',
      what: `a fixture of a stage of kind ${kind}`,
      change: putting(['conformance_fixtures', 2, 'stage_key'], key),
      pointer: '/conformance_fixtures/2/stage_key',
      message: `expected the key of a sandbox stage, got one of kind ${kind}`,
      fix: 'Only programs reproduce fixtures: name a sandbox stage, or remove the fixture.',
      also: ['fixture_inconclusive_missing'],
    };
  }),
  {
    code: 'fixture_slot_unbound',
    what: 'a fixture without a required slot',
    change: putting([...RIGHT, 'inputs', 'reference'], {}),
    pointer: '/conformance_fixtures/0/inputs/reference',
    message: 'expected a file for the required slot "labels", got none',
    fix: 'Bind every required slot, also where the program does not read it; a file under reference/ will do.',
  },
  {
    code: 'slot_unknown',
    what: 'a fixture that binds a slot which is not declared',
    change: ({ contract }) => {
      const { reference } = contract.conformance_fixtures[0]?.inputs ?? {};
      put(reference, ['rows'], reference?.['labels']);
    },
    pointer: '/conformance_fixtures/0/inputs/reference/rows',
    message: 'expected a slot of reference_inputs, got "rows"',
    fix: 'Declare the slot in reference_inputs, or take it out of the fixture.',
  },
  {
    code: 'role_unknown',
    what: 'a fixture with a file in a role that is not declared',
    change: ({ contract }) =>
      put(contract, ['conformance_fixtures', 2, 'inputs', 'artifacts', 0, 'role'], 'rows'),
    pointer: '/conformance_fixtures/2/inputs/artifacts/0/role',
    message: 'expected a role of required_artifacts, got "rows"',
    fix: 'Declare the role in submission_requirements.required_artifacts, or name one that is there.',
  },
  {
    code: 'key_duplicated',
    what: 'a fixture with two files in one role',
    change: ({ contract }) => {
      const { artifacts = [] } = contract.conformance_fixtures[2]?.inputs ?? {};
      artifacts.push({ ...artifacts[0] });
    },
    pointer: '/conformance_fixtures/2/inputs/artifacts/1/role',
    message: 'expected every role once, got "predictions" again',
    fix: 'Give one file for each role.',
  },
  {
    code: 'fixture_unmet',
    what: 'a verified fixture without the file that is required',
    change: putting([...RIGHT, 'inputs', 'artifacts'], []),
    pointer: '/conformance_fixtures/0/inputs',
    message: 'expected artifacts in the roles predictions, got none in predictions',
    fix: 'Give what submission_requirements ask for: without it nothing is run, and nothing is verified.',
  },
];

const FILE_ROWS: readonly LintRow[] = [
  {
    code: 'fixture_file_missing',
    what: 'a fixture whose file is not there',
    change: putting([...RIGHT, 'inputs', 'artifacts', 0, 'filename'], 'elsewhere.csv'),
    pointer: `${ARTIFACT}/filename`,
    message: 'expected elsewhere.csv under fixtures/ or reference/, got no such file',
    fix: 'Add the file, or name one that is there.',
  },
  {
    code: 'fixture_file_missing',
    what: 'a fixture that leads out of its folder',
    change: putting([...RIGHT, 'inputs', 'artifacts', 0, 'filename'], '../checker.py'),
    pointer: `${ARTIFACT}/filename`,
    message: 'expected ../checker.py under fixtures/ or reference/, got no such file',
    fix: 'Add the file, or name one that is there.',
  },
  {
    code: 'fixture_hash_wrong',
    what: 'a hash that the file has not',
    change: putting(
      [...RIGHT, 'inputs', 'artifacts', 0, 'content_hash'],
      `sha256:${'0'.repeat(64)}`,
    ),
    pointer: `${ARTIFACT}/content_hash`,
    // printf '1,cat\n' | sha256sum
    message: `expected sha256:d6c0faab24609a210a9c960642ce0ede82b2221cc2e30025ff7467b6391054d9, which right.csv has, got sha256:${'0'.repeat(64)}`,
    fix: 'Run "kervyxa checker lint DIR --fix", which writes hashes and sizes.',
  },
  {
    code: 'fixture_hash_wrong',
    what: 'neither hash nor size: one finding says it',
    change: ({ contract }) => {
      put(contract, [...RIGHT, 'inputs', 'artifacts', 0, 'content_hash'], undefined);
      put(contract, [...RIGHT, 'inputs', 'artifacts', 0, 'size_bytes'], undefined);
    },
    pointer: `${ARTIFACT}/content_hash`,
    message:
      'expected sha256:d6c0faab24609a210a9c960642ce0ede82b2221cc2e30025ff7467b6391054d9, which right.csv has, got none',
    fix: 'Run "kervyxa checker lint DIR --fix", which writes hashes and sizes.',
  },
  {
    code: 'fixture_size_wrong',
    what: 'a size that the file has not',
    change: putting([...RIGHT, 'inputs', 'artifacts', 0, 'size_bytes'], 7),
    pointer: `${ARTIFACT}/size_bytes`,
    message: 'expected 6, the bytes of right.csv, got 7',
    fix: 'Run "kervyxa checker lint DIR --fix", which writes hashes and sizes.',
  },
  {
    code: 'fixture_size_wrong',
    what: 'a size that nobody has written yet',
    change: putting([...RIGHT, 'inputs', 'artifacts', 0, 'size_bytes'], undefined),
    pointer: `${ARTIFACT}/size_bytes`,
    message: 'expected 6, the bytes of right.csv, got none',
    fix: 'Run "kervyxa checker lint DIR --fix", which writes hashes and sizes.',
  },
  {
    code: 'fixture_file_too_large',
    what: 'a file that no problem could bind',
    change: ({ contract, files }) => {
      put(contract, ['reference_inputs', 1, 'max_bytes'], 5);
      const columns = { ...contract.conformance_fixtures[0]?.inputs.artifacts[0], role: undefined };
      files['fixtures/columns.csv'] = '1,cat\n';
      const file = JSON.parse(JSON.stringify({ ...columns, filename: 'columns.csv' }));
      put(contract, ['conformance_fixtures', 0, 'inputs', 'reference', 'columns'], file);
    },
    pointer: '/conformance_fixtures/0/inputs/reference/columns',
    message: 'expected at most 5 bytes, which the slot allows, got 6',
    fix: 'Take a smaller file, or allow more in max_bytes.',
  },
  {
    code: 'fixture_unsealed',
    what: 'a fixture with the labels that are sealed, under another name',
    change: ({ contract, files }) => {
      files['fixtures/copied.csv'] = files['reference/labels.csv'] ?? '';
      put(contract, [...RIGHT, 'inputs', 'artifacts', 0, 'filename'], 'copied.csv');
    },
    pointer: `${ARTIFACT}/filename`,
    message: 'expected bytes made up for the purpose, got those of a sealed slot in copied.csv',
    fix: 'Invent others and put them under fixtures/: fixtures and their hashes are published.',
    also: ['fixture_hash_wrong', 'fixture_size_wrong'],
  },
  {
    code: 'fixture_link_refused',
    what: 'a fixture that names a link',
    change: ({ contract, files }) => {
      files['reference/columns.link.json'] = files['fixtures/right.csv'] ?? '';
      put(contract, [...RIGHT, 'inputs', 'artifacts', 0, 'filename'], 'columns.link.json');
    },
    pointer: `${ARTIFACT}/filename`,
    message: 'expected a file, got the link columns.link.json',
    fix: 'Put the bytes themselves under fixtures/.',
    also: ['json_invalid', 'link_not_mounted'],
  },
  ...(
    [
      [
        'verified',
        0,
        'Add one to conformance_fixtures: what answers to the statement, made up for the purpose.',
      ],
      ['refuted', 1, 'Add one to conformance_fixtures: a plausible answer that is wrong.'],
      [
        'inconclusive',
        2,
        'Add one, where the program can tell what it can not read from what is wrong.',
      ],
    ] as const
  ).map(([result, at, fix]): LintRow => {
    return {
      code: `fixture_${result}_missing`,
      what: `a stage without a fixture that is ${result}`,
      change: ({ contract }) => void contract.conformance_fixtures.splice(at, 1),
      pointer: '/stages/0',
      message: `expected a fixture of this stage that should be ${result}, got none`,
      fix,
    };
  }),
];

export const FIXTURE_ROWS: readonly LintRow[] = [
  ...SCORE_ROWS,
  ...ANSWER_ROWS,
  ...REFERENCE_ROWS,
  ...FILE_ROWS,
];
