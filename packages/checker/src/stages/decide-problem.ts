import type { AppError } from '@kervyxa/core';
import type { ContractTerms } from '../contract/schema.ts';
import { checkerError } from '../errors.ts';
import type { ProblemDecision, ProblemEffect } from './decision.ts';
import type { ProblemCase } from './problem-case.ts';
import type { ProblemCommand } from './problem-command.ts';
import {
  type CommandOf,
  entrantOf,
  type ProblemContext,
  refuseBinding,
  refuseFingerprint,
  refuseLate,
  refuseLimit,
  refuseNomination,
  refuseReleased,
  refuseSealing,
  refuseState,
  refuseUnbound,
  refuseUninvited,
} from './problem-rules.ts';

/** A problem begins as a DRAFT. */
export function draftProblem(
  facts: Pick<ProblemCase, 'id' | 'ownerId' | 'contractId' | 'sealing' | 'invited'> & {
    readonly terms: Pick<ContractTerms, 'reference_inputs'>;
    /** The contract's. */
    readonly yankedAt: Date | null;
  },
): ProblemDecision {
  const { terms, yankedAt, ...given } = facts;
  if (yankedAt !== null)
    return refused(
      checkerError('CHECKER_CONTRACT_YANKED', {
        message: `expected a contract that is offered, got one yanked at ${yankedAt.toISOString()}`,
      }),
    );
  const next: ProblemCase = {
    ...given,
    state: 'DRAFT',
    slots: terms.reference_inputs.map((slot) => ({
      key: slot.key,
      required: slot.required,
      sealed: slot.sealed,
      mediaTypes: slot.media_types,
      maxBytes: slot.max_bytes,
    })),
    bindings: {},
    releasedAt: null,
    actedIds: [],
    entrants: {},
  };
  return accepted(next, [toEvent(next, 'problem_draft', {})]);
}

/** Decides what a command does to a problem, and does nothing itself. Time alone changes nothing in a problem. */
export function decideProblem(
  held: ProblemCase,
  command: ProblemCommand,
  context: ProblemContext,
): ProblemDecision {
  switch (command.kind) {
    case 'bind':
      return bind(held, command);
    case 'open':
      return open(held, command, context);
    case 'close':
      return close(held, command);
    case 'release':
      return release(held, command, context);
    case 'submit':
      return submit(held, command, context);
    case 'nominate':
      return nominate(held, command, context);
  }
}

function bind(held: ProblemCase, { slot: key, binding, actorId }: CommandOf<'bind'>) {
  const slot = held.slots.find((each) => each.key === key);
  if (slot === undefined)
    return refused(
      checkerError('CHECKER_SLOT_UNKNOWN', {
        message: `expected a slot of the contract, got ${JSON.stringify(key)}`,
      }),
    );
  const refusal = refuseState(held, ['DRAFT']) ?? refuseBinding(slot, binding);
  if (refusal !== null) return refused(refusal);
  const next = actedBy(held, actorId, { bindings: { ...held.bindings, [key]: binding } });
  return accepted(next, [toEvent(next, 'problem_bound', { slot: key })]);
}

function open(held: ProblemCase, { actorId }: CommandOf<'open'>, context: ProblemContext) {
  const refusal =
    refuseState(held, ['DRAFT']) ?? refuseUnbound(held) ?? refuseSealing(held, context);
  if (refusal !== null) return refused(refusal);
  const next = actedBy(held, actorId, { state: 'OPEN' });
  return accepted(next, [toEvent(next, 'problem_open', {})]);
}

function close(held: ProblemCase, { actorId }: CommandOf<'close'>) {
  const refusal = refuseState(held, ['DRAFT', 'OPEN']);
  if (refusal !== null) return refused(refusal);
  const next = actedBy(held, actorId, { state: 'CLOSED' });
  return accepted(next, [toEvent(next, 'problem_closed', {})]);
}

/** Written once: what was read can't be sealed again. */
function release(held: ProblemCase, command: CommandOf<'release'>, { now }: ProblemContext) {
  const refusal =
    refuseState(held, ['OPEN', 'CLOSED']) ??
    refuseReleased(held, now) ??
    refuseFingerprint(held, command);
  if (refusal !== null) return refused(refusal);
  const next = actedBy(held, command.actorId, { releasedAt: now.toISOString() });
  return accepted(next, [toEvent(next, 'problem_released', { fingerprint: command.fingerprint })]);
}

function submit(
  held: ProblemCase,
  { entryId, participantId }: CommandOf<'submit'>,
  context: ProblemContext,
) {
  const refusal =
    refuseState(held, ['OPEN']) ??
    refuseUninvited(held, participantId) ??
    refuseLate(held, context) ??
    refuseLimit(held, participantId, context);
  if (refusal !== null) return refused(refusal);
  const { entries = 0, nominated = null } = entrantOf(held, participantId) ?? {};
  const entrants = { ...held.entrants, [participantId]: { entries: entries + 1, nominated } };
  return accepted({ ...held, entrants }, [
    { kind: 'open_check', entryId, solverId: participantId },
    toEvent(held, 'entry_received', { entryId }),
  ]);
}

/** Which entry stands for a participant; it may be changed until the end. */
function nominate(held: ProblemCase, command: CommandOf<'nominate'>, context: ProblemContext) {
  const { participantId, entryId, solverId } = command;
  const entrant = entrantOf(held, participantId);
  if (entrant === undefined || solverId !== participantId)
    return refused(
      checkerError('CHECKER_ENTRY_UNKNOWN', {
        message: `expected an entry of the caller's own, got ${entryId}`,
      }),
    );
  const refusal = refuseNomination(held, command) ?? refuseLate(held, context);
  if (refusal !== null) return refused(refusal);
  const entrants = { ...held.entrants, [participantId]: { ...entrant, nominated: entryId } };
  return accepted({ ...held, entrants }, [toEvent(held, 'entry_nominated', { entryId })]);
}

/** Whoever acts and is not the owner does so for the owner, and is remembered. */
function actedBy(held: ProblemCase, actorId: string, change: Partial<ProblemCase>): ProblemCase {
  const isKnown = actorId === held.ownerId || held.actedIds.includes(actorId);
  const actedIds = isKnown ? held.actedIds : [...held.actedIds, actorId];
  return { ...held, ...change, actedIds };
}

function toEvent(
  { id }: ProblemCase,
  name: string,
  data: Extract<ProblemEffect, { kind: 'event' }>['data'],
): ProblemEffect {
  return { kind: 'event', name, data: { problemId: id, ...data } };
}

function accepted(next: ProblemCase, effects: readonly ProblemEffect[]): ProblemDecision {
  return { kind: 'accepted', next, effects };
}

function refused(error: AppError): ProblemDecision {
  return { kind: 'refused', error };
}
