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
