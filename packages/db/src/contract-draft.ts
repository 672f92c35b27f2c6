import { type Contract, contractDigest } from '@kervyxa/contract';
import { canonicalJson } from '@kervyxa/core';
import type { ContractDraft } from './ports.ts';

/** A contract together with the columns that are drawn from it. */
export function toContractDraft(contract: Contract): ContractDraft {
  const { repository, submission, settlement } = contract;
  return {
    document: canonicalJson(contract),
    digest: contractDigest(contract),
    title: contract.title,
    contractKind: contract.kind,
    repositoryUrl: repository.url,
    baseCommit: repository.baseCommit,
    packageSha256: contract.verifierPackage?.sha256 ?? null,
    dependenciesSha256: contract.environment.dependencies?.sha256 ?? null,
    closesAt: new Date(submission.closesAt),
    rewardMinor: BigInt(settlement.reward.amountMinor),
    currency: settlement.reward.currency,
    feeBps: settlement.feeBps,
    windowSeconds: settlement.challengeWindowSeconds,
    responseSeconds: settlement.responseWindowSeconds,
    bondMinor: BigInt(settlement.challengeBondMinor),
    inviteOnly: submission.policy === 'INVITE_ONLY',
    invitedIds: submission.invited,
    needsClaim: submission.claim === 'trailer',
  };
}
