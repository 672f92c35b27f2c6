import type { ChallengeCase, SubmissionCase } from '../case.ts';
import { openChallengesOf } from '../challenges.ts';
import type { Command } from '../command.ts';
import { addChallenge, addTransfer, laterBy, type Draft, type Refusal } from '../draft.ts';
import { createSettlementError } from '../errors.ts';
import { planBond } from '../ledger/plans.ts';
import { joinRerun } from '../reruns.ts';

type ChallengeCommand = Extract<Command, { kind: 'challenge' }>;

export function challenge(draft: Draft, command: ChallengeCommand): Refusal {
  const holder = draft.submissions.find(
    ({ id, state }) => id === command.submissionId && state === 'PASSED',
  );
  if (holder === undefined)
    return createSettlementError('SETTLEMENT_PASS_NOT_HELD', {
      message: `expected a submission that holds the pass, got ${command.submissionId}`,
      fix: 'Challenge the submission that holds the pass, while its window is open.',
    });
  return command.challenge === 'UPHOLD_PASS'
    ? answer(draft, command, holder)
    : dispute(draft, command, holder);
}

/** Says that the pass is wrong, and puts up a bond for it. */
function dispute(draft: Draft, command: ChallengeCommand, holder: SubmissionCase): Refusal {
  const refusal =
    refuseSolver(holder, command.challengerId) ??
    refuseWindow(draft, holder) ??
    refuseSecond(draft, command) ??
    refuseFull(draft, command, draft.contract.requesterId);
  if (refusal !== null) return refusal;
  const { challengeId, challengerId, submissionId, challenge: kind } = command;
  const { challengeBondMinor: bondMinor, currency, responseWindowMs } = draft.contract;
  addTransfer(draft, planBond({ challengeId, challengerId, amountMinor: bondMinor, currency }));
  const wantsRerun = kind === 'RERUN_VERIFICATION';
  addChallenge(draft, {
    id: challengeId,
    submissionId,
    challengerId,
    kind,
    state: wantsRerun ? 'RERUNNING' : 'AWAITING_ARBITER',
    bondMinor,
    // The whole time to answer, even where the challenge came at the last moment of the window.
    respondBy: laterBy(draft, responseWindowMs),
    decideBy: laterBy(draft, responseWindowMs + draft.policy.arbitrationMs),
    runIds: wantsRerun ? [joinRerun(draft, submissionId)] : [],
    rerunOrdered: false,
  });
  return null;
}

/** Says that the pass is right: an answer, as long as somebody waits for one. */
function answer(draft: Draft, command: ChallengeCommand, holder: SubmissionCase): Refusal {
  const open = openChallengesOf(draft, holder.id).filter(({ respondBy }) => draft.now < respondBy);
  const last = open.at(-1);
  if (last === undefined)
    return createSettlementError('SETTLEMENT_NOTHING_TO_ANSWER', {
      message: 'expected an open challenge that can still be answered, got none',
    });
  const { challengeId, challengerId, submissionId } = command;
  const refusal = hasAnswered(draft, last, challengerId)
    ? refuseDuplicate('one answer to each challenge')
    : refuseFull(draft, command, holder.solverId);
  if (refusal !== null) return refusal;
  const respondBy = laterBy(draft, draft.contract.responseWindowMs);
  addChallenge(draft, {
    id: challengeId,
    submissionId,
    challengerId,
    kind: 'UPHOLD_PASS',
    state: 'NOTED',
    bondMinor: 0n,
    respondBy,
    decideBy: respondBy,
    runIds: [],
    rerunOrdered: false,
  });
  return null;
}

/** Whether somebody filed an answer after the challenge. */
export function hasAnswered(
  { challenges }: Pick<Draft, 'challenges'>,
  { id, submissionId }: ChallengeCase,
  principalId: string,
): boolean {
  const filed = challenges.findIndex((each) => each.id === id);
  return challenges.some(
    (each, index) =>
      index > filed &&
      each.kind === 'UPHOLD_PASS' &&
      each.submissionId === submissionId &&
      each.challengerId === principalId,
  );
}

function refuseSolver({ solverId }: SubmissionCase, challengerId: string): Refusal {
  if (challengerId !== solverId) return null;
  return createSettlementError('SETTLEMENT_OWN_SUBMISSION', {
    message: 'expected a challenger who is not the solver, got the solver',
    fix: 'Answer a challenge with UPHOLD_PASS.',
  });
}

function refuseWindow({ now }: Draft, { window }: SubmissionCase): Refusal {
  if (window !== null && window.opensAt <= now && now < window.closesAt) return null;
  return createSettlementError('SETTLEMENT_WINDOW_CLOSED', {
    message: `expected a time before ${window?.closesAt.toISOString()}, got ${now.toISOString()}`,
  });
}

function refuseSecond(draft: Draft, { submissionId, challengerId }: ChallengeCommand): Refusal {
  const isOpen = openChallengesOf(draft, submissionId).some(
    (each) => each.challengerId === challengerId,
  );
  return isOpen ? refuseDuplicate('one open challenge of each challenger') : null;
}

function refuseDuplicate(expected: string): Refusal {
  return createSettlementError('SETTLEMENT_CHALLENGE_DUPLICATE', {
    message: `expected ${expected}, got a second`,
    fix: 'Wait until the first is decided.',
  });
}

/**
 * Answers cost nothing, so they are counted apart: nobody can use up the places of challenges with them. Nor can anybody
 * use up the place of the party that is concerned: the requester may always challenge, the solver always answer.
 */
function refuseFull(
  { challenges, policy }: Draft,
  { submissionId, challengerId, challenge: kind }: ChallengeCommand,
  partyId: string,
): Refusal {
  const isAnswer = kind === 'UPHOLD_PASS';
  const count = challenges.filter(
    (each) =>
      each.submissionId === submissionId &&
      each.state !== 'VOIDED' &&
      (each.kind === 'UPHOLD_PASS') === isAnswer,
  ).length;
  if (count < policy.challengesMax || challengerId === partyId) return null;
  return createSettlementError('SETTLEMENT_CHALLENGES_FULL', {
    message: `expected fewer than ${policy.challengesMax} challenges of one submission, got ${count}`,
  });
}
