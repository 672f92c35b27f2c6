import { signStatement } from '../attestation/envelope.ts';
import { toPublicPem, type SigningKey } from '../attestation/keys.ts';
import { atSeal } from '../attestation/statement.ts';
import { toRunEvidence, type RunEvidence, type RunEvidenceInput } from './run-evidence.ts';

/** A run as both views have it, and how it is signed once it is known when. */
export interface BothViews {
  readonly full: RunEvidence;
  readonly open: RunEvidence;
  /** What is kept with the verdict. */
  keep(key: SigningKey): KeptEvidence;
}

/** Texts of both views that can't be made again of contract and result, and how they are signed. */
export interface KeptEvidence {
  readonly key: { readonly keyid: string; readonly publicKey: string };
  readonly evaluation: string;
  readonly publicEvaluation: string;
  /** `bundle.json`. */
  readonly manifest: string;
  readonly publicManifest: string;
  /** `run.json`. */
  readonly request: string;
  readonly publicResult: string;
  readonly publicContract: string;
  /** Envelopes as texts; computes, and does nothing else. */
  attest(facts: {
    readonly sealedAt: Date;
    readonly audit: { readonly seq: bigint; readonly hash: string };
  }): { readonly attestation: string; readonly publicAttestation: string };
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
    keep: (key) => ({
      key: { keyid: key.keyid, publicKey: toPublicPem(key) },
      evaluation: full.texts['evaluation.json'],
      publicEvaluation: open.texts['evaluation.json'],
      manifest: full.texts['bundle.json'],
      publicManifest: open.texts['bundle.json'],
      request: full.texts['run.json'],
      publicResult: open.texts['result.json'],
      publicContract: open.texts['contract.json'],
      attest: ({ sealedAt: timeVerified, audit: { seq, hash: head } }) => {
        const facts = { timeVerified, audit: { seq: Number(seq), head } };
        return {
          attestation: signStatement(atSeal(full.statement, facts), key),
          publicAttestation: signStatement(atSeal(open.statement, facts), key),
        };
      },
    }),
  };
}
