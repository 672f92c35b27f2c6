import { checkerError } from '../errors.ts';
import type { CheckCase, Judgment, ReviewRound, Seat, StageOutcome } from './check-case.ts';
import type { CheckCommand, Judge } from './check-command.ts';
import {
  addEvent,
  change,
  type CheckContext,
  type CheckDraft,
  currentStage,
  finishStage,
  finishUnavailable,
  finishUnnominated,
  isOver,
  laterBy,
  openDraft,
  type Refusal,
  refuseState,
} from './check-draft.ts';
import { reduceReview } from './reduce-review.ts';
import type { ReviewNode } from './review-protocol.ts';
import { claimedSeatOf, openReviewOf, refuseJudge, refuseSeat } from './review-rules.ts';
import { isNominated } from './sealed.ts';

type CommandOf<Kind extends CheckCommand['kind']> = Extract<CheckCommand, { kind: Kind }>;

const TAKES_JUDGMENTS = 'has a review that takes judgments';
const OUTCOMES: Readonly<Record<Judgment, StageOutcome>> = {
  accept: 'verified',
  reject: 'refuted',
  unresolved: 'inconclusive',
};

export function claim(draft: CheckDraft, { node, judge, seatId }: CommandOf<'claim'>): Refusal {
  const review = openReviewOf(draft);
  if (review === null) return refuseState(draft, TAKES_JUDGMENTS);
  const { round, protocol } = review;
  const refusal =
    refuseJudge(draft, protocol, node, judge) ?? refuseSeat(draft, review, node, judge);
  if (refusal !== null) return refusal;
  const seat: Seat = {
    id: seatId,
    node,
    judgeId: judge.id,
    claimedAt: draft.now.toISOString(),
    expiresAt: laterBy(draft, protocol.seat_expiry_seconds * 1_000),
    judged: null,
  };
  const claims = countClaim(round.claims, { node, judgeId: judge.id });
  change(draft, { review: { ...round, claims, seats: [...round.seats, seat] } });
  addEvent(draft, 'seat_claimed', { seatId, node });
  return null;
}

export function releaseSeat(draft: CheckDraft, command: CommandOf<'release_seat'>): Refusal {
  const review = openReviewOf(draft);
  if (review === null) return refuseState(draft, TAKES_JUDGMENTS);
  const { seatId, judgeId } = command;
  if (claimedSeatOf(review, seatId, judgeId) === undefined) return refuseUnknown(seatId);
  const seats = review.round.seats.filter(({ id }) => id !== seatId);
  change(draft, { review: { ...review.round, seats } });
  addEvent(draft, 'seat_released', { seatId });
  return null;
}

export function judgeSeat(draft: CheckDraft, command: CommandOf<'judge'>): Refusal {
  const review = openReviewOf(draft);
  if (review === null) return refuseState(draft, TAKES_JUDGMENTS);
  const { seatId, judgment, statement } = command;
  const seat = claimedSeatOf(review, seatId, command.judge.id);
  if (seat === undefined) return refuseUnknown(seatId);
  // Asked again: who has become a party since the claim must not judge.
  const refusal = refuseJudge(draft, review.protocol, seat.node, command.judge);
  if (refusal !== null) return refusal;
  const judged = { judgment, statement, at: draft.now.toISOString() };
  const others = review.round.seats.filter(({ id }) => id !== seatId);
  change(draft, { review: { ...review.round, seats: [...others, { ...seat, judged }] } });
  addEvent(draft, 'seat_judged', { seatId, node: seat.node });
  conclude(draft, { isClosed: false });
  return null;
}

/** What time does to a review: it opens, seats go back, and it closes with what there is. */
export function advanceReview(draft: CheckDraft): void {
  const { review: round } = draft.check;
  const stage = currentStage(draft);
  if (round === null || stage?.kind !== 'review') return;
  const opensNow = !round.isOpen && isOver(draft, round.opensAt);
  if (opensNow && !isNominated(draft.problem, draft.check)) {
    finishUnnominated(draft, stage);
    return;
  }
  const isHeld = ({ judged, expiresAt }: Seat): boolean =>
    judged !== null || !isOver(draft, expiresAt);
  for (const { id: seatId } of round.seats.filter((seat) => !isHeld(seat)))
    addEvent(draft, 'seat_expired', { seatId });
  const seats = round.seats.filter(isHeld);
  change(draft, { review: { ...round, isOpen: round.isOpen || opensNow, seats } });
  if (isOver(draft, round.closesAt)) conclude(draft, { isClosed: true });
}

/** When time next does something to a review. */
export function reviewDues({ isOpen, opensAt, closesAt, seats }: ReviewRound): readonly string[] {
  const expiries = seats.flatMap(({ judged, expiresAt }) => (judged === null ? [expiresAt] : []));
  return [...(isOpen ? [] : [opensAt]), closesAt, ...expiries];
}

/** The node of which somebody could claim a seat now, or null. */
export function claimableNode(
  check: CheckCase,
  somebody: Judge,
  context: CheckContext,
): ReviewNode | null {
  const draft = openDraft(check, context);
  advanceReview(draft);
  const review = openReviewOf(draft);
  if (review === null) return null;
  const { asked } = reduceReview(review.protocol, review.round.seats, { isClosed: false });
  if (asked === null) return null;
  const refusal =
    refuseJudge(draft, review.protocol, asked.key, somebody) ??
    refuseSeat(draft, review, asked.key, somebody);
  return refusal === null ? asked : null;
}

/** Ends the review where it is decided; else takes back the seats that are not needed any more. */
function conclude(draft: CheckDraft, options: { readonly isClosed: boolean }): void {
  const { review: round } = draft.check;
  const stage = currentStage(draft);
  if (round === null || stage?.kind !== 'review' || stage.protocol === null) return;
  const { outcome, nodes } = reduceReview(stage.protocol, round.seats, options);
  const judged = round.seats.filter((seat) => seat.judged !== null);
  if (outcome === null) {
    const undecided = new Set(nodes.filter((node) => node.outcome === null).map(({ key }) => key));
    const seats = round.seats.filter((seat) => seat.judged !== null || undecided.has(seat.node));
    change(draft, { review: { ...round, seats } });
  } else if (judged.length === 0) finishUnavailable(draft, stage, `review by ${stage.protocolId}`);
  else
    finishStage(draft, stage, {
      outcome: OUTCOMES[outcome],
      evidence: { nodes },
      decidedBy: { kind: 'judges', protocolId: stage.protocolId },
      seats: judged,
    });
}

function countClaim(
  claims: ReviewRound['claims'],
  { node, judgeId }: { readonly node: string; readonly judgeId: string },
): ReviewRound['claims'] {
  const isOwn = (each: ReviewRound['claims'][number]): boolean =>
    each.node === node && each.judgeId === judgeId;
  const count = (claims.find(isOwn)?.count ?? 0) + 1;
  return [...claims.filter((each) => !isOwn(each)), { node, judgeId, count }];
}

function refuseUnknown(seatId: string): Refusal {
  return checkerError('CHECKER_SEAT_UNKNOWN', {
    message: `expected a seat that the caller has claimed and not judged, got ${seatId}`,
    fix: 'A seat goes back when it expires, is released, or is not needed any more. Claim another.',
  });
}
