import type { DraftFolder } from './full-package.ts';
import { put, putting, type LintRow } from './lint-row.ts';
import type { Document } from './published-contract.ts';

export type ProblemFolder = DraftFolder & { problem: Document };

const PROGRAM = ['stages', 0, 'implementation'] as const;
const AT = '/stages/0/implementation';
const NAME_SCRIPT =
  'Name a script by its path from the contract, such as ./checker.py or ./checkers/structure.py; names have letters, digits, _ and -.';
const PIN =
  'A tag can point elsewhere tomorrow: write name@sha256:<digest>, as the registry or "docker inspect" tells it.';
const LIMITS = 'Choose a number in the range that docs/checkers.md gives.';

const PROGRAM_ROWS: readonly LintRow<ProblemFolder>[] = [
  ...[
    'checker.py',
    './check me.py',
    './../checker.py',
    './checker.sh',
    'python3 checker.py',
    '/checker.py',
  ].map((value): LintRow<ProblemFolder> => {
    return {
      code: 'implementation_invalid',
      what: `the program ${value}`,
      change: putting(PROGRAM, value),
      pointer: AT,
      message: `expected ./name.py, a builtin or name@sha256:<digest>, got "${value}"`,
      fix: NAME_SCRIPT,
      also: ['file_unknown'],
    };
  }),
  ...['docker.io/alice/checker:1.0', 'docker.io/alice/checker', 'checker:latest'].map(
    (value): LintRow<ProblemFolder> => {
      return {
        code: 'image_not_pinned',
        what: `the image ${value}`,
        change: putting(PROGRAM, value),
        pointer: AT,
        message: `expected an image by its digest, got "${value}"`,
        fix: PIN,
        also: ['file_unknown'],
      };
    },
  ),
  {
    code: 'builtin_unknown',
    what: 'a builtin that there is not',
    change: putting(PROGRAM, 'kervyxa-builtin/regex-check:1'),
    pointer: AT,
    message: 'expected a builtin that there is, got "regex-check:1"',
    fix: 'Name one of kervyxa-builtin/json-schema-check:1, kervyxa-builtin/sat-assignment-check:1.',
    also: ['file_unknown'],
  },
  {
    code: 'builtin_role_missing',
    what: 'a builtin without the role that it reads',
    change: ({ contract }) => {
      put(contract, PROGRAM, 'tfp-builtin/sat-assignment-check:1');
      put(contract, ['reference_inputs', 1, 'key'], 'instance');
      put(contract, ['stages', 0, 'reference_input_slots'], ['instance']);
      put(contract, ['stages', 1, 'reference_input_slots'], ['labels']);
    },
    pointer: AT,
    message: 'expected the role assignment, which sat-assignment-check:1 reads, got none',
    fix: 'Declare assignment in submission_requirements.required_artifacts.',
    also: ['file_unknown', 'slot_unmentioned'],
  },
  {
    code: 'builtin_slot_missing',
    what: 'a builtin whose stage does not select the slot that it reads',
    change: ({ contract }) => {
      put(contract, PROGRAM, 'kervyxa-builtin/json-schema-check:1');
      put(contract, ['reference_inputs', 1, 'key'], 'document_schema');
      put(contract, ['stages', 0, 'reference_input_slots'], []);
      put(contract, ['stages', 1, 'reference_input_slots'], ['labels']);
    },
    pointer: AT,
    message: 'expected the slot document_schema, which json-schema-check:1 reads, got none',
    fix: 'Declare document_schema in reference_inputs, and let the stage select it.',
    also: ['builtin_role_missing', 'file_unknown', 'slot_unmentioned'],
  },
  {
    code: 'script_missing',
    what: 'a script that is not there',
    change: putting(PROGRAM, './checkers/shape.py'),
    pointer: AT,
    message: 'expected the script checkers/shape.py beside the contract, got none',
    fix: 'Write checkers/shape.py, or name the file that is there.',
    also: ['file_unknown'],
  },
  ...(
    [
      ['an empty script', '', 'an empty one'],
      ['a script of 256 KiB and a byte', '#'.repeat(262_145), '262145 bytes'],
      ['a script that is no text', Buffer.from([0x23, 0xff]), 'bytes that are none'],
    ] as const
  ).map(([what, content, got]): LintRow<ProblemFolder> => {
    return {
      code: 'script_invalid',
      what,
      change: ({ files }) => void (files['checkers/form.py'] = content),
      pointer: AT,
      message: `expected a script of 1 to 262144 bytes of UTF-8, got ${got}`,
      fix: 'Keep the script to one small text file; data belongs into a reference input.',
    };
  }),
  ...(
    [
      ['memory_mb', 12_289, 'expected at most 12288, got 12289'],
      ['memory_mb', 63, 'expected at least 64, got 63'],
      ['vcpu', 4.5, 'expected at most 4, got 4.5'],
      ['vcpu', 0, 'expected at least 0.05, got 0'],
      ['disk_mb', 0, 'expected at least 1, got 0'],
      ['timeout_seconds', 601, 'expected at most 600, got 601'],
      ['timeout_seconds', 1.5, 'expected a whole number, got 1.5'],
    ] as const
  ).map(([limit, value, message]): LintRow<ProblemFolder> => {
    return {
      code: 'limit_out_of_range',
      what: `${limit} of ${value}`,
      change: putting(['stages', 0, 'limits'], { [limit]: value }),
      pointer: `/stages/0/limits/${limit}`,
      message,
      fix: LIMITS,
    };
  }),
  {
    code: 'limit_out_of_range',
    what: 'disk_mb of 20481',
    change: putting(['stages', 0, 'limits'], { memory_mb: 12_288, disk_mb: 20_481 }),
    pointer: '/stages/0/limits/disk_mb',
    message: 'expected at most 20480, got 20481',
    fix: LIMITS,
    also: ['disk_counts_as_memory'],
  },
  {
    code: 'disk_counts_as_memory',
    what: 'more scratch than memory',
    change: putting(['stages', 0, 'limits'], { memory_mb: 512, disk_mb: 512 }),
    pointer: '/stages/0/limits',
    message: 'expected less than memory_mb, got disk_mb 512 beside memory_mb 512',
    fix: 'What a program writes is kept in memory and counts as such: ask for as much memory as both need.',
  },
];

