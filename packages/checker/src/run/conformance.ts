import type { CheckerPackage } from '../package/checker-package.ts';
import type { CheckDeps } from './check-deps.ts';
import type { StageEnd } from './stage-end.ts';

/** How one conformance fixture went. */
export interface FixtureReport {
  readonly key: string;
  readonly expected: { readonly result: string; readonly score: number | null };
  readonly got: { readonly result: StageEnd['kind']; readonly score: number | null };
  readonly ok: boolean;
  /** One printable sentence. */
  readonly message: string;
}

/** Whether the program of one sandbox stage reproduces every fixture of the stage. */
export interface ConformanceReport {
  readonly stageKey: string;
  /** Of the program, as in `CheckerPackage.programs`. */
  readonly programDigest: string;
  /** The image id that ran it. */
  readonly image: string;
  readonly isConformant: boolean;
  /** Why not, in one printable sentence; null where it is. */
  readonly problem: string | null;
  /** In the order of the contract. */
  readonly fixtures: readonly FixtureReport[];
}

export interface ConformanceListener {
  /** Only for whoever starts the run; a remembered report comes without. */
  onFixture?(report: FixtureReport): void;
}

export type Conformance = (
  deps: CheckDeps,
  checker: CheckerPackage,
  stageKey: string,
  signal: AbortSignal,
  listener?: ConformanceListener,
) => Promise<ConformanceReport>;

/**
 * Remembers reports by package digest, stage and image id for as long as it lives, so that whoever judges has seen
 * every fixture reproduced itself. Trouble of ours is not remembered; who asks meanwhile shares the run.
 *
 * Throws what `runStage` throws.
 */
export function createConformance(): Conformance {
  return async () => {
    throw new TypeError('not yet');
  };
}
