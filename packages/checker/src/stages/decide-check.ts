import type { ContractTerms } from '../contract/schema.ts';
import { resultKindOfStage, slotsOfStage } from '../contract/terms.ts';
import type { CheckCase, CheckStage } from './check-case.ts';
import type { CheckCommand } from './check-command.ts';
import {
  type CheckContext,
  type CheckDraft,
  enterStage,
  isOver,
  openDraft,
  type Refusal,
} from './check-draft.ts';
import type { CheckDecision } from './decision.ts';
import { advanceExternal, report } from './external-commands.ts';
import { advanceReview, claim, judgeSeat, releaseSeat, reviewDues } from './review-commands.ts';
import type { ReviewProtocol } from './review-protocol.ts';
import { endHold, fail, release, retry, seal, start, unavailable } from './sandbox-commands.ts';

/**
 * Decides what a command does to a check, and does nothing itself.
 *
 * 1. Let time do what it brings: seats go back, reviews close, deadlines pass.
 * 2. Do what the command asks, or refuse it, and then nothing changes at all.
 *
 * Throws CHECKER_TRANSITION_ILLEGAL, which is a defect.
 */
export function decideCheck(
  held: CheckCase,
  command: CheckCommand,
  context: CheckContext,
): CheckDecision {
  const draft = openDraft(held, context);
  advance(draft);
  const refusal = doCommand(draft, command);
  if (refusal !== null) return { kind: 'refused', error: refusal };
  return { kind: 'accepted', next: draft.check, effects: draft.effects };
}

/** A check of an entry begins. */
export function openCheck(
  facts: Pick<CheckCase, 'id' | 'entryId' | 'solverId'> & {
    readonly stages: readonly CheckStage[];
  },
  context: CheckContext,
): CheckDecision {
  const now = context.now.toISOString();
  const draft = openDraft(
    {
      ...facts,
      stages: [...facts.stages],
      problemId: context.problem.id,
      state: 'WAITING_SANDBOX',
      results: [],
      score: null,
      stageSince: now,
      attempt: 0,
      isRunning: false,
      tries: 0,
      lastFailure: null,
      heldUntil: null,
      review: null,
      reportBy: null,
      openedAt: now,
      endedAt: null,
    },
    context,
  );
  enterStage(draft);
  return { kind: 'accepted', next: draft.check, effects: draft.effects };
}

/** When `advance` does something next; null where only somebody's command can. */
export function nextDueOfCheck({ heldUntil, reportBy, review }: CheckCase): Date | null {
  const dues = [heldUntil, reportBy, ...(review === null ? [] : reviewDues(review))].flatMap(
    (time) => (time === null ? [] : [Date.parse(time)]),
  );
  return dues.length === 0 ? null : new Date(Math.min(...dues));
}

/** What decides about each stage of a contract; `protocols` are those published here, by id. */
export function planStages(
  terms: ContractTerms,
  protocols: ReadonlyMap<string, ReviewProtocol>,
): readonly CheckStage[] {
  return terms.stages.map((stage): CheckStage => {
    switch (stage.kind) {
      case 'sandbox':
        return {
          kind: 'sandbox',
          key: stage.key,
          resultKind: resultKindOfStage(terms, stage),
          slots: slotsOfStage(terms, stage),
        };
      case 'review': {
        const { key, review_protocol_id: protocolId } = stage;
        return { kind: 'review', key, protocolId, protocol: protocols.get(protocolId) ?? null };
      }
      case 'external':
        return {
          kind: 'external',
          key: stage.key,
          system: stage.external_system,
          ruleOwner: stage.rule_owner,
          acceptance: stage.acceptance,
        };
    }
  });
}

function advance(draft: CheckDraft): void {
  const { heldUntil } = draft.check;
  if (heldUntil !== null && isOver(draft, heldUntil)) endHold(draft);
  advanceReview(draft);
  advanceExternal(draft);
}

function doCommand(draft: CheckDraft, command: CheckCommand): Refusal {
  switch (command.kind) {
    case 'start':
      return start(draft);
    case 'seal':
      return seal(draft, command);
    case 'unavailable':
      return unavailable(draft, command);
    case 'fail':
      return fail(draft, command);
    case 'release':
      return release(draft, command);
    case 'retry':
      return retry(draft);
    case 'claim':
      return claim(draft, command);
    case 'release_seat':
      return releaseSeat(draft, command);
    case 'judge':
      return judgeSeat(draft, command);
    case 'report':
      return report(draft, command);
    case 'advance':
      return null;
  }
}
