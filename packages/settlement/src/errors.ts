import { defineErrors } from '@kervyxa/core';
import { LEDGER_ERRORS } from './ledger/errors.ts';

const conflict = (meaning: string) =>
  ({ fault: 'caller', retryable: false, httpStatus: 409, exitCode: 2, meaning }) as const;
const forbidden = (meaning: string) =>
  ({ fault: 'caller', retryable: false, httpStatus: 403, exitCode: 2, meaning }) as const;
const bug = (meaning: string) =>
  ({ fault: 'bug', retryable: false, httpStatus: 500, exitCode: 70, meaning }) as const;

const { table, create } = defineErrors({
  SETTLEMENT_CONTRACT_UNKNOWN: {
    fault: 'caller',
    retryable: false,
    httpStatus: 404,
    exitCode: 2,
    meaning: 'There is no contract with this id.',
  },
  SETTLEMENT_CONTRACT_STATE_REFUSED: conflict('The contract is in a state that does not allow it.'),
  SETTLEMENT_CONTRACT_CLOSED: conflict('The closing time of the contract is over.'),
  SETTLEMENT_CANCEL_BLOCKED: conflict(
    'A submission is undecided or deferred, so the reward stays in escrow.',
  ),
  SETTLEMENT_OWN_CONTRACT: forbidden('The requester submits to the own contract.'),
  SETTLEMENT_LINE_FULL: conflict('The contract has as many undecided submissions as it may.'),
  SETTLEMENT_SOLVER_LINE_FULL: conflict(
    'The solver has as many undecided submissions to the contract as one may.',
  ),
  SETTLEMENT_ATTEMPTS_USED: conflict(
    'The solver has had as many commits run for the contract as one may.',
  ),
  SETTLEMENT_CAPTURE_NOT_WANTED: conflict('The submission does not wait for its commit any more.'),
  SETTLEMENT_RUN_NOT_WANTED: conflict('Nobody wants the result of the run any more.'),
  SETTLEMENT_RUN_ATTEMPT_STALE: conflict(
    'The attempt is not the one that runs, so its result changes nothing.',
  ),
  SETTLEMENT_RETRY_REFUSED: conflict(
    'The submission is neither held nor undecided for a reason that another try can mend.',
  ),
  SETTLEMENT_PASS_NOT_HELD: conflict('The submission does not hold the pass.'),
  SETTLEMENT_WINDOW_CLOSED: conflict('The challenge window is over.'),
  SETTLEMENT_OWN_SUBMISSION: forbidden('The solver challenges the own submission.'),
  SETTLEMENT_CHALLENGE_DUPLICATE: conflict(
    'The same person has an open challenge of the submission, or has answered all of them.',
  ),
  SETTLEMENT_CHALLENGES_FULL: conflict('The submission has as many challenges as it may.'),
  SETTLEMENT_NOTHING_TO_ANSWER: conflict('No open challenge waits for an answer.'),
  SETTLEMENT_CHALLENGE_NOT_OPEN: conflict('The challenge does not wait for the arbiter.'),
  SETTLEMENT_ARBITER_PARTIAL: forbidden(
    'The arbiter is the requester, a solver in line, or has challenged or answered.',
  ),
  SETTLEMENT_RESPONSE_RUNNING: conflict('The solver has not answered and still has time to do so.'),
  SETTLEMENT_RERUN_USED: conflict('The arbiter has ordered a rerun for the challenge before.'),
  SETTLEMENT_ARBITRATION_CLOSED: conflict('The time of the arbiter is over.'),
  SETTLEMENT_TRANSITION_ILLEGAL: bug(
    'A defect of this program: a change of state that no rule has.',
  ),
  SETTLEMENT_CASE_INCONSISTENT: bug(
    'A defect of this program: a case that lacks a part, or has one twice.',
  ),
  ...LEDGER_ERRORS,
});

export type SettlementErrorCode = keyof typeof table;
export const SETTLEMENT_ERRORS = table;
export const createSettlementError = create;
