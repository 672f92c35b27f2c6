import type { Finding, Severity } from './finding.ts';

interface FindingTraits {
  readonly severity: Severity;
  /** One sentence for the table in the README. */
  readonly meaning: string;
}

const refuse = (meaning: string): FindingTraits => ({ severity: 'refuse', meaning });
const acknowledge = (meaning: string): FindingTraits => ({ severity: 'acknowledge', meaning });
const advise = (meaning: string): FindingTraits => ({ severity: 'advise', meaning });

const TABLE = {
  SCHEMA_INVALID: refuse('The document has an unknown, missing or malformed field.'),
  BASE_COMMIT_NOT_PINNED: refuse('The base commit is not a full 40-digit SHA in lower case.'),
  IMAGE_NOT_PINNED: refuse('The image is neither a runtime of the catalogue nor name@sha256:….'),
  REPOSITORY_URL_REFUSED: refuse('The repository is not a plain public https URL.'),
  LIMIT_OUT_OF_RANGE: refuse('A limit is outside its documented range.'),
  PATH_PATTERN_INVALID: refuse('A path pattern is not one that the matcher knows.'),
  LANGUAGE_UNKNOWN: refuse('An allowed language is not in the Linguist table.'),
  REGEX_REFUSED: refuse('A pattern to match is not RE2 within its limits.'),
  DUPLICATE_CRITERION_ID: refuse('Two criteria have the same id.'),
  THRESHOLD_NOT_FINITE: refuse('A threshold is not a finite number.'),
  TIME_UNIT_BENCHMARK: refuse('A benchmark measures time, a rate in time or a share of it.'),
  UNIT_UNREADABLE: refuse('A unit or metric name has letters of a script that is not read here.'),
  METRIC_INCOMPLETE: refuse('The kind needs a metric, a data set and a threshold, all pinned.'),
  EXISTS_ONLY: refuse('Every acceptance criterion only looks whether a file is there.'),
  NO_REGRESSION_CRITERION: refuse('Nothing protects what the code does today.'),
  NO_CHANGED_FILE_LIMIT: refuse('Any number of unrelated changes may ride along.'),
  NO_REFERENCE_OUTPUT: refuse('The kind needs a pinned, byte-exact target.'),
  NO_HELD_OUT_SET: refuse('The kind needs a hidden set, or the visible one can be hard-coded.'),
  OPEN_ENDED_OBJECTIVE: refuse('The objective is open-ended or names nothing that can be checked.'),
  FLOATING_TARGET: refuse('The target moves: "latest", a range, or no exact version.'),
  COMMAND_SYNTAX: refuse('A command is not valid for the POSIX shell that runs it.'),
  VACUOUS_COMMAND: refuse(
    'A command that judges has always the same exit status, a bound the same answer, or a checker nothing to look at that may change.',
  ),
  EXIT_CODE_MASKED: refuse('The exit status of what a command runs never gets out.'),
  NETWORK_REQUIRED: refuse('A step needs a network, and there is none.'),
  GENERATED_FILE_IN_SEPARATE_CHECK: refuse(
    'A file is asserted that only the command of another criterion makes.',
  ),
  INPUT_NOT_PROTECTED: refuse('The solver may edit an input or reference file.'),
  HARNESS_NOT_PROTECTED: refuse('The solver may edit the script that judges or measures.'),
  CONFIG_NOT_PROTECTED: acknowledge(
    'The solver may edit or add configuration of a tool that judges.',
  ),
  CONTRACT_BROKEN: refuse(
    'The base tree can not be judged: Git LFS pointers, names that no workspace can hold, or a command that is not found, runs out of memory or exceeds its time there; or a judge breaks on what is no answer.',
  ),
  ANSWER_NOT_PINNED: refuse('Work is counted without pinning what the command must print.'),
  COUNTED_COMMAND_UNFIT: refuse(
    'The command of a counted source is not one plain program that its harness can run.',
  ),
  NOT_IN_CONTAINER: refuse(
    'A command names a place that is empty in its container, or a judge a file of the repository.',
  ),
  ACKNOWLEDGEMENT_UNKNOWN: refuse('An acknowledgement names no finding that may be acknowledged.'),
  ACKNOWLEDGEMENT_UNUSED: refuse('An acknowledgement answers a finding that is not there.'),
  PROTECTED_PATH_MATCHES_NOTHING: acknowledge('A protected path or input is not in the base tree.'),
  PROTECTED_LINK_OPEN: acknowledge(
    'A protected path is a link, or lies behind one, to what the solver may edit.',
  ),
  CLOCK_IN_HARNESS: acknowledge('The measuring script or command reads a clock.'),
  TEST_COUNT_UNGUARDED: acknowledge(
    'A test run judges, and the solver may take tests away or have none.',
  ),
  NPX_NOT_LOCAL: advise('npx runs a package that may not be in the repository.'),
  SAME_CONTAINER_SECRET: advise(
    'The code under test may be able to read hidden answers; judge_probe keeps them apart.',
  ),
  COMPLETION_UNPROVED: advise(
    'A printed metric counts without a token that shows that the harness came to its end.',
  ),
  CHECKER_UNFIT: refuse(
    'A checker criterion and its package do not fit: no such sandbox stage, or other files than it asks for.',
  ),
  CHECKER_NOT_CONFORMANT: refuse(
    'A checker package does not give the results of its own conformance fixtures.',
  ),
  PROOF_MISSING: refuse(
    'No known-good commit is named in proof, or no known-bad one that a criterion refuses.',
  ),
  PROOF_NOT_REPRODUCED: refuse('A commit of proof did not get the verdict that it names.'),
  BASE_ALREADY_PASSES: refuse(
    'Every criterion passes at the base commit: there is nothing to earn.',
  ),
  BASE_FAILS_REGRESSION: refuse('A regression criterion fails at the base commit.'),
  UNSTABLE_CRITERION: refuse('A criterion does not answer the same in every replay.'),
  METRIC_UNSTABLE: refuse('A metric moves by more than its tolerance from replay to replay.'),
  CHEAT_PASSES: refuse('A commit that does not solve the task passes.'),
} as const satisfies Record<string, FindingTraits>;

