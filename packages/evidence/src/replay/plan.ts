import { parseContract, type Contract, type PublicContract } from '@kervyxa/contract';
import { isAppError } from '@kervyxa/core';
import { BASE_CAPTURE, SOURCE_CAPTURE } from '../bundle/manifest.ts';
import type { VerifiedBundle } from '../bundle/verify-texts.ts';

/** What can be run again of a bundle. */
export type ReplayPlan =
  | {
      readonly kind: 'run';
      /** The contract, of the public view without what only the full one could run. */
      readonly contract: Contract;
      /** Criteria that can't be run again from this bundle: then no verdict can be told, be the rest as it was. */
      readonly skipped: readonly string[];
    }
  /** A sentence. */
  | { readonly kind: 'impossible'; readonly why: string };

/**
 * Without the captures nothing can be run; packages that were not given to the run it lacks again. Of the public view
 * hidden criteria and those of checker packages are left out.
 */
export function planReplay({ contract, absent }: VerifiedBundle): ReplayPlan {
  const missing = [BASE_CAPTURE, SOURCE_CAPTURE].filter((path) =>
    absent.some((each) => each === path),
  );
  if (missing.length > 0) {
    const why = `the bundle has no ${missing.join(' and no ')}: the commit was never fetched, or is too large to capture`;
    return { kind: 'impossible', why };
  }
  if ('verifierPackage' in contract) return { kind: 'run', contract, skipped: [] };
  const runnable = contract.criteria.filter(isRunnable);
  const skipped = contract.criteria.filter((each) => !isRunnable(each)).map(({ id }) => id);
  if (runnable.length === 0) {
    return {
      kind: 'impossible',
      why: 'no criterion can be run from this bundle: hidden ones and checker packages are not in it',
    };
  }
  try {
    return { kind: 'run', contract: toContract(contract, runnable), skipped };
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { kind: 'impossible', why: error.message };
  }
}

type PublicCriterion = PublicContract['criteria'][number];

function isRunnable({ visibility, type }: PublicCriterion): boolean {
  return visibility === 'public' && type !== 'checker';
}

/** A contract again: whom it was open to and what money it was about decide no criterion. */
function toContract(
  { hasVerifierPackage: _has, ...open }: PublicContract,
  criteria: readonly PublicCriterion[],
): Contract {
  const submission = { ...open.submission, policy: 'PUBLIC' };
  return parseContract({ ...open, criteria, submission });
}
