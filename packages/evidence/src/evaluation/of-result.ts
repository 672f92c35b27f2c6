import type { Contract } from '@kervyxa/contract';
import { SOLVER_REASONS } from '@kervyxa/core';
import { evaluate, type Ref } from './evaluate.ts';
import type { EvaluationRecord, ReportedStatus } from './record.ts';
import type { EvaluationRefusal } from './refusals.ts';
import type { RecordedResult } from '../result/recorded.ts';

/** Names of the run, of the contract and of the result, with the digests of both as whoever reads the record sees them. */
export interface EvaluationRefs {
  readonly runRef: string;
  readonly verifier: Ref;
  readonly result: Ref;
}

/** What is known of a contract when its results are evaluated; outsiders know as much. */
export interface EvaluatedContract {
  readonly criteria: readonly Pick<Contract['criteria'][number], 'id'>[];
}

type EvaluatedResult = Pick<RecordedResult, 'verdict' | 'tree' | 'reasons'> & {
  readonly criteria: readonly Pick<RecordedResult['criteria'][number], 'id' | 'status'>[];
};

/** The check that the diff keeps the constraints; the others are the criteria, by the names that their logs have, too. */
const POLICY_CHECK = 'policy';

function criterionCheck(id: string): string {
  return `criterion:${id}`;
}

const STATUS = {
  pass: 'passed',
  fail: 'failed',
  inconclusive: 'inconclusive',
  error: 'error',
  not_run: 'not_run',
} as const satisfies Record<EvaluatedResult['criteria'][number]['status'], ReportedStatus>;

/** Of constraints and source: what is told before set-up may run. */
const POLICY_REASONS: ReadonlySet<string> = new Set(
  SOLVER_REASONS.slice(0, SOLVER_REASONS.indexOf('SETUP_FAILED')),
);

/** What `verifyCommit` answered, as a record: the declared checks are `policy` and every criterion of the contract. */
export function toEvaluation(
  contract: EvaluatedContract,
  result: EvaluatedResult,
  refs: EvaluationRefs,
): EvaluationRecord {
  const input = {
    ...refs,
    declared: [POLICY_CHECK, ...contract.criteria.map(({ id }) => criterionCheck(id))],
    reported: [
      { ref: POLICY_CHECK, status: toPolicyStatus(result) },
      ...result.criteria.map(({ id, status }) => ({
        ref: criterionCheck(id),
        status: STATUS[status],
      })),
    ],
    refusals: toRefusals(result),
  };
  const record = evaluate(input);
  // A verdict that its own checks do not bear out is no verdict.
  if (record.passed === (result.verdict === 'PASS') || record['refusal/code'] !== undefined) {
    return record;
  }
  return evaluate({ ...input, refusals: ['result_malformed'] });
}

function toPolicyStatus({ verdict, tree, reasons }: EvaluatedResult): ReportedStatus {
  if (reasons.some(({ code }) => POLICY_REASONS.has(code))) return 'failed';
  if (tree !== null) return 'passed';
  return verdict === 'FAIL' ? 'failed' : 'not_run';
}

function toRefusals({ reasons }: EvaluatedResult): EvaluationRefusal[] {
  const codes = new Set<string>(reasons.map(({ code }) => code));
  const refusals: EvaluationRefusal[] = [];
  if (codes.has('INPUTS_CHANGED')) refusals.push('mutation_detected');
  if (codes.has('TIME_LIMIT')) refusals.push('timed_out');
  return refusals;
}
