import type { BrokenCode, StageReport } from '@kervyxa/checker';
import { evaluate, type Ref } from './evaluate.ts';
import type { EvaluationRecord, ReportedStatus } from './record.ts';
import type { EvaluationRefusal } from './refusals.ts';

/** What a stage of a checker came to. */
export interface EvaluatedStage {
  readonly key: string;
  readonly result: StageReport['result'];
  /** What kept it from deciding: a `BrokenCode`, or another reason; null where nothing did. */
  readonly problem: string | null;
}

export interface StagesEvaluation {
  readonly runRef: string;
  readonly verifier: Ref;
  readonly result: Ref;
  /** Each that was to be walked, in order; the declared checks. */
  readonly stages: readonly EvaluatedStage[];
}

/** What a walk over the stages of a checker came to, as a record. */
export function toStagesEvaluation({ stages, ...refs }: StagesEvaluation): EvaluationRecord {
  return evaluate({
    ...refs,
    declared: stages.map(({ key }) => key),
    reported: stages.map(({ key, result }) => ({ ref: key, status: STATUS[result] })),
    refusals: stages.flatMap(({ problem }) => REFUSALS.get(problem ?? '') ?? []),
  });
}

const STATUS = {
  verified: 'passed',
  refuted: 'failed',
  inconclusive: 'inconclusive',
  not_run: 'not_run',
} as const satisfies Record<EvaluatedStage['result'], ReportedStatus>;

/** A result outside of the protocol is malformed; without one, how the program ended is no refusal, unless it was late. */
const OF_BROKEN: Readonly<Record<BrokenCode, EvaluationRefusal | null>> = {
  EXIT_STATUS: null,
  RESULT_MISSING: 'result_malformed',
  RESULT_MALFORMED: 'result_malformed',
  RESULT_UNKNOWN: 'result_malformed',
  ERROR_CLAIMED: 'result_malformed',
  SCORE_MISSING: 'result_malformed',
  SCORE_UNEXPECTED: 'result_malformed',
  EVIDENCE_MISSING: 'result_malformed',
  EVIDENCE_MALFORMED: 'result_malformed',
  EVIDENCE_REFUSED: 'result_malformed',
  WRITTEN_AFTERWARDS: null,
  TIME_LIMIT: 'timed_out',
  MEMORY_LIMIT: null,
  OUTPUT_LIMIT: null,
  DISK_LIMIT: null,
};
const REFUSALS: ReadonlyMap<string, EvaluationRefusal | null> = new Map([
  ...Object.entries(OF_BROKEN),
  ['INPUTS_CHANGED', 'mutation_detected'],
]);
