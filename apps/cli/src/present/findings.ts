import type { Finding } from '@kervyxa/contract';
import { toPrintable } from '@kervyxa/core';
import type { Screen } from '../host.ts';
import { count, paragraph } from './text.ts';

/** A finding and where its pointer lies in the file; null where the file has no such place. */
export interface LocatedFinding extends Finding {
  readonly line: number | null;
  readonly column: number | null;
  /** The contract answers it with a reason, so that it is in nobody's way. */
  readonly acknowledged: boolean;
}

/** Keeps a contract from opening. */
export function isBlocking({ severity, acknowledged }: LocatedFinding): boolean {
  return severity === 'refuse' || (severity === 'acknowledge' && !acknowledged);
}

const PAINTS = { refuse: 'red', acknowledge: 'yellow', advise: 'cyan' } as const;

/** One block a finding: place, severity and code on the first line, as editors and terminals link it. */
export function toFindingsText(
  findings: readonly LocatedFinding[],
  fileName: string,
  { colors, columns }: Screen,
): string {
  return findings
    .map((finding) => {
      const { severity, acknowledged } = finding;
      const word = colors[PAINTS[severity]](acknowledged ? 'acknowledged' : severity);
      const at =
        finding.pointer === '' ? '(the whole document)' : toPrintable(finding.pointer, 300);
      return [
        `${toPlace(finding, fileName)}: ${word} ${colors.bold(finding.code)}`,
        paragraph(`at ${at}`, columns, '  '),
        paragraph(finding.message, columns, '  '),
        paragraph(`fix: ${finding.fix}`, columns, '  '),
      ].join('\n');
    })
    .join('\n\n');
}

function toPlace({ line, column }: LocatedFinding, fileName: string): string {
  const place = line === null ? '' : `:${line}:${column ?? 1}`;
  return `${toPrintable(fileName, 300)}${place}`;
}

/** `2 refuse, 1 to acknowledge, 1 advice` */
export function toFindingsSummary(findings: readonly LocatedFinding[]): string {
  const amounts = [
    [findings.filter(({ severity }) => severity === 'refuse').length, 'refused'],
    [
      findings.filter((finding) => finding.severity === 'acknowledge' && !finding.acknowledged)
        .length,
      'to acknowledge',
    ],
    [findings.filter(({ acknowledged }) => acknowledged).length, 'acknowledged'],
    [findings.filter(({ severity }) => severity === 'advise').length, 'advised'],
  ] as const;
  const parts = amounts
    .filter(([amount]) => amount > 0)
    .map(([amount, word]) => `${amount} ${word}`);
  return `${count(findings.length, 'finding')}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`;
}
