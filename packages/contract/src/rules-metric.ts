import { toPrintable } from '@kervyxa/core';

import type { Draft, DraftCriterion } from './draft.ts';
import { findingOf } from './finding-table.ts';
import type { Finding } from './finding.ts';
import { firstAffirmed } from './rules-text.ts';
import { shellCalls } from './shell-walk.ts';
import { hasForeignLetters, timeWordOfName, timeWordOfUnit } from './time-unit.ts';

/** TIME_UNIT_BENCHMARK, UNIT_UNREADABLE. */
export function lintTimeUnits(draft: Draft): Finding[] {
  const measuring = draft.criteria.filter(({ type }) => type === 'benchmark');
  const findings = measuring.flatMap((criterion) => timeFindings(criterion, draft));
  return findings.length > 0 ? findings : timedAim(draft);
}

// A bound in time, as the aim of a benchmark: "in under 5 ms", "p95 below 3", "twice the throughput".
const TIMED_AIM = [
  /\b(under|below|less than|within|at most|faster than|no more than)\s+\d[\d.,]*\s?(ms|µs|us|ns|s|sec|secs|milliseconds?|microseconds?|seconds?|minutes?)\b/i,
  /\b(p9\d|latency|throughput|wall[- ]?clock)\b/i,
];

/** The objective of a benchmark may ask for time where its criteria don't: then they do not decide what is asked. */
function timedAim({ kind, title, objective }: Draft): Finding[] {
  if (kind !== 'benchmark') return [];
  return [title, objective].flatMap((place) => {
    const found = place && firstAffirmed(place.text, TIMED_AIM);
    if (!place || found === null) return [];
    return [
      findingOf('TIME_UNIT_BENCHMARK', place.pointer, {
        message: `expected an aim that can be counted, got "${toPrintable(found, 50)}"`,
        fix: 'Say how much work, memory or output is allowed, as the benchmark criterion counts it.',
      }),
    ];
  });
}

function timeFindings(criterion: DraftCriterion, draft: Draft): Finding[] {
  const { pointer, unit, metricName } = criterion;
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
          fix: `Count instead, by ${sourceFor(criterion, draft)}. Time drifted 4 to 19 times between two runs of one commit.`,
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

const WORK = {
  node: 'source node_block_count, how often Node.js enters a block of the program (node SCRIPT ARGUMENTS)',
  python:
    'source python_opcode_count, the instructions that Python carries out (python3 SCRIPT ARGUMENTS)',
  other: 'source instructions, the machine instructions of the program',
};
const BYTES = {
  node: 'source node_peak_heap_bytes or artifact_bytes, what it keeps or writes',
  python: 'source python_peak_bytes or artifact_bytes, what it keeps or writes',
  other: 'source artifact_bytes, what it writes',
};

/** The counted source that comes closest to what was to be clocked, in words. */
function sourceFor({ judging, unit }: DraftCriterion, { languages }: Draft): string {
  const programs = judging === null ? [] : shellCalls(judging.text).map(({ words }) => words[0]);
  const hints = [...programs, ...languages.map(({ text }) => text.toLowerCase())];
  const isNode = /^(node|nodejs|npm|npx|pnpm|yarn|tsx|javascript|typescript)$/;
  const isPython = /^(python[\d.]*|pytest)$/;
  const hint = hints.find((word) => isNode.test(word ?? '') || isPython.test(word ?? ''));
  const runtime =
    hint === undefined || hint === null ? 'other' : isNode.test(hint) ? 'node' : 'python';
  const isOfBytes = /(^|[^a-z])[kmgt]?i?(b|bytes?)($|[^a-z])/i.test(unit ?? '');
  return (isOfBytes ? BYTES : WORK)[runtime];
}

/** VACUOUS_COMMAND: sizes and counts are never negative, so some bounds are met by all of them, or by none. */
export function lintIdleThresholds({ criteria }: Draft): Finding[] {
  return criteria.flatMap(({ type, pointer, source, metricOp: op, threshold }) => {
    // What a marker says may be any number.
    if (type !== 'benchmark' || (source ?? 'marker') === 'marker' || threshold === null) return [];
    const isAlwaysMet = (op === 'gte' && threshold <= 0) || (op === 'gt' && threshold < 0);
    const isNeverMet = (op === 'lt' && threshold <= 0) || (op !== 'gt' && threshold < 0);
    if (!isAlwaysMet && !isNeverMet) return [];
    return [
      findingOf('VACUOUS_COMMAND', `${pointer}/metric/threshold`, {
        message: `expected a bound that some numbers meet and others do not, got one that ${isAlwaysMet ? 'every' : 'no'} size or count meets`,
        fix: 'Give the bound that the work must reach, and see the base commit on its other side.',
      }),
    ];
  });
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
