import { signStatement } from '../attestation/envelope.ts';
import type { SigningKey } from '../attestation/keys.ts';
import { atSeal, type AuditHead } from '../attestation/statement.ts';
import { toRunEvidence, type RunEvidence, type RunEvidenceInput } from './run-evidence.ts';

/** A run as both views have it, and how it is signed once it is known when. */
export interface BothViews {
  readonly full: RunEvidence;
  readonly open: RunEvidence;
  /** Envelopes as texts. */
  sign(
    key: SigningKey,
    facts: { readonly timeVerified: Date; readonly audit: AuditHead | null },
  ): { readonly attestation: string; readonly publicAttestation: string };
}

/** For a daemon, which keeps both and hands out one of them; what takes long is done before anything waits for the seal. */
export function toBothViews(
  input: Omit<RunEvidenceInput, 'view' | 'timeVerified' | 'audit'>,
): BothViews {
  const unsealed = { ...input, timeVerified: new Date(0), audit: null };
  const full = toRunEvidence({ ...unsealed, view: 'full' });
  const open = toRunEvidence({ ...unsealed, view: 'public' });
  return {
    full,
    open,
    sign: (key, facts) => ({
      attestation: signStatement(atSeal(full.statement, facts), key),
      publicAttestation: signStatement(atSeal(open.statement, facts), key),
    }),
  };
}
