import { toPrintable } from '@kervyxa/core';
import type { ReplayOutcome, ReplayReport } from '../commands/evidence/replay.ts';
import type { Screen } from '../host.ts';
import { count, paragraph } from './text.ts';

const HEADLINES: Readonly<Record<ReplayOutcome, string>> = {
  same: 'same',
  different: 'different',
  partial: 'not replayed in whole',
  impossible: 'not replayed',
  trouble: 'not replayed, for trouble of this machine',
};
const PAINTS = {
  same: 'green',
  different: 'red',
  partial: 'yellow',
  impossible: 'yellow',
  trouble: 'red',
} as const satisfies Record<ReplayOutcome, string>;

const UNCHECKED =
  'WARNING: without --key the signature was held against the key in the bundle, which anybody can put there. It proves no origin.';

/** What came of a replay, for a person: the outcome, each difference, and what was not looked at. */
export function toReplayText(report: ReplayReport, screen: Screen): string {
  const { outcome, why, fix, skipped, isOriginChecked, keyid } = report;
  const { commit, repository, contractDigest } = report;
  const { colors, columns } = screen;
  const parts = [
    `${colors.bold(colors[PAINTS[outcome]](HEADLINES[outcome]))}  ${toSummary(report)}`,
    ...(why === null ? [] : [paragraph(why, columns, '  ')]),
    // To be pasted, so that it is not wrapped.
    ...(fix === null ? [] : [`fix: ${toPrintable(fix)}`]),
    ...report.differences.map((each) => toDifference(each, screen)),
    ...(outcome === 'partial'
      ? [paragraph('Every field of what was run again is as it was recorded.', columns, '  ')]
      : []),
    ...(outcome === 'different' && skipped.length > 0
      ? [paragraph(`Not run again: ${skipped.join(', ')}.`, columns, '  ')]
      : []),
    `commit ${commit} of ${toPrintable(repository)}\nunder ${contractDigest}`,
    isOriginChecked ? `signed with ${toPrintable(keyid)}` : colors.bold(UNCHECKED),
  ];
  return `${parts.join('\n')}\n`;
}

function toSummary({ outcome, verdict, differences }: ReplayReport): string {
  if (outcome === 'same') return `${verdict.expected}, in every field`;
  if (outcome !== 'different') return `recorded was ${verdict.expected}`;
  const fields = count(differences.length, 'field');
  const got = verdict.got ?? 'no verdict';
  return `in ${fields}: recorded was ${verdict.expected}, got ${got}`;
}

function toDifference(
  { pointer, expected, got }: ReplayReport['differences'][number],
  { columns, colors }: Screen,
): string {
  return [
    colors.bold(toPrintable(pointer, 500)),
    paragraph(`expected ${JSON.stringify(expected)}`, columns, '  '),
    paragraph(`got ${JSON.stringify(got)}`, columns, '  '),
  ].join('\n');
}
