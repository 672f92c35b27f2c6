import type { Contract } from '@kervyxa/contract';
import type { TreeArchive } from '@kervyxa/core';
import type { VerifierDeps } from '../verify-commit.ts';
import type { ProvingColumn, ProvingReport } from './report.ts';

export interface ProveRequest {
  /** Approved by lint. */
  readonly contract: Contract;
  readonly contractDigest: string;
  readonly verifierPackage: TreeArchive | null;
  readonly dependencies: TreeArchive | null;
  /** How often each criterion runs on the first known-good commit; at least 2. */
  readonly replays: number;
}

export type ProvingEvent =
  /** `total` may grow while the known-good commit is not known yet. */
  | {
      readonly kind: 'column_started';
      readonly title: string;
      readonly done: number;
      readonly total: number;
    }
  | { readonly kind: 'column_finished'; readonly column: ProvingColumn }
  | { readonly kind: 'replay_finished'; readonly done: number; readonly total: number };

export interface ProveOptions {
  readonly signal: AbortSignal;
  readonly onEvent?: (event: ProvingEvent) => void;
}

export const REPLAYS_DEFAULT = 3;

/** The signature that the command line and the worker are written against. */
export type Prove = (
  deps: VerifierDeps,
  request: ProveRequest,
  options: ProveOptions,
) => Promise<ProvingReport>;
