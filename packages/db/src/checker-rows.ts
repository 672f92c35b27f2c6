import type { CheckCase, ProblemCase, VerifierContract } from '@kervyxa/checker';

// What is kept of published checkers, of problems, and of the checks of their entries.

/** A family of published contracts. */
export interface VerifierRow {
  readonly id: string;
  readonly seq: bigint;
  readonly ownerId: string;
  readonly name: string;
  readonly createdAt: Date;
}

export interface PublishedContractRow {
  readonly id: string;
  readonly seq: bigint;
  readonly verifierId: string;
  readonly ownerId: string;
  readonly versionNumber: number;
  /** The published form, as of now. */
  readonly document: VerifierContract;
  /** `sha256:…` of its terms. */
  readonly digest: string;
  readonly createdAt: Date;
  readonly yankedAt: Date | null;
  /** The highest version of its verifier that is not withdrawn. */
  readonly isCurrent: boolean;
}

export const IMPLEMENTATION_STATES = ['PENDING', 'CONFORMANT', 'NONCONFORMANT', 'FAILED'] as const;
export type ImplementationState = (typeof IMPLEMENTATION_STATES)[number];

export interface ImplementationRow {
  readonly id: string;
  readonly seq: bigint;
  readonly contractId: string;
  readonly stageKey: string;
  readonly publishedById: string;
  readonly packageSha256: string;
  readonly programDigest: string;
  readonly state: ImplementationState;
  /** The latest of its stage that is CONFORMANT: what verifies. */
  readonly isCurrent: boolean;
  /** JSON text of a ConformanceReport. */
  readonly report: string | null;
  readonly problem: string | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

export interface ProblemRow {
  readonly id: string;
  readonly seq: bigint;
  readonly title: string;
  readonly statement: string;
  readonly facts: ProblemCase;
  readonly createdAt: Date;
}

/** A problem without its participants, who may be many. */
export interface ProblemItem extends Omit<ProblemRow, 'facts'> {
  readonly facts: Omit<ProblemCase, 'entrants'>;
}

/** Bytes that an entry gives for a role. */
export interface ArtifactRow {
  readonly role: string;
  readonly filename: string;
  readonly mediaType: string | null;
  readonly sizeBytes: bigint;
  /** SHA-256 of the blob, hex. */
  readonly blob: string;
}

export interface EntryRow {
  readonly id: string;
  readonly seq: bigint;
  readonly problemId: string;
  readonly solverId: string;
  readonly summaryText: string | null;
  readonly receivedAt: Date;
  readonly checkId: string;
  readonly artifacts: readonly ArtifactRow[];
}

export interface CheckRow {
  readonly id: string;
  readonly seq: bigint;
  readonly facts: CheckCase;
  /** Of its problem. */
  readonly ownerId: string;
  readonly contractId: string;
  /** JSON texts; null until a worker has written them down. */
  readonly evaluation: string | null;
  readonly attestation: string | null;
  readonly createdAt: Date;
}

/** A key by which a system outside signs its judgments. */
export interface PartnerKeyRow {
  /** SHA-256 of the SPKI, 64 hex digits. */
  readonly fingerprint: string;
  readonly externalSystem: string;
  /** SPKI, PEM text. */
  readonly publicKey: string;
  readonly createdAt: Date;
  readonly retiredAt: Date | null;
}

/** What came of a publication. */
export interface Publication {
  readonly verifier: VerifierRow;
  readonly contract: PublishedContractRow;
  /** False: the family has these very terms already, and got implementations at most. */
  readonly isNewContract: boolean;
  /** Of every sandbox stage, the one that the package stands for. */
  readonly implementations: readonly ImplementationRow[];
}
