import type { Contract } from '@kervyxa/contract';
import { toPrintable } from '@kervyxa/core';
import type { VerificationResult } from '@kervyxa/verifier';
import type { Screen } from '../host.ts';
import { toCriteriaTable } from './criteria-table.ts';
import { count, cut, paragraph } from './text.ts';

const FILES_SHOWN = 10;

const VERDICT_PAINTS = {
  PASS: 'green',
  FAIL: 'red',
  INCONCLUSIVE: 'yellow',
  ERROR: 'red',
} as const satisfies Record<VerificationResult['verdict'], string>;

/** The result for a person: the verdict and its reasons, what it is about, then every criterion. */
export function toResultText(
  result: VerificationResult,
  contract: Pick<Contract, 'criteria'>,
  screen: Screen,
): string {
  return [
    toHeadline(result, screen),
    toReasons(result, screen),
    toCriteriaTable(result.criteria, contract, screen),
    toChangedFiles(result, screen),
    toIdentity(result),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function toHeadline({ verdict, criteria }: VerificationResult, { colors }: Screen): string {
  const passed = criteria.filter(({ status }) => status === 'pass').length;
  const painted = colors.bold(colors[VERDICT_PAINTS[verdict]](verdict));
  return `${painted}  ${passed} of ${count(criteria.length, 'criterion', 'criteria')} passed`;
}

function toReasons({ reasons }: VerificationResult, { colors, columns }: Screen): string {
  return reasons
    .map(({ code, subject, message }) => {
      const about =
        subject === null ? '' : `  ${cut(toPrintable(subject), columns - code.length - 2)}`;
      return `${colors.bold(code)}${about}\n${paragraph(message, columns, '  ')}`;
    })
    .join('\n');
}

function toChangedFiles({ changedFiles }: VerificationResult, { columns, colors }: Screen): string {
  if (changedFiles.length === 0) return '';
  const lines = changedFiles.slice(0, FILES_SHOWN).map(({ path, status }) => {
    const word = `  ${status.replace('_', ' ').padEnd(12)}  `;
    return word + cut(toPrintable(path), columns - word.length);
  });
  const rest = changedFiles.length - lines.length;
  if (rest > 0) lines.push(`  and ${rest} more (--json lists all)`);
  return [colors.bold(count(changedFiles.length, 'changed file')), ...lines].join('\n');
}

/** Never cut: digests are what a person copies. The longest line is 80 columns. */
function toIdentity({ contractDigest, commit, tree, imageDigest }: VerificationResult): string {
  return [
    `commit   ${toPrintable(commit)}`,
    ...(tree === null ? [] : [`tree     ${toPrintable(tree)}`]),
    `contract ${toPrintable(contractDigest)}`,
    ...(imageDigest === null ? [] : [`image    ${toPrintable(imageDigest)}`]),
  ].join('\n');
}
