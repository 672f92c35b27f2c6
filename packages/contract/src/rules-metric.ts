import { toPrintable } from '@kervyxa/core';

import type { Draft, DraftCriterion } from './draft.ts';
import { findingOf } from './finding-table.ts';
import type { Finding } from './finding.ts';
import { hasForeignLetters, timeWordOfName, timeWordOfUnit } from './time-unit.ts';

const TIME_FIX =
  'Count work instead: bytes (artifact_bytes, node_peak_heap_bytes), lines, blocks, opcodes or instructions. Time drifted 4 to 19 times between two runs of one commit.';

/** TIME_UNIT_BENCHMARK, UNIT_UNREADABLE. */
export function lintTimeUnits({ criteria }: Draft): Finding[] {
  return criteria.filter(({ type }) => type === 'benchmark').flatMap(timeFindings);
}

function timeFindings({ pointer, unit, metricName }: DraftCriterion): Finding[] {
  const findings: Finding[] = [];
  for (const [key, text] of [
    ['unit', unit],
    ['name', metricName],
  ] as const) {
    if (text === null) continue;
    const at = `${pointer}/metric/${key}`;
    const timeWord = key === 'unit' ? timeWordOfUnit(text) : timeWordOfName(text);
    if (timeWord !== null) {
      findings.push(
        findingOf('TIME_UNIT_BENCHMARK', at, {
          message: `expected a ${key} that counts something, got "${toPrintable(text, 100)}", which is about time ("${toPrintable(timeWord, 50)}")`,
          fix: TIME_FIX,
        }),
      );
    } else if (hasForeignLetters(text)) {
      findings.push(
        findingOf('UNIT_UNREADABLE', at, {
          message: `expected Latin letters, got "${toPrintable(text, 100)}"`,
          fix: 'Write the unit and the name in English: bytes, lines, errors, macro-F1, …',
        }),
      );
    }
  }
  return findings;
}

/** METRIC_INCOMPLETE: a kind that is about a number has one, over a data set that is frozen. */
export function lintMetricKind({ kind, criteria, inputs }: Draft): Finding[] {
  if (kind !== 'benchmark' && kind !== 'model_evaluation') return [];
  const measuring = criteria.filter(({ type }) => type === 'benchmark');
  const judging = criteria.filter(({ type }) => type === 'judge_probe' || type === 'checker');
  const hasMeasure = measuring.length > 0 || (kind === 'model_evaluation' && judging.length > 0);
  if (!hasMeasure) {
    return [
      findingOf('METRIC_INCOMPLETE', '/criteria', {
        message: `expected a benchmark criterion, as kind is ${kind}, got none`,
        fix: 'Add a benchmark criterion with metric {name, unit, op, threshold}.',
      }),
    ];
  }
  const scoring = kind === 'benchmark' ? measuring : [...measuring, ...judging];
  const hasHiddenData = scoring.some(({ visibility }) => visibility === 'hidden');
  if (inputs.length > 0 || hasHiddenData) return [];
  return [
    findingOf('METRIC_INCOMPLETE', '/inputs', {
      message: `expected the frozen data that is measured, as kind is ${kind}, got no inputs`,
      fix: 'Name the corpus, or the protected harness that generates it, in inputs.',
    }),
  ];
}
