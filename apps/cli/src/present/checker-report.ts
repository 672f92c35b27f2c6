import type { ConformanceReport, FixtureReport, StageReport, WalkReport } from '@kervyxa/checker';
import { toPrintable } from '@kervyxa/core';
import type { Screen } from '../host.ts';
import { count, cut, pad, paragraph, widthOf } from './text.ts';

const KEY_COLUMNS_MAX = 60;
const RESULTS = {
  verified: 'green',
  refuted: 'red',
  inconclusive: 'yellow',
  not_run: 'dim',
} as const;

/** `conformant  ./checker: 5 fixtures of 2 stages`, and below it each stage with its fixtures. */
export function toConformanceText(
  name: string,
  reports: readonly ConformanceReport[],
  screen: Screen,
): string {
  const { colors } = screen;
  const isConformant = reports.every((report) => report.isConformant);
  const fixtures = reports.reduce((sum, report) => sum + report.fixtures.length, 0);
  const verdict = isConformant ? colors.green('conformant') : colors.red('not conformant');
  const sum = `${count(fixtures, 'fixture')} of ${count(reports.length, 'sandbox stage')}`;
  const head = `${colors.bold(verdict)}  ${toPrintable(name, 300)}: ${sum}`;
  return [head, ...reports.map((report) => toStageTable(report, screen))].join('\n\n');
}

function toStageTable(report: ConformanceReport, screen: Screen): string {
  const { colors, columns } = screen;
  const keyColumns = Math.max(0, ...report.fixtures.map(({ key }) => widthOf(key)));
  const isMissed = report.fixtures.some(({ ok }) => !ok);
  const rows = report.fixtures.map((fixture) => {
    const mark = fixture.ok ? colors.green('✔') : colors.red('✘');
    const text = `  ${pad(cut(fixture.key, KEY_COLUMNS_MAX), keyColumns)}  ${toGot(fixture)}`;
    const row = `  ${mark}${cut(text, columns - 3)}`;
    return fixture.ok ? row : `${row}\n${paragraph(fixture.message, columns, '       ')}`;
  });
  // Of fixtures that are missed each has said so itself.
  const { problem: said } = report;
  const problem = said === null || isMissed ? [] : [paragraph(said, columns, '  ')];
  return [colors.bold(`stage ${report.stageKey}`), ...rows, ...problem].join('\n');
}

function toGot({ got, expected, ok }: FixtureReport): string {
  const said = named(got.result, got.score);
  return ok ? said : `${said} (wanted ${named(expected.result, expected.score)})`;
}

function named(result: string, score: number | null): string {
  return score === null ? result : `${result} ${score}`;
}

/** One line a fixture while they run. */
export function toFixtureLine({ key, ok, message }: FixtureReport): string {
  return `${ok ? 'ok  ' : 'BAD '}  ${key}${ok ? '' : `: ${message}`}`;
}

/** `verified`, with the score where there is one, and below it each stage with what it says. `unit` is the score's. */
export function toWalkText(
  { result, score, stages }: WalkReport,
  unit: string | null,
  screen: Screen,
): string {
  const { colors, columns } = screen;
  const head = colors.bold(colors[RESULTS[result]](result));
  const keyColumns = Math.max(0, ...stages.map(({ key }) => widthOf(key)));
  const blocks = stages.map((stage) => {
    const row = `  ${pad(stage.key, keyColumns)}  ${colors[RESULTS[stage.result]](toWord(stage))}`;
    return stage.reason === null ? row : `${row}\n${paragraph(stage.reason, columns, '    ')}`;
  });
  const points = unit === null ? String(score) : `${score} ${toPrintable(unit, 60)}`;
  return [`${head}${score === null ? '' : `  score ${points}`}`, ...blocks].join('\n');
}

function toWord({ result, score, problem }: StageReport): string {
  const word = named(result === 'not_run' ? 'not run' : result, score);
  return problem === null ? word : `${word}  ${problem}`;
}
