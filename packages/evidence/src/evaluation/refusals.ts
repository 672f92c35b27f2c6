/** Why an evaluation may not say passed, beside a check that failed. */
export const EVALUATION_REFUSALS = [
  'check_missing',
  'check_unexpected',
  'check_duplicate',
  'result_malformed',
  'timed_out',
  'mutation_detected',
] as const;
export type EvaluationRefusal = (typeof EVALUATION_REFUSALS)[number];
