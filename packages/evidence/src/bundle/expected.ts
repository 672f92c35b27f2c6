import { checkerDigestsOf, type Contract, type PublicContract } from '@kervyxa/contract';
import {
  BASE_CAPTURE,
  checkerPath,
  DEPENDENCIES,
  PACKAGE,
  SOURCE_CAPTURE,
  type FileRef,
} from './manifest.ts';

/**
 * Paths of the archives that a run of this contract has, in the order of the bundle. The public view has no hidden
 * package and no checker packages, whose reference inputs are answers; dependencies lie beside the solver's code at
 * every public criterion, so that they are nobody's secret.
 */
export function expectedBlobs(contract: Contract | PublicContract): FileRef['path'][] {
  const { dependencies } = contract.environment;
  const captures = [BASE_CAPTURE, SOURCE_CAPTURE] as const;
  const shared = dependencies === null ? captures : ([...captures, DEPENDENCIES] as const);
  if (!('verifierPackage' in contract)) return [...shared];
  return [
    ...shared,
    ...(contract.verifierPackage === null ? [] : ([PACKAGE] as const)),
    ...checkerDigestsOf(contract).toSorted().map(checkerPath),
  ];
}

/** The digest that the contract froze for an archive; null for captures, of which it knows nothing. */
export function frozenDigest(contract: Contract | PublicContract, path: string): string | null {
  if (path === DEPENDENCIES) return contract.environment.dependencies?.sha256 ?? null;
  if ('verifierPackage' in contract && path === PACKAGE) {
    return contract.verifierPackage?.sha256 ?? null;
  }
  return /^checkers\/([0-9a-f]{64})\.tar$/.exec(path)?.[1] ?? null;
}
