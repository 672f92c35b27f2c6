import { checkerError } from '../errors.ts';
import type { CheckCase, CheckStage, ReviewRound, Seat } from './check-case.ts';
import type { Judge } from './check-command.ts';
import { type CheckDraft, currentStage, type Refusal } from './check-draft.ts';
import type { ProblemCase } from './problem-case.ts';
import { reduceReview } from './reduce-review.ts';
import { type ReviewProtocol, seatsOf } from './review-protocol.ts';

/** A review that takes judgments. */
export interface OpenReview {
  readonly stage: Extract<CheckStage, { kind: 'review' }>;
  readonly protocol: ReviewProtocol;
  readonly round: ReviewRound;
}

export function openReviewOf(draft: CheckDraft): OpenReview | null {
  const stage = currentStage(draft);
  const { review: round } = draft.check;
  if (round === null || !round.isOpen || stage?.kind !== 'review' || stage.protocol === null)
    return null;
  return { stage, protocol: stage.protocol, round };
}

/** Who may not judge a node whatever seats it has: whom the protocol does not call, and whoever is a party. */
export function refuseJudge(
  { check, problem }: CheckDraft,
  protocol: ReviewProtocol,
  nodeKey: string,
  judge: Judge,
): Refusal {
  const node = protocol.nodes.find(({ key }) => key === nodeKey);
  if (node === undefined || seatsOf(node) === 0) {
    const keys = protocol.nodes.filter((each) => seatsOf(each) > 0).map(({ key }) => key);
    return checkerError('CHECKER_NODE_UNKNOWN', {
      message: `expected the key of a node with seats (${keys.join(', ')}), got ${JSON.stringify(nodeKey)}`,
    });
  }
  const { roles, people } = node.judges ?? protocol.judges;
  if (!people.includes(judge.id) && !roles.some((role) => judge.roles.includes(role)))
    return checkerError('CHECKER_JUDGE_NOT_CALLED', {
      message: `expected somebody whom the protocol calls to judge ${nodeKey}, got ${judge.id}`,
    });
  const tie = findTie(problem, check, judge);
  if (tie === null) return null;
  return checkerError('CHECKER_JUDGE_PARTIAL', {
    message: `expected a judge who is no party, got ${tie}`,
  });
}

/** What makes somebody a party; null for those who are none. */
export function findTie(
  problem: ProblemCase,
  { solverId }: Pick<CheckCase, 'solverId'>,
  { id, invitedBy }: Pick<Judge, 'id' | 'invitedBy'>,
): string | null {
  if (id === solverId) return 'the solver';
  if (id === problem.ownerId) return "the problem's owner";
  if (problem.actedIds.includes(id)) return 'an operator who acted for the owner';
  if (invitedBy === solverId) return 'somebody whom the solver invited';
  if (invitedBy === problem.ownerId || problem.invited?.includes(id) === true)
    return 'somebody whom the owner invited';
  return Object.hasOwn(problem.entrants, id) ? 'a participant of the same problem' : null;
}

/** One seat a person, as long as the node asks and has one left. Who could not decide is no second opinion either. */
export function refuseSeat(
  draft: CheckDraft,
  { protocol, round }: OpenReview,
  nodeKey: string,
  { id }: Judge,
): Refusal {
  const taken = round.seats.filter(({ node }) => node === nodeKey);
  if (round.seats.some(({ judgeId }) => judgeId === id))
    return checkerError('CHECKER_SEAT_DUPLICATE', {
      message: 'expected one seat of a review a person, got a second',
    });
  const claims = round.claims.find(({ node, judgeId }) => node === nodeKey && judgeId === id);
  if ((claims?.count ?? 0) >= draft.policy.claimsMax)
    return checkerError('CHECKER_CLAIMS_USED', {
      message: `expected at most ${draft.policy.claimsMax} claims of ${nodeKey} by one person, got another`,
    });
  const { asked } = reduceReview(protocol, round.seats, { isClosed: false });
  if (asked?.key === nodeKey && taken.length < seatsOf(asked)) return null;
  return checkerError('CHECKER_SEATS_FULL', {
    message: `expected a free seat of a node that is asked, got ${asked?.key === nodeKey ? 'none free' : `a review that asks ${asked?.key ?? 'nobody'}`}`,
  });
}

/** A seat that somebody holds and has not judged. */
export function claimedSeatOf(
  { round }: OpenReview,
  seatId: string,
  judgeId: string,
): Seat | undefined {
  return round.seats.find(
    (seat) => seat.id === seatId && seat.judgeId === judgeId && seat.judged === null,
  );
}
