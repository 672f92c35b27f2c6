/**
 * Why an evaluation may not say passed, beside a check that failed. Of several the first is told: what was changed under
 * the run makes all the rest worthless, what can't be read tells nothing of checks, and late ones explain missing ones.
 */
export const EVALUATION_REFUSALS = [
  'mutation_detected',
  'result_malformed',
  'timed_out',
  'check_duplicate',
  'check_unexpected',
  'check_missing',
] as const;
export type EvaluationRefusal = (typeof EVALUATION_REFUSALS)[number];
