import { canonicalDigest } from '@kervyxa/core';
import type { CheckCase, CheckStage, StageResult } from './check-case.ts';
import type { Binding, ProblemCase } from './problem-case.ts';

/** Who wants to read something. */
export type Viewer =
  | { readonly kind: 'person'; readonly id: string }
  /** A stage of a check; only sandbox stages are given bytes. */
  | { readonly kind: 'stage'; readonly stage: CheckStage };

type Timed = Pick<ProblemCase, 'sealing' | 'releasedAt'>;

/** Whether anybody may read what is sealed; true where nothing is. */
export function isReleased({ sealing, releasedAt }: Timed, now: Date): boolean {
  return (
    sealing === null || releasedAt !== null || Date.parse(sealing.sealed_until) <= now.getTime()
  );
}

/** The first moment at which no entry is taken and none is nominated any more; null where there is no end. */
export function entriesEndAt({ sealing, releasedAt }: Timed): Date | null {
  if (sealing === null) return null;
  // Whoever has read the labels could answer with them.
  const ends = [sealing.cutoff, sealing.sealed_until, releasedAt].flatMap((time) =>
    time === null ? [] : [Date.parse(time)],
  );
  return new Date(Math.min(...ends));
}

/** When judges may see entries: independent ones are looked at after the cutoff, also where labels are released before. */
export function reviewOpensAt({ sealing }: ProblemCase): Date | null {
  if (sealing?.entries !== 'independent' || sealing.cutoff === null) return null;
  return new Date(sealing.cutoff);
}

/** Of independent entries only those that stand for their participants are judged. */
export function isNominated(
  { sealing, entrants }: ProblemCase,
  { entryId, solverId }: Pick<CheckCase, 'entryId' | 'solverId'>,
): boolean {
  return sealing?.entries !== 'independent' || entrants[solverId]?.nominated === entryId;
}

/** What a slot is bound to; a contract may call one `constructor`. */
export function boundTo(
  { bindings }: Pick<ProblemCase, 'bindings'>,
  slot: string,
): Binding | undefined {
  return Object.hasOwn(bindings, slot) ? bindings[slot] : undefined;
}

/** Whether a viewer may have the bytes of a slot. */
export function mayRead(problem: ProblemCase, viewer: Viewer, slot: string, now: Date): boolean {
  const found = problem.slots.find(({ key }) => key === slot);
  if (found === undefined || boundTo(problem, slot) === undefined) return false;
  if (viewer.kind === 'stage')
    return viewer.stage.kind === 'sandbox' && viewer.stage.slots.includes(slot);
  if (viewer.id === problem.ownerId) return true;
  return problem.state !== 'DRAFT' && (!found.sealed || isReleased(problem, now));
}

/** Whether a participant, or anybody who sees the problem, may see somebody's entry. */
export function mayReadEntry(
  problem: ProblemCase,
  { solverId }: { readonly solverId: string },
  viewerId: string,
  now: Date,
): boolean {
  if (viewerId === problem.ownerId || viewerId === solverId) return true;
  const opensAt = reviewOpensAt(problem);
  return opensAt === null || opensAt <= now;
}

/** What is withheld from the viewer is null. */
export type VisibleResult = Omit<StageResult, 'startedAt' | 'decidedAt'> & {
  readonly startedAt: string | null;
  readonly decidedAt: string | null;
};
export type VisibleCheck = Omit<CheckCase, 'results'> & {
  readonly results: readonly VisibleResult[];
  /** Nothing is withheld. */
  readonly isWhole: boolean;
};

/**
 * A check as a viewer may see it. Until they are released, what a stage that reads sealed bytes says is its outcome
 * alone: its words, its reason and how long it took could tell the bytes, and the next stage begins when it ends. A
 * withheld score stands in no evidence of a score stage either.
 */
export function toVisibleCheck(
  problem: ProblemCase,
  check: CheckCase,
  viewerId: string,
  now: Date,
): VisibleCheck {
  const release = problem.sealing?.score_release ?? null;
  const isScoreTold = release === null || Date.parse(release) <= now.getTime();
  const stageOf = ({ stage }: StageResult) => check.stages.find(({ key }) => key === stage);
  const timedTo = check.results.findIndex((result) => readsSealed(problem, stageOf(result), now));
  if (viewerId === problem.ownerId || (isScoreTold && timedTo === -1))
    return { ...check, isWhole: true };
  const toVisible = (result: StageResult, index: number): VisibleResult => {
    const stage = stageOf(result);
    const isScored = stage?.kind === 'sandbox' && stage.resultKind === 'score';
    const hidesBytes = readsSealed(problem, stage, now);
    return {
      ...result,
      score: isScoreTold ? result.score : null,
      ...((hidesBytes || (isScored && !isScoreTold)) && { message: null, evidence: null }),
      ...(hidesBytes && { reason: null, mechanism: null }),
      ...(timedTo !== -1 && index >= timedTo && { startedAt: null, decidedAt: null }),
    };
  };
  const results = check.results.map(toVisible);
  return {
    ...check,
    score: isScoreTold ? check.score : null,
    results,
    endedAt: timedTo === -1 ? check.endedAt : null,
    isWhole: results.every((result, index) => isSame(result, check.results[index])),
  };
}

function isSame(visible: VisibleResult, whole: StageResult | undefined): boolean {
  return (
    visible.score === whole?.score &&
    visible.message === whole.message &&
    visible.evidence === whole.evidence &&
    visible.decidedAt === whole.decidedAt
  );
}

function readsSealed(problem: ProblemCase, stage: CheckStage | undefined, now: Date): boolean {
  if (stage?.kind !== 'sandbox' || isReleased(problem, now)) return false;
  return sealedSlotsOf(problem).some(({ slot }) => stage.slots.includes(slot));
}

export interface Release {
  /** Of all that follows: another byte, another date, another problem is another fingerprint. */
  readonly fingerprint: string;
  readonly problemId: string;
  /** What everybody will be able to read. */
  readonly slots: readonly { readonly slot: string; readonly binding: Binding }[];
  /** Other problems of the owner that are sealed with the same bytes, and are so no longer. */
  readonly alsoBoundBy: readonly string[];
}

/** The first step of an early release: exactly what the second would do. */
export function prepareRelease(problem: ProblemCase, alsoBoundBy: readonly string[]): Release {
  const released = {
    problemId: problem.id,
    slots: sealedSlotsOf(problem),
    alsoBoundBy: [...new Set(alsoBoundBy)].toSorted(),
  };
  const { contractId, sealing } = problem;
  return { fingerprint: canonicalDigest({ ...released, contractId, sealing }), ...released };
}

/** Of what a release would open: SHA-256, hex, as blobs are named. */
export function sealedBlobsOf(problem: ProblemCase): readonly string[] {
  return sealedSlotsOf(problem).map(({ binding }) => binding.contentHash.slice('sha256:'.length));
}

export function sealedSlotsOf(problem: ProblemCase): Release['slots'] {
  return problem.slots
    .filter(({ sealed }) => sealed)
    .flatMap(({ key: slot }) => {
      const binding = boundTo(problem, slot);
      return binding === undefined ? [] : [{ slot, binding }];
    })
    .toSorted((a, b) => (a.slot < b.slot ? -1 : 1));
}
