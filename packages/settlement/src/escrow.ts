import type { SubmissionCase } from './case.ts';
import { addTransfer, type Draft, moveContract, moveSubmission } from './draft.ts';
import { feeOf, planEscrowFunding, planPayout, planRefund } from './ledger/plans.ts';
import { abandonRuns } from './runs.ts';

export function fundEscrow(draft: Draft): void {
  addTransfer(draft, planEscrowFunding(rewardOf(draft)));
  moveContract(draft, 'OPEN');
}

/** Back to the requester: the contract ends without a winner. */
export function refundEscrow(draft: Draft): void {
  addTransfer(draft, planRefund(rewardOf(draft)));
  draft.effects.push({ kind: 'escrow_resolved', resolution: 'REFUND' });
}

/** Pays the winner. Everybody behind goes without; nobody before it can be undecided. */
export function settleContract(draft: Draft, winner: SubmissionCase): void {
  payWinner(draft, winner);
  draft.effects.push({ kind: 'escrow_resolved', resolution: 'PAYOUT' });
  moveSubmission(draft, winner.id, 'PAID');
  for (const { id, state } of draft.submissions) {
    if (state !== 'RECEIVED' && state !== 'DEFERRED' && state !== 'HELD') continue;
    moveSubmission(draft, id, 'SUPERSEDED');
    abandonRuns(draft, id);
  }
  moveContract(draft, 'SETTLED');
}

function payWinner(draft: Draft, { id: submissionId, solverId }: SubmissionCase): void {
  const { id: contractId, rewardMinor, currency, feeBps } = draft.contract;
  const reward = { contractId, amountMinor: rewardMinor, currency, feeBps };
  if (draft.policy.rail === 'internal') {
    addTransfer(draft, planPayout({ ...reward, to: { solverId } }));
    return;
  }
  const payoutId = draft.newId('payout');
  const amountMinor = rewardMinor - feeOf(rewardMinor, feeBps);
  addTransfer(draft, planPayout({ ...reward, to: { payoutId } }));
  draft.effects.push({
    kind: 'payout_due',
    payoutId,
    submissionId,
    solverId,
    amountMinor,
    currency,
  });
}

function rewardOf(draft: Draft): Parameters<typeof planRefund>[0] {
  const { id: contractId, requesterId, rewardMinor: amountMinor, currency } = draft.contract;
  return { contractId, requesterId, amountMinor, currency };
}
