import {
  type Contract,
  type Criterion,
  type Finding,
  type FindingCode,
  findingOf,
} from '@kervyxa/contract';
import type { CriterionResult, Reason } from '../result.ts';
import type { JudgedColumn } from './column.ts';
import { type LogTails, toEvidence } from './evidence.ts';
import { type CriterionReplays, isUndecided, type ProvingColumn, type Replay } from './report.ts';

type Proof = Contract['proof'][number];

export const COMMAND_FIX =
  'Correct the command, the image or the limits; "kervyxa prove" shows how it ends on the base.';
const JUDGE_FIX =
  'Let the judge end with 0 where the output is right and with 1 where it is not, whatever the probe leaves. An exception that nobody catches ends it with 70.';

/** PROOF_MISSING. */
export function lintProof({ proof }: Contract): Finding[] {
  const isNamed = (expected: Proof['expected']) => proof.some((one) => one.expected === expected);
  const missing = [
    ...(isNamed('PASS') ? [] : ['known-good (expected PASS)']),
    ...(isNamed('FAIL') ? [] : ['known-bad (expected FAIL)']),
  ];
  return missing.map((what) =>
    toFinding('PROOF_MISSING', '/proof', {
      message: `expected a ${what} commit in proof, got none`,
      fix: 'Push one, here or to a repository of yours, and name its commit: nobody but you and the operator sees it.',
    }),
  );
}

/** CONTRACT_BROKEN, BASE_FAILS_REGRESSION, BASE_ALREADY_PASSES. */
export function gradeBase({ criteria }: Contract, judged: JudgedColumn): Finding[] {
  const { column, logs } = judged;
  const isStopped = column.criteria.every(({ status }) => status === 'not_run');
  if (isStopped) return column.reasons.map((reason) => toBrokenBase(reason, logs));
  if (column.criteria.every(({ status }) => status === 'pass')) {
    return [
      toFinding('BASE_ALREADY_PASSES', '/criteria', {
        message: `expected a criterion that fails at the base commit, got ${criteria.length} that pass`,
        fix: 'Add or correct the criterion that tells done from not done; a test that can not fail proves nothing.',
      }),
    ];
  }
  return criteria.flatMap((criterion, index) => {
    const result = column.criteria[index];
    return result === undefined ? [] : gradeBaseCriterion({ criterion, index, result, logs });
  });
}

function toBrokenBase({ code, subject, message }: Reason, logs: LogTails): Finding {
  const [, index] = /^environment\.setup\[(\d+)\]$/.exec(subject ?? '') ?? [];
  return toFinding('CONTRACT_BROKEN', index === undefined ? '' : `/environment/setup/${index}`, {
    message: `expected a base commit that can be judged, got ${code}: ${message}`,
    fix: 'Make the set-up work on the base commit, in the image and without a network.',
    evidence: toEvidence(index === undefined ? null : logs.tailOf(`setup:${index}`)),
  });
}

interface BaseCriterion {
  readonly criterion: Criterion;
  readonly index: number;
  readonly result: CriterionResult;
  readonly logs: LogTails;
}

function gradeBaseCriterion({ criterion, index, result, logs }: BaseCriterion): Finding[] {
  const { status, reason, message } = result;
  const pointer = `/criteria/${index}`;
  const evidence = toEvidence(logs.tailOf(`criterion:${criterion.id}`));
  const got = `${reason ?? status}: ${message ?? ''}`;
  const isBroken =
    (status === 'inconclusive' && !isUndecided(reason)) ||
    reason === 'MEMORY_LIMIT' ||
    reason === 'TIME_LIMIT';
  if (isBroken) {
    return [
      toFinding('CONTRACT_BROKEN', pointer, {
        message: `expected criterion ${criterion.id} to come to an end at the base commit, got ${got}`,
        fix: reason === 'VERIFIER_BROKEN' ? JUDGE_FIX : COMMAND_FIX,
        evidence,
      }),
    ];
  }
  if (criterion.type !== 'regression' || status === 'pass') return [];
  return [
    toFinding('BASE_FAILS_REGRESSION', pointer, {
      message: `expected regression criterion ${criterion.id} to pass at the base commit, got ${got}`,
      fix: 'Let it run only what works today; what is to be built is judged by an exit_code or benchmark.',
      evidence,
    }),
  ];
}

