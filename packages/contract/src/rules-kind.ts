import { isAppError, toPrintable } from '@kervyxa/core';

import type { Draft, DraftCriterion } from './draft.ts';
import type { BaseFacts } from './facts.ts';
import { findingOf } from './finding-table.ts';
import type { Finding } from './finding.ts';
import { compileLinearRegex } from './linear-regex.ts';
import { comparesBytes, outputsOf } from './shell-files.ts';
import { shellCalls } from './shell-walk.ts';
import type { LiteralWord } from './shell-words.ts';

/** Whether a criterion only looks if a file is there, in whatever clothes: as `test -f`, or as the pattern `.*`. */
function isExistence({ type, op, value, judging }: DraftCriterion): boolean {
  if (type === 'file_assertion') {
    return op === 'exists' || op === 'absent' || (op === 'matches' && matchesAnything(value));
  }
  if (type !== 'exit_code' || judging === null) return false;
  const calls = shellCalls(judging.text);
  return calls.length > 0 && calls.every(({ words }) => asksForPresence(words));
}

const LISTING = new Set(['ls', 'stat', 'file', 'cat', 'head', 'tail', 'wc']);
const PRESENCE = /^-[defhLrswx]$/;

function asksForPresence(words: readonly LiteralWord[]): boolean {
  const [program, ...args] = words;
  if (LISTING.has(program ?? '')) return true;
  if (program !== 'test' && program !== '[') return false;
  const operands = args.filter((word) => word !== ']' && word !== '!');
  return operands.length === 2 && PRESENCE.test(operands[0] ?? '');
}

// Nothing but the pattern of anything is found in all of these.
const UNLIKE_TEXTS = ['x', '7', '#', ' ', '\u00e9'];

function matchesAnything(pattern: string | null): boolean {
  if (pattern === null) return false;
  try {
    const regex = compileLinearRegex(pattern);
    return UNLIKE_TEXTS.every((text) => regex.test(text));
  } catch (error) {
    // REGEX_REFUSED tells about it.
    if (isAppError(error)) return false;
    throw error;
  }
}

/** EXISTS_ONLY: an empty file would pass. Regression criteria pass at base, so they don't count as acceptance. */
export function lintExistsOnly({ criteria }: Draft): Finding[] {
  const acceptance = criteria.filter(({ type }) => type !== 'regression');
  if (acceptance.length === 0 || !acceptance.every(isExistence)) return [];
  return [
    findingOf('EXISTS_ONLY', '/criteria', {
      message:
        'expected a criterion about what is in the file or what it does, got only exists and absent',
      fix: 'Add an exit_code criterion that runs it, or assert contains, matches, equals or sha256.',
    }),
  ];
}

const PROTECTS_BEHAVIOUR = new Set(['regression', 'judge_probe', 'checker']);

/** NO_REGRESSION_CRITERION. The repository's own tests don't count: what they check, the solver can read. */
export function lintRegression({ criteria }: Draft): Finding[] {
  if (criteria.length === 0 || criteria.some(({ type }) => PROTECTS_BEHAVIOUR.has(type ?? ''))) {
    return [];
  }
  return [
    findingOf('NO_REGRESSION_CRITERION', '/criteria', {
      message: 'expected a criterion that protects what works today, got none',
      fix: 'Add a regression, judge_probe or checker criterion with a hidden package.',
    }),
  ];
}

/** NO_REFERENCE_OUTPUT: without a byte-exact target, any output could claim to be right. */
export function lintReferenceOutput(draft: Draft): Finding[] {
  const { kind, criteria } = draft;
  if (kind !== 'data_transform' && kind !== 'document_extraction') return [];
  const hasReference = criteria.some(
    ({ type, op, path, judging }) =>
      type === 'judge_probe' ||
      type === 'checker' ||
      // Of a protected file it says that an input is intact, not what comes out.
      (type === 'file_assertion' &&
        (op === 'sha256' || op === 'equals') &&
        (path === null || draft.isEditable(path))) ||
      (type === 'exit_code' && judging !== null && comparesBytes(judging.text)),
  );
  if (hasReference) return [];
  return [
    findingOf('NO_REFERENCE_OUTPUT', '/criteria', {
      message: `expected an output pinned to the byte, as kind is ${kind}, got none`,
      fix: 'Assert sha256 or equals on the output, or compare it in the command (sha256sum -c, cmp, diff).',
    }),
  ];
}

/** NO_HELD_OUT_SET: what is visible can be looked up in a table. */
export function lintHeldOutSet({ kind, criteria }: Draft): Finding[] {
  if (kind !== 'document_extraction' && kind !== 'model_evaluation') return [];
  const scores =
    kind === 'model_evaluation'
      ? ['benchmark', 'judge_probe', 'checker']
      : ['benchmark', 'judge_probe', 'checker', 'regression', 'exit_code'];
  // Hidden is only what lies in the package: a hidden `npm test` tries what everybody can read.
  const isHeldOut = ({ type, visibility, commands }: DraftCriterion) =>
    visibility === 'hidden' &&
    scores.includes(type ?? '') &&
    (commands.length === 0 ||
      commands.some(({ text }) => /KERVYXA_(?:VERIFIER_PACKAGE|PROBE)\b/.test(text)));
  if (criteria.some(isHeldOut)) return [];
  return [
    findingOf('NO_HELD_OUT_SET', '/criteria', {
      message: `expected a hidden criterion of type ${scores.join(', ')}, as kind is ${kind}, got none`,
      fix: 'Put a held-out set into the hidden package, and score it in a hidden criterion whose command names $KERVYXA_VERIFIER_PACKAGE.',
    }),
  ];
}

/** GENERATED_FILE_IN_SEPARATE_CHECK: every criterion starts from a fresh workspace. */
export function lintGeneratedFiles(draft: Draft, facts: BaseFacts | null): Finding[] {
  const fromSetup = draft.setup.flatMap(({ text }) => [...outputsOf(text, draft.kind)]);
  return draft.criteria.flatMap((criterion) => {
    const { type, path, judging, op, pointer } = criterion;
    if (type !== 'file_assertion' || path === null || op === 'absent') return [];
    // What is protected lies in the base.
    if (!draft.isEditable(path) || fromSetup.includes(path)) return [];
    if (facts?.paths.includes(path) === true) return [];
    if (judging !== null && outputsOf(judging.text, draft.kind).has(path)) return [];
    const maker = draft.criteria.find(
      (other) =>
        other !== criterion &&
        other.judging !== null &&
        outputsOf(other.judging.text, draft.kind).has(path),
    );
    if (maker === undefined) return [];
    return [
      findingOf('GENERATED_FILE_IN_SEPARATE_CHECK', `${pointer}/path`, {
        message: `expected a file that this criterion's own command makes, got "${toPrintable(path, 100)}", which only "${toPrintable(maker.id ?? maker.pointer, 100)}" makes`,
        fix: 'Give this criterion the command that generates the file, in place of true.',
      }),
    ];
  });
}
