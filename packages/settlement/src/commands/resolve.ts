import type { ChallengeCase } from '../case.ts';
import { overturnPass, upholdPass } from '../challenges.ts';
import type { Command } from '../command.ts';
import { type Draft, linkRun, moveChallenge, type Refusal, submissionOf } from '../draft.ts';
import { createSettlementError } from '../errors.ts';
import { joinRerun } from '../reruns.ts';
import { hasAnswered } from './challenge.ts';

/** What a person decides that no rerun could. */
export function resolve(draft: Draft, command: Extract<Command, { kind: 'resolve' }>): Refusal {
  const challenge = draft.challenges.find(
    ({ id, state }) => id === command.challengeId && state === 'AWAITING_ARBITER',
  );
  if (challenge === undefined)
    return createSettlementError('SETTLEMENT_CHALLENGE_NOT_OPEN', {
      message: `expected a challenge that waits for the arbiter, got ${command.challengeId}`,
    });
  const refusal = refuseParty(draft, challenge, command.arbiterId) ?? refuseLate(draft, challenge);
  if (refusal !== null) return refusal;
  if (command.decision === 'RERUN_VERIFICATION') return orderRerun(draft, challenge);
  const early = refuseEarly(draft, challenge);
  if (early !== null) return early;
  if (command.decision === 'UPHOLD_PASS') upholdPass(draft, challenge);
  else overturnPass(draft, challenge.submissionId);
  return null;
}

function orderRerun(draft: Draft, { id, submissionId, rerunOrdered }: ChallengeCase): Refusal {
  if (rerunOrdered)
    return createSettlementError('SETTLEMENT_RERUN_USED', {
      message: 'expected at most one rerun ordered for a challenge, got a second',
      fix: 'Decide with UPHOLD_PASS or OVERTURN_PASS.',
    });
  moveChallenge(draft, id, 'RERUNNING', { rerunOrdered: true });
  linkRun(draft, id, joinRerun(draft, submissionId));
  return null;
}

/** Whoever has a stake in the outcome: a place in line behind the pass, or a bond that it decides about. */
function refuseParty(draft: Draft, challenge: ChallengeCase, arbiterId: string): Refusal {
  const { contract, submissions, challenges } = draft;
  const isParty =
    contract.requesterId === arbiterId ||
    submissions.some(({ solverId }) => solverId === arbiterId) ||
    challenges.some(
      ({ submissionId, challengerId }) =>
        submissionId === challenge.submissionId && challengerId === arbiterId,
    );
  if (!isParty) return null;
  return createSettlementError('SETTLEMENT_ARBITER_PARTIAL', {
    message:
      'expected an arbiter who is no party, got the requester, a solver in line, or one who challenged or answered',
    fix: 'Have another arbiter decide.',
  });
}

function refuseLate({ now }: Draft, { decideBy }: ChallengeCase): Refusal {
  if (now < decideBy) return null;
  return createSettlementError('SETTLEMENT_ARBITRATION_CLOSED', {
    message: `expected a time before ${decideBy.toISOString()}, got ${now.toISOString()}`,
  });
}

function refuseEarly(draft: Draft, challenge: ChallengeCase): Refusal {
  const { solverId } = submissionOf(draft, challenge.submissionId);
  if (draft.now >= challenge.respondBy || hasAnswered(draft, challenge, solverId)) return null;
  return createSettlementError('SETTLEMENT_RESPONSE_RUNNING', {
    message: `expected an answer of the solver or a time at or after ${challenge.respondBy.toISOString()}, got ${draft.now.toISOString()}`,
    fix: 'Decide when the solver has answered or the time for it is over.',
  });
}