/** PROOF_NOT_REPRODUCED of one commit, judged or not to be had. */
export function gradeProof(
  { proof: all, environment }: Contract,
  index: number,
  { column, logs }: JudgedColumn,
): Finding[] {
  const proof = all[index];
  if (proof === undefined) throw new TypeError(`expected a commit of proof at ${index}, got none`);
  const problem = problemOfProof(proof, column);
  if (problem === null) return [];
  const shown = column.reasons.map(sayReason).join('\n');
  const hasRun = column.criteria.some(({ status }) => status !== 'not_run');
  const tails = hasRun
    ? column.criteria.flatMap(({ id, status }) =>
        status === 'pass' ? [] : [logs.tailOf(`criterion:${id}`)],
      )
    : environment.setup.map((_command, at) => logs.tailOf(`setup:${at}`));
  return [
    toFinding('PROOF_NOT_REPRODUCED', `/proof/${index}`, {
      message: problem,
      fix:
        proof.expected === 'PASS'
          ? 'Correct the commit, or the criterion that refuses what is right.'
          : 'Correct the commit, or add the criterion that would notice what is wrong with it.',
      evidence: toEvidence(shown, ...tails),
    }),
  ];
}

/** PROOF_MISSING where each known-bad commit fails by its diff alone: the criteria have refused nothing then. */
export function gradeKnownBad(judged: readonly JudgedColumn[]): Finding[] {
  const bad = judged.filter(({ column }) => column.kind === 'known_bad');
  const [first] = bad;
  if (first === undefined || !bad.every(failsByDiff)) return [];
  return [
    toFinding('PROOF_MISSING', '/proof', {
      message: `expected a known-bad commit (expected FAIL) that a criterion refuses, got ${bad.length} that the constraints refuse before any criterion runs`,
      fix: 'Name one that keeps the constraints and does the work wrongly, as a hasty or dishonest solver would.',
      evidence: toEvidence(...first.column.reasons.map(sayReason)),
    }),
  ];
}

function failsByDiff({ column, imageDigest }: JudgedColumn): boolean {
  return column.verdict === 'FAIL' && imageDigest === null;
}

function problemOfProof(
  { commit, expected, failing }: Proof,
  { verdict, reasons, criteria }: ProvingColumn,
): string | null {
  const name = commit.slice(0, 12);
  if (verdict !== expected) {
    const [why] = reasons;
    return `expected ${expected} of ${name}, got ${verdict}${why === undefined ? '' : ` (${sayReason(why)})`}`;
  }
  if (failing === null) return null;
  const status = criteria.find(({ id }) => id === failing)?.status ?? 'not_run';
  if (status === 'fail') return null;
  return `expected criterion ${failing} to fail on ${name}, got ${status.replace('_', ' ')}`;
}

/** UNSTABLE_CRITERION, METRIC_UNSTABLE. */
export function gradeReplays(
  replays: readonly CriterionReplays[],
  tailOf: (criterionId: string, run: number) => string | null,
): Finding[] {
  return replays.flatMap(({ criterionId, runs, metricSpread, tolerance }, index) => {
    const [first] = runs;
    const other = runs.findIndex((run) => first !== undefined && sayRun(run) !== sayRun(first));
    if (first !== undefined && other >= 0) {
      return [
        toFinding('UNSTABLE_CRITERION', `/criteria/${index}`, {
          message: `expected criterion ${criterionId} to end the same in ${runs.length} replays of the known-good commit, got ${sayCounts(runs)}`,
          fix: 'Take chance, time, order and neighbours out of the command, or out of what it tests: a solver would be paid or refused by luck.',
          evidence: toEvidence(
            ...runs.map((run, at) => `replay ${at + 1}: ${sayRun(run)}`),
            tailOf(criterionId, other),
          ),
        }),
      ];
    }
    if (metricSpread === null || tolerance === null || metricSpread <= tolerance) return [];
    return [
      toFinding('METRIC_UNSTABLE', `/criteria/${index}/metric`, {
        message: `expected the metric of ${criterionId} to move by at most ${tolerance}, got ${metricSpread} over ${runs.length} replays`,
        fix: 'Count work instead of measuring it (docs/contracts.md lists the sources), or state the tolerance that the threshold leaves room for; take chance and time out of what a checker scores.',
        evidence: toEvidence(...runs.map(({ metric }, at) => `replay ${at + 1}: ${metric}`)),
      }),
    ];
  });
}

/** `7 × pass, exit 0; 3 × fail EXIT_CODE_MISMATCH, exit 1` */
function sayCounts(runs: readonly Replay[]): string {
  const ends = runs.map(sayRun);
  return [...new Set(ends)]
    .map((end) => `${ends.filter((one) => one === end).length} × ${end}`)
    .join('; ');
}

function sayRun({ status, reason, exitCode }: Replay): string {
  const why = reason === null ? '' : ` ${reason}`;
  return `${status.replace('_', ' ')}${why}${exitCode === null ? '' : `, exit ${exitCode}`}`;
}

export function sayReason({ code, subject, message }: Reason): string {
  return `${code}${subject === null ? '' : ` at ${subject}`}: ${message}`;
}

export function toFinding(
  code: FindingCode,
  pointer: string,
  { evidence, ...text }: { message: string; fix: string; evidence?: string | undefined },
): Finding {
  return findingOf(code, pointer, evidence === undefined ? text : { ...text, evidence });
}
