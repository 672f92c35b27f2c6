import { toPrintable } from '@kervyxa/core';

import type { Draft } from './draft.ts';
import type { BaseFacts } from './facts.ts';
import { FINDING_TABLE, findingOf, isFindingCode, TREE_RULES } from './finding-table.ts';
import type { Finding } from './finding.ts';

/** Writes the requester's reason into each finding that may be answered and is. */
export function settle(findings: readonly Finding[], { acknowledgements }: Draft): Finding[] {
  return findings.map((finding) => {
    if (finding.severity !== 'acknowledge') return finding;
    const answer = acknowledgements.find(
      ({ code, reason }) => code === finding.code && saysSomething(reason),
    );
    return answer === undefined ? finding : { ...finding, acknowledgement: answer.reason };
  });
}

/**
 * ACKNOWLEDGEMENT_UNKNOWN, ACKNOWLEDGEMENT_UNUSED: an answer is part of the hash, so each must answer something. One
 * for a code that needs the base tree is left alone where the tree is not known.
 */
export function lintAcknowledgements(
  findings: readonly Finding[],
  { acknowledgements }: Draft,
  facts: BaseFacts | null,
): Finding[] {
  return acknowledgements.flatMap(({ code, reason, pointer }) => {
    const name = toPrintable(code, 100);
    if (!isFindingCode(code) || FINDING_TABLE[code].severity !== 'acknowledge') {
      return [
        findingOf('ACKNOWLEDGEMENT_UNKNOWN', `${pointer}/code`, {
          message: `expected the code of a finding that may be acknowledged, got "${name}"`,
          fix: 'Remove the entry; a finding that refuses can only be put right.',
        }),
      ];
    }
    if (!saysSomething(reason)) {
      return [
        findingOf('SCHEMA_INVALID', `${pointer}/reason`, {
          message: `expected a reason for ${name}, got none`,
          fix: 'Say why the contract holds all the same: solvers and arbiters read it.',
        }),
      ];
    }
    const isFound = findings.some((finding) => finding.code === code);
    if (isFound || (facts === null && TREE_RULES.includes(code))) return [];
    return [
      findingOf('ACKNOWLEDGEMENT_UNUSED', pointer, {
        message: `expected a finding ${name} to answer, got none`,
        fix: 'Remove the entry.',
      }),
    ];
  });
}

/** Dots, blanks and characters that nobody sees are no reason. */
function saysSomething(reason: string): boolean {
  return /[\p{L}\p{N}]/u.test(reason.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, ''));
}