export type FindingCode = keyof typeof TABLE;

/** Every code that lint can answer, with its severity; the README prints it. */
export const FINDING_TABLE: Readonly<Record<FindingCode, FindingTraits>> = Object.freeze(TABLE);

export const FINDING_CODES = Object.freeze(Object.keys(TABLE)) as readonly FindingCode[]; // keys of the literal above

export function isFindingCode(text: string): text is FindingCode {
  return Object.hasOwn(TABLE, text);
}

/** Codes that the document and its base tree do not show: packages do, or execution. `lintContract` never answers them. */
export const PROVING_RULES: readonly FindingCode[] = [
  'CHECKER_UNFIT',
  'CHECKER_NOT_CONFORMANT',
  'PROOF_MISSING',
  'PROOF_NOT_REPRODUCED',
  'BASE_ALREADY_PASSES',
  'BASE_FAILS_REGRESSION',
  'UNSTABLE_CRITERION',
  'METRIC_UNSTABLE',
  'CHEAT_PASSES',
];

/** Codes that are not, or not fully, checked without the facts of the base tree. */
export const TREE_RULES: readonly FindingCode[] = [
  'VACUOUS_COMMAND',
  'EXIT_CODE_MASKED',
  'NETWORK_REQUIRED',
  'INPUT_NOT_PROTECTED',
  'HARNESS_NOT_PROTECTED',
  'CONFIG_NOT_PROTECTED',
  'CONTRACT_BROKEN',
  'PROTECTED_PATH_MATCHES_NOTHING',
  'PROTECTED_LINK_OPEN',
  'CLOCK_IN_HARNESS',
  'TEST_COUNT_UNGUARDED',
  'NPX_NOT_LOCAL',
  'NOT_IN_CONTAINER',
];

/** A finding with the severity of its code. Text from outside in `message` must already be printable. */
export function findingOf(
  code: FindingCode,
  pointer: string,
  text: { readonly message: string; readonly fix: string; readonly evidence?: string },
): Finding {
  const { severity } = FINDING_TABLE[code];
  return { code, severity, pointer, ...text, acknowledgement: null };
}
