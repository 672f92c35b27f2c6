import type { ErrorTraits } from '@kervyxa/core';

const caller = (httpStatus: number) => (meaning: string) =>
  ({ fault: 'caller', retryable: false, httpStatus, exitCode: 2, meaning }) as const;
const forbidden = caller(403);
const unknown = caller(404);
const conflict = caller(409);
const refused = caller(422);

/** Refusals of checks and problems; `errors.ts` has them in the package's one table. */
export const STAGE_ERRORS = {
  CHECKER_CHECK_NOT_WAITING: conflict('The check does not wait for that.'),
  CHECKER_ATTEMPT_STALE: conflict('The attempt is not the one that runs, so it changes nothing.'),
  CHECKER_NODE_UNKNOWN: unknown('The review protocol has no node with seats of that key.'),
  CHECKER_JUDGE_NOT_CALLED: forbidden('The review protocol does not call the person to judge.'),
  CHECKER_JUDGE_PARTIAL: forbidden(
    'A party, or somebody whom a party invited, wants to judge or to report.',
  ),
  CHECKER_SEAT_UNKNOWN: unknown('The caller holds no such seat, or not any more.'),
  CHECKER_SEAT_DUPLICATE: conflict('The person has a seat of the review already.'),
  CHECKER_SEATS_FULL: conflict('The node has no free seat, or is not asked.'),
  CHECKER_CLAIMS_USED: conflict('The person has claimed seats of the node as often as one may.'),
  CHECKER_REPORT_UNSIGNED: forbidden(
    'A report on an external stage without a good signature of the system that the stage names.',
  ),
  CHECKER_EVIDENCE_REFUSED: refused("Reported evidence breaks the stage's schema."),
  CHECKER_JUDGMENT_MISSING: refused("A partner's report without the partner's judgment."),
  CHECKER_KEY_REFUSED: refused('The key is no Ed25519 public key in PEM form.'),
  CHECKER_CONTRACT_YANKED: conflict('The contract is withdrawn from new problems.'),
  CHECKER_PROBLEM_STATE_REFUSED: conflict('The problem is in a state that does not allow it.'),
  CHECKER_SLOT_UNKNOWN: unknown('The contract has no reference slot of that key.'),
  CHECKER_SLOT_UNBOUND: conflict('A required reference slot is bound to nothing.'),
  CHECKER_BINDING_REFUSED: refused('What a slot is bound to is not what the contract takes.'),
  CHECKER_SEALING_REFUSED: conflict(
    'Sealed slots and the sealing policy do not go together, or its times are over.',
  ),
  CHECKER_ALREADY_RELEASED: conflict('What was sealed is released, or nothing is.'),
  CHECKER_FINGERPRINT_STALE: conflict('What a release would do is not what was prepared.'),
  CHECKER_NOT_INVITED: forbidden('Only those whom the owner invited submit to the problem.'),
  CHECKER_ENTRIES_CLOSED: conflict('The time to submit and to nominate is over.'),
  CHECKER_ENTRIES_USED: conflict('The participant has as many entries as one may.'),
  CHECKER_PROBLEM_FULL: conflict('The problem has as many participants as it may.'),
  CHECKER_ENTRY_UNKNOWN: unknown('There is no such entry of the caller.'),
  CHECKER_NOMINATION_UNWANTED: conflict('The problem judges every entry, so none is nominated.'),
  CHECKER_NOMINATION_PARTIAL: forbidden(
    'Somebody who could read the sealed bytes nominates an entry.',
  ),
  CHECKER_TRANSITION_ILLEGAL: {
    fault: 'bug',
    retryable: false,
    httpStatus: 500,
    exitCode: 70,
    meaning: 'A defect of this program: a change of state that no rule has.',
  },
} as const satisfies Readonly<Record<string, ErrorTraits>>;
