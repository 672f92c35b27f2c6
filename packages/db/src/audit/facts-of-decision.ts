import type { ChallengeState, ContractCase, Effect } from '@kervyxa/settlement';
import type { AuditFact } from './chain.ts';

export interface DecidedFacts {
  readonly before: ContractCase;
  readonly next: ContractCase;
  readonly effects: readonly Effect[];
  /** Hash of the transfer that resolved the escrow; null where none did. */
  readonly resolutionHash: string | null;
}

/** What a decision about a contract leaves in the audit log: challenges that ended, and where the money went. */
export function auditFactsOf({
  before,
  next,
  effects,
  resolutionHash,
}: DecidedFacts): readonly AuditFact[] {
  const contract = next.contract.id;
  const states = new Map(before.challenges.map(({ id, state }) => [id, state]));
  const ended = next.challenges.filter(
    ({ id, state }) => RESOLVED.has(state) && states.get(id) !== state,
  );
  const challenges = ended.map(({ id, submissionId, state }): AuditFact => ({
    kind: 'challenge_resolved',
    subject: id,
    digest: null,
    facts: { contract, submission: submissionId, state },
  }));
  const escrows = effects.flatMap((effect): AuditFact[] =>
    effect.kind === 'escrow_resolved'
      ? [
          {
            kind: 'escrow_resolved',
            subject: contract,
            digest: resolutionHash === null ? null : `sha256:${resolutionHash}`,
            facts: { resolution: effect.resolution },
          },
        ]
      : [],
  );
  return [...challenges, ...escrows];
}

/** Ends of challenges; what is NOTED asks for nothing. */
const RESOLVED: ReadonlySet<ChallengeState> = new Set(['UPHELD', 'OVERTURNED', 'LAPSED', 'VOIDED']);
