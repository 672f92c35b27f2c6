import { isOpen, type Finding } from '@kervyxa/contract';
import { toPrintable } from '@kervyxa/core';
import type { Screen } from '../host.ts';
import { paragraph } from './text.ts';

/** A finding with its place in the file, both counted from 1. */
export interface LocatedFinding extends Finding {
  readonly line: number;
  readonly column: number;
}

const PAINTS = { refuse: 'red', acknowledge: 'yellow', advise: 'cyan' } as const;

/** One block a finding, in the order of the file; the first line is one that editors and terminals link. */
export function toFindingsText(
  findings: readonly LocatedFinding[],
  fileName: string,
  { colors, columns }: Screen,
): string {
  return findings
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
    .map((finding) => {
      const { severity, acknowledgement, line, column } = finding;
      const word = colors[PAINTS[severity]](acknowledgement === null ? severity : 'acknowledged');
      const at =
        finding.pointer === '' ? '(the whole document)' : toPrintable(finding.pointer, 300);
      return [
        `${toPrintable(fileName, 300)}:${line}:${column}: ${word} ${colors.bold(finding.code)}`,
        paragraph(`at ${at}`, columns, '  '),
        paragraph(finding.message, columns, '  '),
        acknowledgement === null
          ? paragraph(`fix: ${finding.fix}`, columns, '  ')
          : paragraph(`reason given: ${acknowledgement}`, columns, '  '),
      ].join('\n');
    })
    .join('\n\n');
}

/** `2 refused, 1 to acknowledge, 1 advised` */
export function toFindingsSummary(findings: readonly Finding[]): string {
  const amountOf = (wanted: (finding: Finding) => boolean) => findings.filter(wanted).length;
  const amounts = [
    [amountOf(({ severity }) => severity === 'refuse'), 'refused'],
    [amountOf((one) => one.severity === 'acknowledge' && isOpen(one)), 'to acknowledge'],
    [amountOf(({ acknowledgement }) => acknowledgement !== null), 'acknowledged'],
    [amountOf(({ severity }) => severity === 'advise'), 'advised'],
  ] as const;
  const parts = amounts.flatMap(([amount, word]) => (amount === 0 ? [] : [`${amount} ${word}`]));
  return parts.length === 0 ? 'no findings' : parts.join(', ');
}
