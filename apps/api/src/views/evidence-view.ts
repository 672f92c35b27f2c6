import type { EvidenceRow } from '@kervyxa/db';
import { seesHidden, type Sight } from '../auth/access.ts';

/** The texts that differ between those who see hidden criteria and those who don't. */
export interface ViewedEvidence {
  readonly evaluation: string;
  readonly attestation: string;
  readonly manifest: string;
}

export function viewedEvidence(row: EvidenceRow, sight: Sight): ViewedEvidence {
  return seesHidden(sight)
    ? { evaluation: row.evaluation, attestation: row.attestation, manifest: row.manifest }
    : {
        evaluation: row.publicEvaluation,
        attestation: row.publicAttestation,
        manifest: row.publicManifest,
      };
}
