import type { CheckerPackage, InputFile } from '../package/checker-package.ts';
import type { CheckDeps } from './check-deps.ts';
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
 * Runs the program of one sandbox stage in a container of its own, which is gone when this resolves. A late program
 * runs once more with nothing beside it before it is TIME_LIMIT. Whether the package has reproduced its fixtures is
 * another question: see `createConformance`.
 *
 * Throws CHECKER_STAGE_UNKNOWN, CHECKER_REFERENCE_MISSING, CHECKER_REFERENCE_TOO_LARGE, CHECKER_RUNTIME_UNBOUND,
 * CHECKER_SCHEMA_UNCHECKED, and what the sandbox throws.
 */
export async function runStage(
  _deps: CheckDeps,
  _request: StageRequest,
  _signal: AbortSignal,
): Promise<StageEnd> {
  throw new TypeError('not yet');
}
