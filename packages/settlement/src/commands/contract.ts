import type { AppError } from '@kervyxa/core';
import type { ContractState } from '../case.ts';
import { type Draft, moveContract, type Refusal } from '../draft.ts';
import { isActive } from '../due.ts';
import { createSettlementError } from '../errors.ts';
import { fundEscrow, refundEscrow } from '../escrow.ts';

export function prove(draft: Draft): Refusal {
  const refusal = refuseState(draft, ['DRAFT']);
  if (refusal === null) moveContract(draft, 'PROVED');
  return refusal;
}

/** A proof is of one document: an edit makes a draft again. */
export function revise(draft: Draft): Refusal {
  const refusal = refuseState(draft, ['DRAFT', 'PROVED']);
  if (refusal === null && draft.contract.state === 'PROVED') moveContract(draft, 'DRAFT');
  return refusal;
}

export function fund(draft: Draft): Refusal {
  const refusal = refuseState(draft, ['PROVED']) ?? refuseClosed(draft);
  if (refusal === null) fundEscrow(draft);
  return refusal;
}

export function cancel(draft: Draft): Refusal {
  const refusal = refuseState(draft, ['DRAFT', 'PROVED', 'OPEN']) ?? refuseActive(draft);
  if (refusal !== null) return refusal;
  if (draft.contract.state === 'OPEN') refundEscrow(draft);
  moveContract(draft, 'CANCELLED');
  return null;
}

export function refuseState(
  { contract }: Pick<Draft, 'contract'>,
  allowed: readonly ContractState[],
): Refusal {
  if (allowed.includes(contract.state)) return null;
  return createStateRefused(contract.state, allowed);
}

const ENDED = 'It has ended, and nothing moves it any more: use another contract.';

/** What comes next for a contract in such a state. */
const NEXT: Readonly<Record<ContractState, string>> = {
  DRAFT: 'It is a draft: it is approved first, and then funded.',
  PROVED: 'It is approved and waits for its funds: it is funded next, and opens with that.',
  OPEN: 'It holds its funds and takes submissions: cancel it to begin anew.',
  IN_CHALLENGE: 'A submission holds the pass: wait until its challenge window has ended.',
  SETTLED: ENDED,
  EXPIRED: ENDED,
  CANCELLED: ENDED,
};

export function createStateRefused(
  state: ContractState,
  allowed: readonly ContractState[],
): AppError {
  return createSettlementError('SETTLEMENT_CONTRACT_STATE_REFUSED', {
    message: `expected a contract that is ${allowed.join(' or ')}, got ${state}`,
    fix: NEXT[state],
    details: { state },
  });
}

export function refuseClosed({ contract, now }: Pick<Draft, 'contract' | 'now'>): Refusal {
  if (now < contract.closesAt) return null;
  return createSettlementError('SETTLEMENT_CONTRACT_CLOSED', {
    message: `expected a time before ${contract.closesAt.toISOString()}, got ${now.toISOString()}`,
    fix: 'Use a contract that closes later.',
  });
}

function refuseActive({ submissions }: Draft): Refusal {
  const count = submissions.filter(isActive).length;
  if (count === 0) return null;
  return createSettlementError('SETTLEMENT_CANCEL_BLOCKED', {
    message: `expected no undecided submission, got ${count}`,
    fix: 'Wait until all submissions are decided and none holds the pass.',
  });
}