const LINK = {
  url: 'https://example.org/columns.csv',
  content_hash: `sha256:${'a'.repeat(64)}`,
  size_bytes: 12,
  media_type: 'text/csv',
};

const REFERENCE_ROWS: readonly LintRow<ProblemFolder>[] = [
  {
    code: 'reference_missing',
    what: 'a problem without the bytes of a required slot',
    change: ({ contract, files }) => {
      put(contract, ['reference_inputs', 1, 'required'], true);
      for (const { inputs } of contract.conformance_fixtures) {
        inputs.reference['columns'] = inputs.reference['labels'];
      }
      files['reference/columns.csv'] = null;
    },
    pointer: '/reference_inputs/1',
    message: 'expected a file for the required slot "columns" under reference/, got none',
    fix: 'Put it there under the name columns and an extension.',
  },
  {
    code: 'reference_unknown',
    what: 'a file that no slot is named after',
    change: ({ files }) => void (files['reference/rows.csv'] = 'a'),
    file: 'reference/rows.csv',
    pointer: '',
    message: 'expected the name of a slot before the first dot, got "rows"',
    fix: 'Name the file after its slot, or declare the slot in reference_inputs of verifier-contract.json.',
  },
  {
    code: 'reference_duplicated',
    what: 'two files for one slot',
    change: ({ files }) => void (files['reference/labels.v2.csv'] = 'a'),
    file: 'reference/labels.v2.csv',
    pointer: '',
    message: 'expected one file for the slot "labels", got another',
    fix: 'Keep the one that is meant.',
  },
  {
    code: 'reference_too_large',
    what: 'a file that is larger than its slot',
    change: ({ files }) => void (files['reference/columns.csv'] = 'x'.repeat(1_025)),
    file: 'reference/columns.csv',
    pointer: '',
    message: 'expected at most 1024 bytes, which the slot allows, got 1025',
    fix: 'Take a smaller file, or allow more in max_bytes.',
  },
  ...[
    'http://example.org/columns.csv',
    'https://user:word@example.org/a',
    'file:///etc/passwd',
    'columns.csv',
  ].map((url): LintRow<ProblemFolder> => {
    return {
      code: 'link_not_https',
      what: `a link to ${url}`,
      change: ({ contract, files }) => {
        put(contract, ['stages', 0, 'reference_input_slots'], []);
        put(contract, ['stages', 1, 'reference_input_slots'], ['labels']);
        files['reference/columns.link.json'] = JSON.stringify({ ...LINK, url });
      },
      file: 'reference/columns.link.json',
      pointer: '/url',
      message: `expected an https URL without a password, got "${url}"`,
      fix: 'Correct the field.',
    };
  }),
  {
    code: 'field_missing',
    what: 'a link that does not say how large its content is',
    change: ({ contract, files }) => {
      put(contract, ['stages', 0, 'reference_input_slots'], []);
      put(contract, ['stages', 1, 'reference_input_slots'], ['labels']);
      files['reference/columns.link.json'] = JSON.stringify({ ...LINK, size_bytes: undefined });
    },
    file: 'reference/columns.link.json',
    pointer: '/size_bytes',
    message: 'expected a number, got nothing',
    fix: 'Write the field; docs/checkers.md tells what it is for.',
  },
  {
    code: 'link_not_mounted',
    what: 'a link that a program reads',
    change: ({ contract, files }) => {
      put(contract, ['stages', 1, 'reference_input_slots'], ['labels']);
      files['reference/columns.link.json'] = JSON.stringify(LINK);
    },
    file: 'reference/columns.link.json',
    pointer: '',
    message:
      'expected a file, as programs read the slot (stages "form"), got a link, which they are not shown',
    fix: 'Put the bytes themselves under reference/, or select other slots in reference_input_slots of the stage.',
  },
];

