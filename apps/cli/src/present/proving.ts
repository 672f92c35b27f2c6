import { toPrintable } from '@kervyxa/core';
import {
  isAsWanted,
  type CriterionReplays,
  type ProvingColumn,
  type ProvingFinding,
  type ProvingReport,
  type Replay,
} from '@kervyxa/verifier';
import type { Screen } from '../host.ts';
import { count, cut, pad, paragraph, widthOf } from './text.ts';

const ID_COLUMNS_MAX = 28;
const CELL_GAP = 3;
const EVIDENCE_HEAD_LINES = 3;
const EVIDENCE_END_LINES = 9;

const MARKS = {
  pass: { mark: '✔', paint: 'green' },
  fail: { mark: '✘', paint: 'red' },
  inconclusive: { mark: '?', paint: 'yellow' },
  error: { mark: '!', paint: 'red' },
  not_run: { mark: '·', paint: 'dim' },
} as const;

/** The report for a person: what is wrong and how to mend it, then what passed where, then the replays. */
export function toProvingText(report: ProvingReport, screen: Screen): string {
  return [
    ...report.findings.map((finding) => toFinding(finding, screen)),
    toHeadline(report, screen),
    toMatrix(report, screen),
    toReplays(report, screen),
    ...report.notes.map((note) => paragraph(`Note: ${note}`, screen.columns, '')),
    toIdentity(report),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function toFinding(finding: ProvingFinding, { colors, columns }: Screen): string {
  const { code, severity, pointer, message, fix, evidence } = finding;
  const at = pointer === '' ? '(the whole document)' : toPrintable(pointer, 300);
  return [
    `${colors.red(severity)} ${colors.bold(code)} at ${at}`,
    paragraph(message, columns, '  '),
    paragraph(`fix: ${fix}`, columns, '  '),
    ...(evidence === undefined ? [] : [toEvidence(evidence, { colors, columns })]),
  ].join('\n');
}

/** The step that it is about comes first, what it printed last, and there is what test runners sum up. */
function toEvidence(evidence: string, { colors, columns }: Pick<Screen, 'colors' | 'columns'>) {
  const lines = evidence
    .trimEnd()
    .split('\n')
    .map((line) => cut(toPrintable(line), columns - 4));
  const left = lines.length - EVIDENCE_HEAD_LINES - EVIDENCE_END_LINES;
  if (left > 1) {
    const mark = `… ${count(left, 'line')} more (--json or --report has all)`;
    lines.splice(EVIDENCE_HEAD_LINES, left, mark);
  }
  return colors.dim(lines.map((line) => `  | ${line}`).join('\n'));
}

function toHeadline({ isProved, findings, columns }: ProvingReport, { colors }: Screen): string {
  const word = isProved ? colors.green('proved') : colors.red('refused');
  const what = isProved ? 'no findings' : count(findings.length, 'finding');
  return `${colors.bold(word)}  ${what}, ${count(columns.length, 'column')}`;
}

/** Criteria down, columns across by number; as many tables as the screen's width asks for. */
function toMatrix(report: ProvingReport, screen: Screen): string {
  const { columns: all, criteria } = report;
  const { colors, columns: width } = screen;
  const names = criteria.map(({ id, visibility }) => {
    const mark = visibility === 'hidden' ? ' *' : '';
    return cut(toPrintable(id), ID_COLUMNS_MAX - mark.length) + mark;
  });
  const nameColumns = Math.max('criterion'.length, ...names.map(widthOf));
  const drawn = all.map((column, at) => drawColumn(column, at + 1, criteria.length, screen));
  const tables = toTables(drawn, width - nameColumns).map((columns) => {
    const head = pad('criterion', nameColumns) + columns.map((one) => one.head).join('');
    const rows = names.map((name, at) => {
      const cells = columns.map((one) => one.cells[at] ?? '');
      return (pad(name, nameColumns) + cells.join('')).trimEnd();
    });
    return [colors.bold(head.trimEnd()), ...rows].join('\n');
  });
  const legend = all.map((column, at) => toLegend(column, at + 1, screen)).join('\n');
  const hasHidden = criteria.some(({ visibility }) => visibility === 'hidden');
  return [...tables, ...(hasHidden ? ['* hidden from solvers'] : []), legend].join('\n\n');
}

/** A column of the matrix, each of its lines as wide as the others. */
interface DrawnColumn {
  readonly width: number;
  readonly head: string;
  readonly cells: readonly string[];
}

/** `✘ 120` where a benchmark was judged by a number, else the mark alone. */
function drawColumn(
  { criteria }: ProvingColumn,
  number: number,
  rows: number,
  { colors }: Pick<Screen, 'colors'>,
): DrawnColumn {
  const texts = Array.from({ length: rows }, (_, at) => {
    const { status = 'not_run', metric = null } = criteria[at] ?? {};
    const { mark, paint } = MARKS[status];
    return { text: metric === null ? mark : `${mark} ${metric}`, paint };
  });
  const inner = Math.max(1, ...texts.map(({ text }) => text.length));
  const width = CELL_GAP + inner;
  const gap = ' '.repeat(CELL_GAP);
  return {
    width,
    head: String(number).padEnd(inner).padStart(width),
    cells: texts.map(({ text, paint }) => {
      return gap + colors[paint](text) + ' '.repeat(inner - text.length);
    }),
  };
}

/** Columns side by side as long as they fit, and at least one. */
function toTables(columns: readonly DrawnColumn[], width: number): DrawnColumn[][] {
  const tables: DrawnColumn[][] = [];
  let left = 0;
  for (const column of columns) {
    const table = tables.at(-1);
    if (table === undefined || column.width > left) {
      tables.push([column]);
      left = width;
    } else {
      table.push(column);
    }
    left -= column.width;
  }
  return tables;
}

/** ` 3  FAIL  Known-bad 62524d2df0b2 (wanted FAIL)` */
function toLegend(column: ProvingColumn, number: number, screen: Screen) {
  const { title, verdict, expected } = column;
  const { colors, columns } = screen;
  const isWanted = isAsWanted(column);
  const head = `${String(number).padStart(3)}  ${pad(verdict, 'INCONCLUSIVE'.length)}  `;
  const wanted = isWanted ? '' : ` (wanted ${expected ?? 'a failing criterion'})`;
  const text = cut(toPrintable(title), columns - head.length - wanted.length) + wanted;
  return isWanted ? head + text : colors.red(head + text);
}

function toReplays({ replays }: ProvingReport, { colors, columns }: Screen): string {
  if (replays.length === 0) return '';
  const lines = replays.map((one) => toReplayLine(one, columns));
  return [colors.bold('replays of the known-good commit'), ...lines].join('\n');
}

function toReplayLine(replays: CriterionReplays, columns: number): string {
  const { criterionId, runs, metricSpread, durationSpread } = replays;
  const parts = [sayEnds(runs)];
  if (metricSpread !== null) {
    parts.push(`metric ${sayRange(runs.map(({ metric }) => metric))}, spread ${metricSpread}`);
  }
  if (durationSpread !== null) parts.push(`wall-clock spread ${sayPercent(durationSpread)}`);
  const text = parts.join('; ');
  return `  ${cut(toPrintable(criterionId), ID_COLUMNS_MAX)}\n${paragraph(text, columns, '    ')}`;
}

/** `3 × pass, exit 0` */
export function sayEnds(runs: readonly Replay[]): string {
  const ends = runs.map(({ status, reason, exitCode }) => {
    const why = reason === null ? '' : ` ${reason}`;
    return `${status.replace('_', ' ')}${why}${exitCode === null ? '' : `, exit ${exitCode}`}`;
  });
  return [...new Set(ends)]
    .map((end) => `${ends.filter((one) => one === end).length} × ${end}`)
    .join('; ');
}

/** `50 … 52`, or the one number. */
export function sayRange(values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return '–';
  const [low, high] = [Math.min(...known), Math.max(...known)];
  return low === high ? String(low) : `${low} … ${high}`;
}

/** Of parts of one: 0.5 is `50 %`; what is not nothing never shows as 0 %. */
export function sayPercent(part: number): string {
  const percent = part * 100;
  if (percent === 0) return '0 %';
  return percent < 0.1 ? '< 0.1 %' : `${percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`;
}

/** Never cut: digests are what a person copies. */
function toIdentity({ contractDigest, imageDigest }: ProvingReport): string {
  const image = imageDigest === null ? '' : `\nimage    ${toPrintable(imageDigest)}`;
  return `contract ${toPrintable(contractDigest)}${image}`;
}
