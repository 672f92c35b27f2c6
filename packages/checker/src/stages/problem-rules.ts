import type { AppError } from '@kervyxa/core';
import { checkerError, type CheckerErrorCode } from '../errors.ts';
import type { StagePolicy } from './policy.ts';
import type { Binding, ProblemCase, ProblemSlot } from './problem-case.ts';
import type { ProblemCommand } from './problem-command.ts';
import { boundTo, entriesEndAt, isReleased, prepareRelease, sealedSlotsOf } from './sealed.ts';

export interface ProblemContext {
  /** The database's time, read under the problem's lock. */
  readonly now: Date;
  readonly policy: StagePolicy;
}

export type CommandOf<Kind extends ProblemCommand['kind']> = Extract<
  ProblemCommand,
  { kind: Kind }
>;
/** Why a command is not done, or null. */
type Rule = AppError | null;

export function refuseState(
  { id, state }: ProblemCase,
  expected: readonly ProblemCase['state'][],
): Rule {
  if (expected.includes(state)) return null;
  return checkerError('CHECKER_PROBLEM_STATE_REFUSED', {
    message: `expected problem ${id} to be ${expected.join(' or ')}, got ${state}`,
  });
}

export function refuseBinding(slot: ProblemSlot, { url, mediaType, sizeBytes }: Binding): Rule {
  if (slot.sealed && url !== null)
    return refused(
      'CHECKER_BINDING_REFUSED',
      `expected bytes for the sealed slot ${slot.key}, got a link that anybody can read`,
    );
  if (sizeBytes > slot.maxBytes)
    return refused(
      'CHECKER_BINDING_REFUSED',
      `expected at most ${slot.maxBytes} bytes for ${slot.key}, got ${sizeBytes}`,
    );
  const { mediaTypes } = slot;
  if (mediaTypes.length === 0 || (mediaType !== null && mediaTypes.includes(mediaType)))
    return null;
  return refused(
    'CHECKER_BINDING_REFUSED',
    `expected ${slot.key} to be ${mediaTypes.join(' or ')}, got ${mediaType ?? 'no media type'}`,
  );
}

export function refuseUnbound(problem: ProblemCase): Rule {
  const unbound = problem.slots.filter(
    ({ key, required }) => required && boundTo(problem, key) === undefined,
  );
  if (unbound.length === 0) return null;
  return checkerError('CHECKER_SLOT_UNBOUND', {
    message: `expected every required slot to be bound, got none for ${unbound.map(({ key }) => key).join(', ')}`,
  });
}

export function refuseSealing(held: ProblemCase, { now }: ProblemContext): Rule {
  const isSealed = sealedSlotsOf(held).length > 0;
  if (held.sealing === null)
    return isSealed
      ? refused(
          'CHECKER_SEALING_REFUSED',
          'expected a sealing policy for the sealed slots, got none',
        )
      : null;
  if (!isSealed)
    return refused(
      'CHECKER_SEALING_REFUSED',
      'expected a sealed slot that is bound, got a policy for none',
    );
  const end = entriesEndAt(held);
  if (end === null || now < end) return null;
  return refused(
    'CHECKER_SEALING_REFUSED',
    `expected a cutoff and a release after ${now.toISOString()}, got ${end.toISOString()}`,
  );
}

export function refuseReleased(held: ProblemCase, now: Date): Rule {
  if (!isReleased(held, now)) return null;
  return checkerError('CHECKER_ALREADY_RELEASED', {
    message: 'expected sealed bytes that are not released, got none',
  });
}

export function refuseFingerprint(held: ProblemCase, command: CommandOf<'release'>): Rule {
  const { fingerprint } = prepareRelease(held, command.alsoBoundBy);
  if (command.fingerprint === fingerprint) return null;
  return checkerError('CHECKER_FINGERPRINT_STALE', {
    message: `expected the fingerprint ${fingerprint}, got ${command.fingerprint}`,
    fix: 'Prepare the release again, and look at what has changed.',
  });
}

export function refuseUninvited({ invited, ownerId }: ProblemCase, participantId: string): Rule {
  if (invited === null || invited.includes(participantId) || participantId === ownerId) return null;
  return checkerError('CHECKER_NOT_INVITED', {
    message: `expected somebody whom the owner invited, got ${participantId}`,
  });
}

/** Half-open: at the end itself it is too late. */
export function refuseLate(held: ProblemCase, { now }: ProblemContext): Rule {
  const end = entriesEndAt(held);
  if (end === null || now < end) return null;
  return checkerError('CHECKER_ENTRIES_CLOSED', {
    message: `expected a time before ${end.toISOString()}, got ${now.toISOString()}`,
  });
}

export function refuseLimit(
  held: ProblemCase,
  participantId: string,
  { policy }: ProblemContext,
): Rule {
  const limit = held.sealing?.submission_limit ?? policy.entriesMax;
  const entrant = entrantOf(held, participantId);
  if (entrant === undefined && Object.keys(held.entrants).length >= policy.entrantsMax)
    return checkerError('CHECKER_PROBLEM_FULL', {
      message: `expected at most ${policy.entrantsMax} participants, got another`,
    });
  if ((entrant?.entries ?? 0) < limit) return null;
  return checkerError('CHECKER_ENTRIES_USED', {
    message: `expected at most ${limit} entries of one participant, got another`,
  });
}

export function refuseNomination(
  { sealing, ownerId, actedIds }: ProblemCase,
  { participantId, readsSealed }: CommandOf<'nominate'>,
): Rule {
  if (sealing?.entries !== 'independent')
    return checkerError('CHECKER_NOMINATION_UNWANTED', {
      message: 'expected a problem with independent entries, got one that judges every entry',
    });
  if (!readsSealed && participantId !== ownerId && !actedIds.includes(participantId)) return null;
  return checkerError('CHECKER_NOMINATION_PARTIAL', {
    message: 'expected a participant who could not read the sealed bytes, got one who could',
  });
}

export function entrantOf({ entrants }: ProblemCase, participantId: string) {
  return Object.hasOwn(entrants, participantId) ? entrants[participantId] : undefined;
}

function refused(code: CheckerErrorCode, message: string): AppError {
  return checkerError(code, { message });
}
