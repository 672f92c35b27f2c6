import { canonicalDigest, toPrintable } from '@kervyxa/core';
import type { CheckerPackage } from '../package/checker-package.ts';
import { checkerError } from '../errors.ts';
import type { ContractTerms, VerifierContract } from './schema.ts';

/** `sha256:…` over what decides: contracts with equal digests accept the same, whatever they are called. */
export function termsDigest(terms: ContractTerms): string {
  return canonicalDigest(terms);
}

/** What decides in a published contract. */
export function termsOf(contract: VerifierContract): ContractTerms {
  const {
    id: _id,
    verifier_id: _verifier,
    version_number: _version,
    created_by_user_id: _author,
    created_at: _time,
    yanked_at: _yanked,
    ...terms
  } = contract;
  return terms;
}

/** A published program of a sandbox stage. */
export interface PublishedProgram {
  readonly contractId: string;
  readonly stageKey: string;
  readonly programDigest: string;
}

/** All that was published under one verifier. */
export interface PublishedFamily {
  /** Null where there is none yet. */
  readonly verifierId: string | null;
  /** In any order. */
  readonly contracts: readonly VerifierContract[];
  readonly programs: readonly PublishedProgram[];
}

export type PublicationPlan =
  /** The words are the same: nothing that refers to the contract changes. */
  | {
      readonly kind: 'same_contract';
      readonly contractId: string;
      /** Keys of the stages that get another program; none where all of it is published. */
      readonly newPrograms: readonly string[];
    }
  | {
      readonly kind: 'new_contract';
      readonly versionNumber: number;
      readonly newPrograms: readonly string[];
    };

/**
 * What publishing a package comes to. Equal terms are the same contract, with a corrected program where that is another
 * one, also under a contract that was withdrawn; any other terms are the next version. Review protocols are named by
 * their ids by then, for another protocol is another acceptance.
 *
 * Throws CHECKER_CONTRACT_IMMUTABLE, CHECKER_VERSION_NOT_NEXT, CHECKER_VERIFIER_MISMATCH where the package says of
 * itself that it is something else.
 */
export function planPublication(
  family: PublishedFamily,
  candidate: Pick<
    CheckerPackage,
    'contract' | 'contractId' | 'verifierId' | 'versionNumber' | 'programs'
  >,
): PublicationPlan {
  if (candidate.verifierId !== null && candidate.verifierId !== family.verifierId) {
    throw checkerError('CHECKER_VERIFIER_MISMATCH', {
      message: `expected a package of ${family.verifierId ?? 'a new verifier'}, got one that says it is of ${toPrintable(candidate.verifierId, 60)}`,
      fix: 'Name its own family, or take verifier_id, id and version_number out of verifier-contract.json.',
    });
  }
  const digest = termsDigest(candidate.contract);
  const same = family.contracts.find((each) => termsDigest(termsOf(each)) === digest);
  if (same !== undefined) {
    assertStated(candidate, same.id, same.version_number);
    return {
      kind: 'same_contract',
      contractId: same.id,
      newPrograms: newPrograms(family, same.id, candidate),
    };
  }
  const versionNumber = nextVersion(family.contracts);
  if (family.contracts.some(({ id }) => id === candidate.contractId)) {
    throw checkerError('CHECKER_CONTRACT_IMMUTABLE', {
      message: `expected the terms that ${toPrintable(candidate.contractId ?? '', 60)} was published with, got others`,
      fix: 'Take id and version_number out of verifier-contract.json: what accepts something else is a new version.',
    });
  }
  assertStated(candidate, candidate.contractId, versionNumber);
  return { kind: 'new_contract', versionNumber, newPrograms: [...candidate.programs.keys()] };
}

function assertStated(
  stated: Pick<CheckerPackage, 'contractId' | 'versionNumber'>,
  contractId: string | null,
  versionNumber: number,
): void {
  const isOther =
    (stated.versionNumber ?? versionNumber) !== versionNumber ||
    (stated.contractId ?? contractId) !== contractId;
  if (!isOther) return;
  throw checkerError('CHECKER_VERSION_NOT_NEXT', {
    message: `expected version ${versionNumber}${contractId === null ? '' : ` of ${toPrintable(contractId, 60)}`}, got a package that says it is version ${stated.versionNumber ?? 'none'} of ${toPrintable(stated.contractId ?? 'none', 60)}`,
    fix: 'Take id and version_number out of verifier-contract.json: publication gives them.',
  });
}

function newPrograms(
  { programs }: PublishedFamily,
  contractId: string,
  candidate: Pick<CheckerPackage, 'programs'>,
): string[] {
  const known = new Set(
    programs
      .filter((each) => each.contractId === contractId)
      .map(({ stageKey, programDigest }) => `${stageKey} ${programDigest}`),
  );
  return [...candidate.programs]
    .filter(([stageKey, { digest }]) => !known.has(`${stageKey} ${digest}`))
    .map(([stageKey]) => stageKey);
}

/** Versions count from 1 without a gap, withdrawn ones included. */
function nextVersion(contracts: readonly VerifierContract[]): number {
  return Math.max(0, ...contracts.map(({ version_number: version }) => version)) + 1;
}
