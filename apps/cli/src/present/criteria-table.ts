import { type Contract, METRIC_SIGNS } from '@kervyxa/contract';
import { toPrintable } from '@kervyxa/core';
import type { CriterionResult } from '@kervyxa/verifier';
import type { Screen } from '../host.ts';
import { cut, pad, seconds, widthOf } from './text.ts';

const ID_COLUMNS_MAX = 28;
const RESULT_COLUMNS = 12;
const DETAIL_COLUMNS_MIN = 12;

const RESULTS = {
  pass: { word: 'pass', paint: 'green' },
  fail: { word: 'FAIL', paint: 'red' },
  inconclusive: { word: 'inconclusive', paint: 'yellow' },
  error: { word: 'ERROR', paint: 'red' },
  not_run: { word: 'not run', paint: 'dim' },
} as const satisfies Record<CriterionResult['status'], { word: string; paint: string }>;

/** One row a criterion, in the contract's order, each within the screen's width. */
export function toCriteriaTable(
  results: readonly CriterionResult[],
  contract: Pick<Contract, 'criteria'>,
  screen: Screen,
): string {
  const { colors, columns } = screen;
  const names = results.map(toName);
  const nameColumns = Math.max('criterion'.length, ...names.map(widthOf));
  const detailColumns =
    columns - nameColumns - RESULT_COLUMNS - '  '.length * 3 - seconds(0).length;

  const rows = results.map((result, index) => {
    const { word, paint } = RESULTS[result.status];
    const time =
      result.durationMs === null ? seconds(0).replace(/./g, ' ') : seconds(result.durationMs);
    const detail = cut(toDetail(result, contract), Math.max(detailColumns, DETAIL_COLUMNS_MIN));
    const name = pad(names[index] ?? '', nameColumns);
    return `${name}  ${colors[paint](pad(word, RESULT_COLUMNS))}  ${time}  ${detail}`.trimEnd();
  });
  const head = `${pad('criterion', nameColumns)}  ${pad('result', RESULT_COLUMNS)}  ${'time'.padStart(8)}  detail`;
  const hidden = results.some(({ visibility }) => visibility === 'hidden');
  return [
    colors.bold(head),
    ...rows,
    ...(hidden ? [colors.dim('* hidden from solvers')] : []),
  ].join('\n');
}

function toName({ id, visibility }: CriterionResult): string {
  const mark = visibility === 'hidden' ? ' *' : '';
  return cut(toPrintable(id), ID_COLUMNS_MAX - mark.length) + mark;
}

/** The reason of what did not pass, then the number it was judged by, or the exit status. */
function toDetail(result: CriterionResult, contract: Pick<Contract, 'criteria'>): string {
  const facts: string[] = result.reason === null ? [] : [result.reason];
  if (result.metric !== null) facts.push(toMetric(result.id, result.metric, contract));
  else if (result.exitCode !== null) facts.push(`exit ${result.exitCode}`);
  return facts.join(', ');
}

/** `59,000,000 bytes (wanted < 60,000,000)` */
function toMetric(id: string, value: number, { criteria }: Pick<Contract, 'criteria'>): string {
  const criterion = criteria.find((candidate) => candidate.id === id);
  if (criterion?.type !== 'benchmark') return grouped(value);
  const { unit, op, threshold } = criterion.metric;
  return `${grouped(value)} ${toPrintable(unit)} (wanted ${METRIC_SIGNS[op]} ${grouped(threshold)})`;
}

const NUMBERS = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 17 });

function grouped(value: number): string {
  return NUMBERS.format(value);
}
