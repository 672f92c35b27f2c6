import type { ChallengeCase } from './case.ts';
import {
  addTransfer,
  laterBy,
  type Draft,
  moveChallenge,
  moveSubmission,
  submissionOf,
} from './draft.ts';
import { planBondForfeit, planBondReturn } from './ledger/plans.ts';
import { abandonRuns } from './runs.ts';

export function isOpenChallenge({ state }: ChallengeCase): boolean {
  return state === 'RERUNNING' || state === 'AWAITING_ARBITER';
}

/** Challenges of a submission that block its settlement, in order of filing. */
export function openChallengesOf(
  { challenges }: Pick<Draft, 'challenges'>,
  submissionId: string,
): readonly ChallengeCase[] {
  return challenges.filter((each) => each.submissionId === submissionId && isOpenChallenge(each));
}

/** Ends all open challenges of a submission; their bonds go back. */
export function endChallenges(
  draft: Draft,
  submissionId: string,
  to: 'OVERTURNED' | 'VOIDED',
): void {
  for (const challenge of openChallengesOf(draft, submissionId)) giveBack(draft, challenge, to);
}

/** The machine's verdict stands: the bond is the price of having been wrong. */
export function upholdPass(draft: Draft, challenge: ChallengeCase): void {
  const { id: challengeId, submissionId, bondMinor: amountMinor } = challenge;
  const { solverId } = submissionOf(draft, submissionId);
  const { currency } = draft.contract;
  moveChallenge(draft, challengeId, 'UPHELD');
  addTransfer(draft, planBondForfeit({ challengeId, solverId, amountMinor, currency }));
}

/** The submission loses the pass for ever, whoever of its challengers was heard first. */
export function overturnPass(draft: Draft, submissionId: string): void {
  moveSubmission(draft, submissionId, 'OVERTURNED');
  endChallenges(draft, submissionId, 'OVERTURNED');
  abandonRuns(draft, submissionId);
}

/** The arbiter's time ran out: the machine's verdict stands, and the challenger was not heard. */
export function lapseChallenge(draft: Draft, challenge: ChallengeCase): void {
  giveBack(draft, challenge, 'LAPSED');
}

/** What no rerun can decide a person does, with the whole time for it from now on. */
export function askArbiter(draft: Draft, challenge: ChallengeCase): void {
  const now = draft.now.getTime();
  const waited = Math.max(challenge.respondBy.getTime() - now, 0);
  const decideBy = laterBy(draft, waited + draft.policy.arbitrationMs);
  moveChallenge(draft, challenge.id, 'AWAITING_ARBITER', { decideBy });
}

function giveBack(
  draft: Draft,
  challenge: ChallengeCase,
  to: 'OVERTURNED' | 'VOIDED' | 'LAPSED',
): void {
  const { id: challengeId, challengerId, bondMinor: amountMinor } = challenge;
  const { currency } = draft.contract;
  moveChallenge(draft, challengeId, to);
  addTransfer(draft, planBondReturn({ challengeId, challengerId, amountMinor, currency }));
}
