import type { CheckStatus, EvaluationRecord, ReportedStatus } from './record.ts';
import { EVALUATION_REFUSALS, type EvaluationRefusal } from './refusals.ts';

/** A thing by name and content. `digest`: `sha256:` and 64 hex digits. */
export interface Ref {
  readonly ref: string;
  readonly digest: string;
}

export interface EvaluationInput {
  readonly runRef: string;
  /** What decided, such as the contract. */
  readonly verifier: Ref;
  /** Null where there is none that could be named. */
  readonly result: Ref | null;
  /** Names of the checks that there must be a word on, each once. */
  readonly declared: readonly string[];
  /** What the verifier said, as it said it. */
  readonly reported: readonly { readonly ref: string; readonly status: ReportedStatus }[];
  /** What is wrong beside the checks. */
  readonly refusals?: readonly EvaluationRefusal[];
}

/**
 * The record of one run. It says `passed` only where every declared check is reported exactly once and passed, no other
 * is reported, at least one is declared, and nothing else is wrong. Never throws.
 */
export function evaluate(input: EvaluationInput): EvaluationRecord {
  const checks = toChecks(input);
  const refusal = toRefusal(input, checks);
  const passed =
    refusal === null && checks.length > 0 && checks.every(({ status }) => status === 'passed');
  return {
    schema: 'operator-task-verifier-evaluation.v1',
    'schema/v': 1,
    'run/ref': input.runRef,
    'verifier/ref': input.verifier.ref,
    'verifier/digest': input.verifier.digest,
    ...(input.result !== null && {
      'result/ref': input.result.ref,
      'result/digest': input.result.digest,
    }),
    checks,
    passed,
    ...(refusal !== null && { 'refusal/code': refusal }),
  };
}

function toChecks({ declared, reported }: EvaluationInput): EvaluationRecord['checks'] {
  const wanted = Map.groupBy(declared, (ref) => ref);
  const said = Map.groupBy(reported, ({ ref }) => ref);
  return [...new Set([...wanted.keys(), ...said.keys()])].map((ref) => ({
    'check/ref': ref,
    status: toStatus(wanted.get(ref)?.length ?? 0, said.get(ref) ?? []),
  }));
}

function toStatus(
  declaredCount: number,
  said: readonly { readonly status: ReportedStatus }[],
): CheckStatus {
  if (declaredCount === 0) return 'unexpected';
  if (declaredCount > 1 || said.length > 1) return 'duplicate';
  return said[0]?.status ?? 'missing';
}

function toRefusal(
  { refusals = [] }: EvaluationInput,
  checks: EvaluationRecord['checks'],
): EvaluationRefusal | null {
  const statuses = new Set(checks.map(({ status }) => status));
  const found = new Set<EvaluationRefusal>(refusals);
  if (statuses.has('duplicate')) found.add('check_duplicate');
  if (statuses.has('unexpected')) found.add('check_unexpected');
  // Nothing declared, nothing proved.
  if (statuses.has('missing') || checks.length === 0) found.add('check_missing');
  return EVALUATION_REFUSALS.find((code) => found.has(code)) ?? null;
}
