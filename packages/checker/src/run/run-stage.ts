import { checkerError } from '../errors.ts';
import type { SandboxStage } from '../contract/schema.ts';
import { resultKindOfStage } from '../contract/terms.ts';
import type { CheckerPackage, InputFile, StageProgram } from '../package/checker-package.ts';
import { readAnswer } from './answer.ts';
import type { CheckDeps } from './check-deps.ts';
import { toInputTree } from './inputs.ts';
import { toBrokenEnd } from './program-end.ts';
import { planProgram } from './program.ts';
import { selectReference } from './reference.ts';
import { textOfSubmission, unmetRequirement } from './requirements.ts';
import { runProgram } from './run-program.ts';
import type { CheckSubmission, StageEnd } from './stage-end.ts';

/** One sandbox stage and what is put before it. */
export interface StageRequest {
  readonly package: CheckerPackage;
  readonly stageKey: string;
  readonly submission: CheckSubmission;
  /** By slot key; what the stage does not select is not laid out. */
  readonly reference: ReadonlyMap<string, InputFile>;
}

/**
 * Runs the program of one sandbox stage in a container of its own, which is gone when this resolves. Whether the package
 * has reproduced its fixtures is another question: see `createConformance`. In order:
 *
 * 1. what the stage's slots are bound to: a fault of whoever bound them throws;
 * 2. what the submission lacks: unmet, and nothing runs;
 * 3. the program; a late one once more with nothing beside it;
 * 4. how it ended, then what it left.
 *
 * Throws CHECKER_STAGE_UNKNOWN, CHECKER_REFERENCE_MISSING, CHECKER_REFERENCE_TOO_LARGE, CHECKER_RUNTIME_UNBOUND,
 * CHECKER_INPUTS_CHANGED, CHECKER_SCHEMA_UNCHECKED, and what the sandbox throws.
 */
export async function runStage(
  deps: CheckDeps,
  { package: checker, stageKey, submission, reference }: StageRequest,
  signal: AbortSignal,
): Promise<StageEnd> {
  const { contract, contractId } = checker;
  const { stage, program } = findStage(checker, stageKey);
  const seen = selectReference(contract, stage, reference);
  const unmet = unmetRequirement(contract.submission_requirements, submission);
  if (unmet !== null) return { kind: 'unmet', message: unmet };

  const { image, command, files } = await planProgram(deps, program, signal);
  const resultKind = resultKindOfStage(contract, stage);
  const inputs = {
    contractId,
    stageKey,
    resultKind,
    artifacts: submission.artifacts,
    reference: seen,
    summaryText: textOfSubmission(contract.submission_requirements, submission),
  };
  const { limits } = program;
  const request = {
    image,
    command,
    limits,
    tree: await toInputTree(inputs, files),
    onOutput: deps.onOutput,
  };
  const invoke = () => runProgram(deps.sandbox, request, signal);
  const first = await deps.gate.beside(invoke, signal);
  const { outcome, left } = first.outcome.timedOut ? await deps.gate.alone(invoke, signal) : first;

  deps.onEnd?.(outcome.durationMs);
  if (left === null) return toBrokenEnd(outcome, limits);
  return readAnswer({ resultKind, evidenceSchema: stage.evidence_schema }, left);
}

/** Throws CHECKER_STAGE_UNKNOWN where there is no sandbox stage of that key. */
export function findStage(
  { contract, programs }: CheckerPackage,
  stageKey: string,
): { readonly stage: SandboxStage; readonly program: StageProgram } {
  const stage = contract.stages.find(({ key }) => key === stageKey);
  const program = programs.get(stageKey);
  if (stage?.kind === 'sandbox' && program !== undefined) return { stage, program };
  const keys = [...programs.keys()].join(', ');
  throw checkerError('CHECKER_STAGE_UNKNOWN', {
    message: `expected a sandbox stage (${keys}), got ${
      stage === undefined ? 'a key that no stage has' : `${stage.key}, whose kind is ${stage.kind}`
    }`,
  });
}