const PROBLEM_ROWS: readonly LintRow<ProblemFolder>[] = [
  {
    code: 'json_invalid',
    what: 'a file with a comment in it',
    change: ({ files }) => void (files['problem.json'] = '{\n  // soon\n}'),
    file: 'problem.json',
    pointer: '',
    message: 'line 2, column 3: expected JSON, got an invalid comment token',
    fix: 'Correct the JSON at this place; comments and trailing commas are not JSON.',
  },
  {
    code: 'field_invalid',
    what: 'a slug with blanks',
    change: ({ problem }) => put(problem, ['slug'], 'my labels'),
    file: 'problem.json',
    pointer: '/slug',
    message: 'expected letters and digits, joined by single -, got "my labels"',
    fix: 'Correct the field; docs/checkers.md shows its form.',
  },
  {
    code: 'field_missing',
    what: 'a benchmark that says nothing of itself',
    change: ({ problem }) => put(problem, ['structure'], 'BENCHMARK'),
    file: 'problem.json',
    pointer: '/benchmark',
    message: 'expected a benchmark block, got nothing',
    fix: 'Write the field; docs/checkers.md tells what it is for.',
  },
  {
    code: 'statement_missing',
    what: 'a problem without a statement',
    change: ({ files }) => void (files['statement.md'] = null),
    file: 'statement.md',
    pointer: '',
    message: 'expected the task in statement.md, got no such file',
    fix: 'Write down the task, what to submit and how it is judged.',
  },
  ...(
    [
      ['a statement of nothing', ' \n'],
      ['a statement that is no text', Buffer.from([0xff])],
      ['a statement of more than 256 KiB', 'labels columns '.repeat(20_000)],
    ] as const
  ).map(([what, content]): LintRow<ProblemFolder> => {
    return {
      code: 'statement_invalid',
      what,
      change: ({ files }) => void (files['statement.md'] = content),
      file: 'statement.md',
      pointer: '',
      message: 'expected 1 to 262144 bytes of UTF-8 text, got something else',
      fix: 'Keep the statement to the task; what is long belongs into a reference input or a skill.',
    };
  }),
  {
    code: 'slot_unmentioned',
    what: 'a slot that the statement never names',
    change: ({ files }) => void (files['statement.md'] = 'Predict the labels, columnswise.'),
    file: 'statement.md',
    pointer: '',
    message: 'expected the slot "columns" to be mentioned, got no word of it',
    fix: 'Say by its key what the reference input is for.',
  },
  {
    code: 'contract_ambiguous',
    what: 'a contract beside a published one',
    change: ({ problem }) => put(problem, ['verifier_contract'], 'vct_01jf90aa4rrc'),
    file: 'problem.json',
    pointer: '/verifier_contract',
    message: 'expected one contract, got vct_01jf90aa4rrc and verifier-contract.json',
    fix: 'Remove the one that is not meant.',
  },
  {
    code: 'sealing_missing',
    what: 'a sealed slot without an end',
    change: ({ problem }) => put(problem, ['sealing'], undefined),
    file: 'problem.json',
    pointer: '/sealing',
    message: 'expected sealing, as the slot "labels" is sealed, got none',
    fix: 'Write sealing with sealed_until and submission_limit.',
  },
  {
    code: 'sealing_unused',
    what: 'an end where nothing is sealed',
    change: ({ contract }) => put(contract, ['reference_inputs', 0, 'sealed'], false),
    file: 'problem.json',
    pointer: '/sealing',
    message: 'expected a sealed slot, which sealing is about, got none',
    fix: 'Mark the slot with "sealed": true in verifier-contract.json, or remove sealing.',
  },
  {
    code: 'protocol_missing',
    what: 'a review without its protocol',
    change: ({ files }) => void (files['review-protocol.json'] = null),
    pointer: '/stages/2/review_protocol_id',
    message: 'expected review-protocol.json beside the contract, got none',
    fix: 'Write it, or name a published protocol by its id.',
  },
  {
    code: 'field_missing',
    what: 'a review protocol without a question',
    change: ({ protocol }) => put(protocol, ['instructions_md'], undefined),
    file: 'review-protocol.json',
    pointer: '/instructions_md',
    message: 'expected a text, got nothing',
    fix: 'Write the field; docs/checkers.md tells what it is for.',
  },
  {
    code: 'skill_missing',
    what: 'a skill that a protocol names and that is not there',
    change: ({ files }) => void (files['skills/reading/SKILL.md'] = null),
    file: 'review-protocol.json',
    pointer: '/nodes/0/skills/0/skill_version_id',
    message: 'expected skills/reading/SKILL.md in the folder, got no such file',
    fix: 'Add the skill, or name one that is there.',
  },
  {
    code: 'skill_missing',
    what: 'a folder of skills/ that holds none',
    change: ({ files }) => void (files['skills/method/notes.md'] = 'Notes.'),
    file: 'skills/method/SKILL.md',
    pointer: '',
    message: 'expected SKILL.md in the folder of a skill, got none',
    fix: 'Write it, or remove the folder.',
  },
];

const FILE_ROWS: readonly LintRow<ProblemFolder>[] = [
  ...[
    'README.md',
    'helpers.py',
    'reference/more/labels.csv',
    'campaign/first.md',
    'skills/loose.md',
  ].map((file): LintRow<ProblemFolder> => {
    return {
      code: 'file_unknown',
      what: `the file ${file}`,
      change: ({ files }) => void (files[file] = 'x'),
      file,
      pointer: '',
      message: 'expected only files of the format, got another',
      fix: 'Remove it, or put it under skills/ or fixtures/ if it belongs there; a stage names its script.',
    };
  }),
  ...['context.md', 'changelog.md'].map((file): LintRow<ProblemFolder> => {
    return {
      code: 'file_unpublished',
      what: `the file ${file}`,
      change: ({ files }) => void (files[file] = 'x'),
      file,
      pointer: '',
      message: 'expected no background and no history in files of their own, got such a file',
      fix: 'Put background into a reference input or a skill; what changed is told by versions.',
    };
  }),
];

export const FOLDER_ROWS: readonly LintRow<ProblemFolder>[] = [
  ...PROGRAM_ROWS,
  ...REFERENCE_ROWS,
  ...PROBLEM_ROWS,
  ...FILE_ROWS,
];
