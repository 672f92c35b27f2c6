import type { LintFinding } from '@kervyxa/checker';
import { toPrintable } from '@kervyxa/core';
import type { Screen } from '../host.ts';
import { paragraph } from './text.ts';

const PAINTS = { refuse: 'red', advise: 'cyan' } as const;

/** One block a finding: its file, its JSON Pointer, its code and what to do. */
export function toLintFindingsText(
  findings: readonly LintFinding[],
  { colors, columns }: Screen,
): string {
  return findings
    .map(({ file, pointer, code, severity, message, fix }) =>
      [
        colors.bold(toPrintable(file, 300)),
        ...(pointer === '' ? [] : [paragraph(pointer, columns, '  ')]),
        `  ${colors[PAINTS[severity]](`[${code}]`)} ${severity}`,
        paragraph(message, columns, '  '),
        paragraph(`fix: ${fix}`, columns, '  '),
      ].join('\n'),
    )
    .join('\n\n');
}

/** `2 refused, 1 advised` */
export function toLintSummary(findings: readonly LintFinding[]): string {
  const refused = findings.filter(({ severity }) => severity === 'refuse').length;
  const advised = findings.length - refused;
  const parts = [
    ...(refused === 0 ? [] : [`${refused} refused`]),
    ...(advised === 0 ? [] : [`${advised} advised`]),
  ];
  return parts.length === 0 ? 'no findings' : parts.join(', ');
}
