import { toPrintable } from '@kervyxa/core';
import type { Stage } from '../contract/schema.ts';
import { resultKindOfStage } from '../contract/terms.ts';
import type { CheckDeps } from './check-deps.ts';
import type { Conformance, ConformanceListener } from './conformance.ts';
import { runStage, type StageRequest } from './run-stage.ts';
import type { BrokenCode, StageEnd } from './stage-end.ts';

/** What kept a stage from deciding. */
export type StageProblem =
  BrokenCode | 'NOT_CONFORMANT' | 'REQUIREMENTS_UNMET' | 'STAGE_UNAVAILABLE';

export interface StageReport {
  readonly key: string;
  readonly kind: Stage['kind'];
  /** `not_run`: a stage before it did not pass. */
  readonly result: 'verified' | 'refuted' | 'inconclusive' | 'not_run';
  readonly score: number | null;
  /** Null where the stage decided, or its program said so itself. */
  readonly problem: StageProblem | null;
  /** One printable sentence; null where there is none. */
  readonly reason: string | null;
  readonly evidence: unknown;
}

export interface WalkReport {
  readonly result: 'verified' | 'refuted' | 'inconclusive';
  /** Of the last score stage, where all stages verified. */
  readonly score: number | null;
  /** In order; with one stage alone where only that was asked for. */
  readonly stages: readonly StageReport[];
}

export interface WalkRequest extends Omit<StageRequest, 'stageKey'> {
  /** Null: all stages. */
  readonly stageKey: string | null;
}

export interface WalkListener extends ConformanceListener {
  onStage?(report: StageReport): void;
}

/**
 * Walks the stages in order and stops at the first that does not pass. A program decides only when it has reproduced its
 * fixtures here; people and systems elsewhere can't be asked from here, and what waits for them is inconclusive.
 *
 * Throws what `runStage` throws.
 */
export async function walkStages(
  deps: CheckDeps & { readonly conformance: Conformance },
  request: WalkRequest,
  signal: AbortSignal,
  listener: WalkListener = {},
): Promise<WalkReport> {
  const { contract } = request.package;
  const { stageKey } = request;
  const stages = contract.stages.filter(({ key }) => stageKey === null || key === stageKey);
  const reports: StageReport[] = [];
  for (const stage of stages) {
    const passed = reports.every(({ result }) => result === 'verified');
    const report = passed ? await toStageReport(stage) : toNotRun(stage);
    reports.push(report);
    if (passed) listener.onStage?.(report);
  }
  const last = reports.findLast(({ result }) => result !== 'not_run');
  // No stage, no claim.
  const result = last === undefined || last.result === 'not_run' ? 'inconclusive' : last.result;
  const score = result === 'verified' ? scoreOf(request, reports) : null;
  return { result, score, stages: reports };

  async function toStageReport(stage: Stage): Promise<StageReport> {
    if (stage.kind !== 'sandbox') return toUnavailable(stage);
    const { isConformant, problem } = await deps.conformance(
      deps,
      request.package,
      stage.key,
      signal,
      listener,
    );
    if (!isConformant) return toInconclusive(stage, 'NOT_CONFORMANT', problem);
    return toReport(stage, await runStage(deps, { ...request, stageKey: stage.key }, signal));
  }
}

function blankOf({ key, kind }: Stage) {
  return { key, kind, score: null, problem: null, reason: null, evidence: null } as const;
}

function toNotRun(stage: Stage): StageReport {
  return { ...blankOf(stage), result: 'not_run' };
}

function toReport(stage: Stage, end: StageEnd): StageReport {
  if (end.kind === 'unmet') return toInconclusive(stage, 'REQUIREMENTS_UNMET', end.message);
  if (end.kind === 'broken') return toInconclusive(stage, end.code, end.message);
  const { kind: result, reason, score, evidence } = end;
  return { ...blankOf(stage), result, reason, score, evidence };
}

function toUnavailable(stage: Exclude<Stage, { kind: 'sandbox' }>): StageReport {
  const mechanism =
    stage.kind === 'review'
      ? `review by people under protocol ${stage.review_protocol_id}`
      : `${stage.rule_owner === 'contract' ? 'evidence' : 'a judgment'} of ${stage.external_system}`;
  return toInconclusive(
    stage,
    'STAGE_UNAVAILABLE',
    toPrintable(
      `expected ${mechanism}, which no program can give; a check of a published contract waits for it`,
    ),
  );
}

function toInconclusive(stage: Stage, problem: StageProblem, reason: string | null): StageReport {
  return { ...blankOf(stage), result: 'inconclusive', problem, reason };
}

function scoreOf({ package: { contract } }: WalkRequest, reports: readonly StageReport[]) {
  const scored = contract.stages.filter(
    (stage) => stage.kind === 'sandbox' && resultKindOfStage(contract, stage) === 'score',
  );
  const keys = new Set(scored.map(({ key }) => key));
  return reports.findLast(({ key }) => keys.has(key))?.score ?? null;
}
