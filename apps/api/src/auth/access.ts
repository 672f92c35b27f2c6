import type { Audience, PrincipalRow } from '@kervyxa/db';

// Who sees what (ADR 0020), as pure rules. Routes ask here and nowhere else.

/** What is known of a contract when it is asked who may see it. */
export interface ContractSubject {
  readonly requesterId: string;
  readonly inviteOnly: boolean;
  readonly invitedIds: readonly string[];
  readonly fundedAt: Date | null;
}

/** As whom a principal looks at a contract that it may see. */
export interface Sight {
  readonly viewerId: string;
  readonly isOperator: boolean;
  readonly isRequester: boolean;
  readonly isArbiter: boolean;
  readonly isInvited: boolean;
}

/** What is known of a submission when it is asked who may see into it. */
export interface SubmissionSubject {
  readonly solverId: string;
  /** When it came to hold the pass; null where it never did. */
  readonly windowOpensAt: Date | null;
}

/** Null where the contract is none of the viewer's business, so that it must look as if there were none. */
export function sightOf(viewer: PrincipalRow, contract: ContractSubject): Sight | null {
  const sight = {
    viewerId: viewer.id,
    isOperator: viewer.roles.includes('operator'),
    isRequester: contract.requesterId === viewer.id,
    isArbiter: isPureArbiter(viewer),
    isInvited: contract.inviteOnly && contract.invitedIds.includes(viewer.id),
  };
  if (sight.isOperator || sight.isRequester) return sight;
  if (contract.fundedAt === null) return null;
  return !contract.inviteOnly || sight.isInvited || sight.isArbiter ? sight : null;
}

/** Whoever may also submit or challenge would look up the hidden answers with an arbiter's eyes. */
export function isPureArbiter({ roles }: PrincipalRow): boolean {
  return roles.includes('arbiter') && !roles.includes('solver') && !roles.includes('challenger');
}

/** Hidden criteria with their commands, messages and logs. */
export function seesHidden({ isOperator, isRequester, isArbiter }: Sight): boolean {
  return isOperator || isRequester || isArbiter;
}

/** What only the requester and the operator may know: findings, proof commits, package digest, the invited. */
export function seesOwners({ isOperator, isRequester }: Sight): boolean {
  return isOperator || isRequester;
}

/** Repository, commit and tree: others could hand them in as their own before they are decided (S19). */
export function seesSource(sight: Sight, { solverId, windowOpensAt }: SubmissionSubject): boolean {
  return (
    solverId === sight.viewerId || sight.isOperator || sight.isArbiter || windowOpensAt !== null
  );
}

/** Whose it is, what becomes of it, its runs and their public logs: others could guess whose commit to copy (S19). */
export function seesRuns(sight: Sight, submission: SubmissionSubject): boolean {
  return seesHidden(sight) || seesSource(sight, submission);
}

/** `submission`: the one that the event is about, if any. */
export function seesEvent(
  sight: Sight,
  audience: Audience,
  submission: SubmissionSubject | null,
): boolean {
  switch (audience) {
    case 'PUBLIC':
      return true;
    case 'PARTIES':
      return seesOwners(sight) || (submission !== null && seesRuns(sight, submission));
    case 'OWNER':
      return seesOwners(sight);
  }
}
