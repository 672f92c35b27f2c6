import type { Finding } from '@kervyxa/contract';
import type { SealedVerdict, Verdict } from '@kervyxa/core';
import type {
  CaseStore,
  ChallengeKind,
  ChallengeState,
  Command,
  ContractCase,
  ContractState,
  RunPurpose,
  RunState,
  SubmissionState,
} from '@kervyxa/settlement';
import type { Checkers } from './checker-ports.ts';
import type { AuditEntry, AuditHead } from './audit/chain.ts';

// What API, worker and scheduler see of the database. Times are the database's own; rows are plain values.

export const ROLES = ['requester', 'solver', 'challenger', 'arbiter', 'operator'] as const;
export type Role = (typeof ROLES)[number];

export interface PrincipalRow {
  readonly id: string;
  readonly name: string;
  readonly roles: readonly Role[];
  /** Who brought them in, where somebody did. */
  readonly invitedById: string | null;
  readonly createdAt: Date;
}

/** What the answer to a request was: kept with its Idempotency-Key, so that a repeat gets the same bytes. */
export interface Answer {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
}

/** Who asks, and under which Idempotency-Key. */
export interface Call {
  readonly actorId: string;
  /** `inputHash`: SHA-256 hex of method, path and canonical body. */
  readonly idempotency: { readonly key: string; readonly inputHash: string } | null;
}

export interface ContractRow {
  readonly id: string;
  readonly seq: bigint;
  readonly requesterId: string;
  readonly state: ContractState;
  /** Canonical JSON text. */
  readonly document: string;
  readonly digest: string;
  readonly title: string;
  readonly contractKind: string;
  readonly repositoryUrl: string;
  readonly baseCommit: string;
  readonly packageSha256: string | null;
  /** The dependency bundle. */
  readonly dependenciesSha256: string | null;
  readonly closesAt: Date;
  readonly rewardMinor: bigint;
  readonly currency: string;
  readonly approvalState: 'NONE' | 'QUEUED' | 'RUNNING' | 'REFUSED' | 'FAILED' | 'DONE';
  readonly approvalProblem: string | null;
  readonly findings: readonly Finding[];
  readonly baseBlob: string | null;
  /** The report of the last approval that came to proving, JSON text. */
  readonly provingBlob: string | null;
  readonly inviteOnly: boolean;
  readonly invitedIds: readonly string[];
  readonly createdAt: Date;
  /** When escrow came in; null for a draft that nobody but its requester has ever seen, also once it has ended. */
  readonly fundedAt: Date | null;
  readonly endedAt: Date | null;
}

/** Without the texts that may be long: a page has many. */
export type ContractListRow = Omit<ContractRow, 'document' | 'findings'>;

export interface SubmissionRow {
  readonly id: string;
  readonly seq: bigint;
  readonly contractId: string;
  readonly solverId: string;
  readonly repositoryUrl: string;
  readonly commit: string;
  readonly state: SubmissionState;
  readonly receivedAt: Date;
  readonly capturedAt: Date | null;
  readonly sourceBlob: string | null;
  readonly tree: string | null;
  readonly windowOpensAt: Date | null;
  readonly windowClosesAt: Date | null;
  readonly verdict: Verdict | null;
  readonly reason: string | null;
  readonly resultDigest: string | null;
}

/** A submission as it was received, now or (a repeat) before under the same Idempotency-Key. */
export interface SubmittedRow extends SubmissionRow {
  readonly isRepeat: boolean;
}

export interface RunRow {
  readonly id: string;
  readonly submissionId: string;
  readonly contractId: string;
  readonly purpose: RunPurpose;
  readonly state: RunState;
  readonly attempt: number;
  readonly tries: number;
  readonly verdict: Verdict | null;
  readonly reason: string | null;
  readonly resultDigest: string | null;
  /** JSON text of the verifier's result; null until sealed. */
  readonly result: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

export type RunListRow = Omit<RunRow, 'result'>;

export interface PackageRow {
  readonly sha256: string;
  readonly ownerId: string;
  readonly sizeBytes: bigint;
  readonly entryCount: number;
  readonly createdAt: Date;
}

export interface CriterionLog {
  readonly criterionId: string;
  readonly visibility: 'public' | 'hidden';
  readonly bytes: Uint8Array;
  readonly truncated: boolean;
}

/** The public half of a worker's key. Whoever has the private half signs with it from `createdAt` to `retiredAt`. */
export interface SigningKeyRow {
  /** SHA-256 of the SPKI, 64 hex digits. */
  readonly keyid: string;
  /** SPKI, PEM text. */
  readonly publicKey: string;
  readonly createdAt: Date;
  readonly retiredAt: Date | null;
}

/** Files of a bundle, as they are hashed: all that others need to check a run, but its captures and packages. */
export interface EvidenceTexts {
  /** `evaluation.json`, whole and as those see it who see no hidden criteria. */
  readonly evaluation: string;
  readonly publicEvaluation: string;
  /** `bundle.json`. */
  readonly manifest: string;
  readonly publicManifest: string;
  /** `run.json`, in both. */
  readonly request: string;
  /** `result.json`. */
  readonly publicResult: string;
}

/** What the worker says about a run that is to be sealed, and how it signs that. */
export interface SealedEvidence extends EvidenceTexts {
  /** The public half of the key that it signs with. */
  readonly key: Pick<SigningKeyRow, 'keyid' | 'publicKey'>;
  /** `contract.json`. */
  readonly publicContract: string;
  /**
   * DSSE envelopes, JSON texts. Asked in the transaction of the seal, as soon as its time and place in the audit log are
   * known, and again where that is tried again: does nothing but compute.
   */
  attest(facts: { readonly sealedAt: Date; readonly audit: AuditHead }): {
    readonly attestation: string;
    readonly publicAttestation: string;
  };
}

/** What a sealed run has left for others to check; whole result and contract are those of run and contract. */
export interface EvidenceRow extends EvidenceTexts {
  readonly runId: string;
  readonly publicKey: string;
  readonly attestation: string;
  readonly publicAttestation: string;
  /** SHA-256 of `contract.json`, hex. */
  readonly publicContractBlob: string;
}

export interface ChallengeRow {
  readonly id: string;
  readonly contractId: string;
  readonly submissionId: string;
  readonly challengerId: string;
  readonly kind: ChallengeKind;
  readonly state: ChallengeState;
  readonly bondMinor: bigint;
  readonly evidence: string;
  readonly filedAt: Date;
  readonly respondBy: Date;
  readonly decideBy: Date;
  readonly endedAt: Date | null;
  readonly runIds: readonly string[];
  readonly resolutions: readonly {
    readonly arbiterId: string;
    readonly decision: ChallengeKind;
    readonly statement: string;
    readonly at: Date;
  }[];
}

export interface TransferRow {
  readonly id: string;
  readonly seq: bigint;
  readonly kind: string;
  readonly currency: string;
  readonly contractId: string | null;
  readonly hash: string;
  readonly prevHash: string;
  readonly recordedAt: Date;
  readonly postings: readonly {
    readonly source: string;
    readonly destination: string;
    readonly amountMinor: bigint;
  }[];
}

export const PAYOUT_STATES = ['DUE', 'CONFIRMED', 'HELD'] as const;
export type PayoutState = (typeof PAYOUT_STATES)[number];

export interface PayoutRow {
  readonly id: string;
  readonly contractId: string;
  readonly submissionId: string;
  readonly solverId: string;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly state: PayoutState;
  /** Those that failed. */
  readonly tries: number;
  readonly lastProblem: string | null;
  readonly createdAt: Date;
  readonly confirmedAt: Date | null;
}

export type Audience = 'PUBLIC' | 'PARTIES' | 'OWNER';

export interface EventRow {
  /** Cursor text `xid-id`; what `Last-Event-ID` carries. */
  readonly cursor: string;
  readonly at: Date;
  readonly name: string;
  readonly actorId: string | null;
  readonly contractId: string | null;
  readonly submissionId: string | null;
  readonly runId: string | null;
  readonly challengeId: string | null;
  readonly audience: Audience;
  readonly data: Readonly<Record<string, unknown>>;
}

/** One page of a list, newest first unless said otherwise. `after` is the `next` of the page before. */
export interface PageRequest {
  readonly limit: number;
  readonly after: string | null;
}
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** A contract's document together with the columns that are drawn from it. */
export interface ContractDraft {
  readonly document: string;
  readonly digest: string;
  readonly title: string;
  readonly contractKind: string;
  readonly repositoryUrl: string;
  readonly baseCommit: string;
  readonly packageSha256: string | null;
  readonly dependenciesSha256: string | null;
  readonly closesAt: Date;
  readonly rewardMinor: bigint;
  readonly currency: string;
  readonly feeBps: number;
  readonly windowSeconds: number;
  readonly responseSeconds: number;
  readonly bondMinor: bigint;
  readonly inviteOnly: boolean;
  readonly invitedIds: readonly string[];
  readonly needsClaim: boolean;
}

/**
 * Changes that people ask for, each one transaction together with its Idempotency-Key: asked again with the same input
 * it gives the first answer and does nothing. All throw DB_IDEMPOTENCY_CONFLICT where the key was used for another
 * input, and the SETTLEMENT_* code of a refused command. A refusal is not kept under the key.
 */
export interface Commands {
  /** Besides: throws DB_PRINCIPAL_DUPLICATE, and DB_PRINCIPAL_UNKNOWN for who invited. */
  createPrincipal(
    call: Call,
    input: {
      readonly name: string;
      readonly roles: readonly Role[];
      readonly keyHash: string;
      readonly invitedById?: string | null;
    },
    toAnswer: (row: PrincipalRow) => Answer,
  ): Promise<Answer>;
  deposit(
    call: Call,
    input: {
      readonly principalId: string;
      readonly amountMinor: bigint;
      readonly currency: string;
      /** The outside payment; a second deposit of the same reference is the first one. */
      readonly reference: string;
    },
    toAnswer: (transfer: TransferRow) => Answer,
  ): Promise<Answer>;
  /** The same draft of the same requester, unless that one has ended, is DB_CONTRACT_DUPLICATE. */
  createContract(
    call: Call,
    draft: ContractDraft,
    toAnswer: (row: ContractRow) => Answer,
  ): Promise<Answer>;
  /**
   * Puts another document in the place of one that is DRAFT or PROVED, which is a DRAFT afterwards: what was found and
   * proved of it is gone, and the outcome of an approval that runs changes nothing. Throws DB_CONTRACT_DUPLICATE.
   */
  reviseContract(
    call: Call,
    input: { readonly contractId: string; readonly draft: ContractDraft },
    toAnswer: (row: ContractRow) => Answer,
  ): Promise<Answer>;
  /** DRAFT only; queues the approval that a worker does. Harmless while one is queued or running. */
  startApproval(
    call: Call,
    contractId: string,
    toAnswer: (row: ContractRow) => Answer,
  ): Promise<Answer>;
  /**
   * The fast path of the `submit` command: shares the contract's lock with other submits. Keeps no answer under the key:
   * a repeat's is made again, of the submission as it was received.
   */
  submit(
    call: Call,
    input: {
      readonly contractId: string;
      readonly repositoryUrl: string;
      readonly commit: string;
    },
    toAnswer: (row: SubmittedRow) => Answer,
  ): Promise<Answer>;
  /** fund, cancel, retry, challenge (with evidence) and resolve (with a statement). */
  execute(
    call: Call,
    input: { readonly contractId: string; readonly command: Command; readonly statement?: string },
    toAnswer: (next: ContractCase) => Answer,
  ): Promise<Answer>;
  /** The caller's own from now on; its bytes are a blob already. */
  savePackage(
    call: Call,
    input: { readonly sha256: string; readonly sizeBytes: bigint; readonly entryCount: number },
    toAnswer: () => Answer,
  ): Promise<Answer>;
  /** Has a held payout tried again, under the key it always had. Throws DB_PAYOUT_NOT_HELD. */
  retryPayout(call: Call, payoutId: string, toAnswer: () => Answer): Promise<Answer>;
}

export interface Reads {
  /** Null for a key that is unknown, revoked or of a disabled principal. */
  principalByKey(keyHash: string): Promise<PrincipalRow | null>;
  principal(id: string): Promise<PrincipalRow | null>;
  contract(id: string): Promise<ContractRow | null>;
  /** Those in `states`; for a viewer those that are or were open, by invitation only where it has one, and its own. */
  listContracts(
    filter: {
      readonly states: readonly ContractState[] | null;
      readonly requesterId: string | null;
      readonly viewer: { readonly id: string; readonly seesInviteOnly: boolean } | null;
    },
    page: PageRequest,
  ): Promise<Page<ContractListRow>>;
  submission(id: string): Promise<SubmissionRow | null>;
  listSubmissions(contractId: string, page: PageRequest): Promise<Page<SubmissionRow>>;
  run(id: string): Promise<RunRow | null>;
  listRuns(submissionId: string): Promise<readonly RunListRow[]>;
  log(runId: string, criterionId: string): Promise<CriterionLog | null>;
  challenge(id: string): Promise<ChallengeRow | null>;
  listChallenges(submissionId: string): Promise<readonly ChallengeRow[]>;
  /** The token for this solver's commit message; made when first asked for. */
  claimToken(contractId: string, solverId: string): Promise<string>;
  /** Balances of one principal, by currency. */
  balances(principalId: string): Promise<ReadonlyMap<string, bigint>>;
  /** `principalId` null: all transfers, for the operator. Oldest first. */
  listTransfers(principalId: string | null, page: PageRequest): Promise<Page<TransferRow>>;
  /** Every account and its balance; by currency they add up to zero. */
  trialBalance(): Promise<readonly { account: string; currency: string; balanceMinor: bigint }[]>;
  /** Walks the chain from its first link. */
  checkLedger(): Promise<{ readonly transferCount: bigint; readonly problem: string | null }>;
  /** The last link of the audit log: whoever keeps it elsewhere knows later that nothing before it was changed. */
  auditHead(): Promise<AuditHead>;
  /** Oldest first. */
  listAudit(page: PageRequest): Promise<Page<AuditEntry>>;
  /** Walks the audit log from its first entry, and compares what is kept with what it says: the first break in words. */
  checkAudit(): Promise<{ readonly entryCount: bigint; readonly problem: string | null }>;
  /** All there ever were, in the order in which they came. */
  signingKeys(): Promise<readonly SigningKeyRow[]>;
  /** Null for a run that is not sealed, or was before there was evidence. */
  evidence(runId: string): Promise<EvidenceRow | null>;
  /** Payouts by the webhook; `state` null: whatever it is. */
  listPayouts(state: PayoutState | null, page: PageRequest): Promise<Page<PayoutRow>>;
  packageOf(sha256: string, ownerId: string): Promise<PackageRow | null>;
  /** `ownerId` null: all packages, for the operator. In the order of their digests. */
  listPackages(ownerId: string | null, page: PageRequest): Promise<Page<PackageRow>>;
  /** Events after the cursor, oldest first, complete up to the last one: none can appear before it later. */
  events(
    stream: { readonly contractId: string } | { readonly runId: string },
    after: string | null,
    limit: number,
  ): Promise<readonly EventRow[]>;
  /** Resolves soon after there may be events after the cursor, or when the signal aborts. One listener for everybody. */
  waitForEvents(
    stream: { readonly contractId: string } | { readonly runId: string },
    signal: AbortSignal,
  ): Promise<void>;
  /** For health and metrics. */
  status(): Promise<{
    readonly queues: readonly {
      readonly name: string;
      readonly ready: number;
      readonly active: number;
    }[];
    readonly workers: readonly {
      readonly id: string;
      readonly host: string;
      readonly state: string;
      readonly problem: string | null;
      readonly heartbeatAt: Date;
    }[];
    readonly submissionsByState: Readonly<Record<string, number>>;
  }>;
}

/** Bytes by their SHA-256. */
export interface Blobs {
  /** Content-addressed; a second save of the same bytes is free. Throws DB_BLOB_TOO_LARGE. */
  saveBlob(
    chunks: AsyncIterable<Uint8Array>,
    options: { bytesMax: number },
  ): Promise<{ sha256: string; sizeBytes: bigint }>;
  /** Checked against its digest while it is read. Null where there is none. */
  readBlob(sha256: string): Promise<AsyncIterable<Uint8Array> | null>;
  /** How many bytes each has of those that are there. */
  blobSizes(sha256s: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

/** What a worker reads and writes. */
export interface WorkerStore extends Blobs {
  /** What an approval, capture or run needs to know. Null where it is gone or no longer wanted. */
  approvalTask(contractId: string): Promise<{ contract: ContractRow; attempt: number } | null>;
  /** Stored only if the attempt is still the one that runs: else answers false and changes nothing. */
  finishApproval(
    contractId: string,
    attempt: number,
    outcome:
      | {
          readonly kind: 'proved';
          readonly document: string;
          readonly digest: string;
          readonly baseBlob: string;
          readonly provingBlob: string;
          readonly findings: readonly Finding[];
        }
      /** `provingBlob` null: refused before anything was run. */
      | {
          readonly kind: 'refused';
          readonly provingBlob: string | null;
          readonly findings: readonly Finding[];
        }
      | { readonly kind: 'failed'; readonly problem: string },
  ): Promise<boolean>;
  /**
   * Tells the requester how far the approval is, as an event `approval_progress`. False where the attempt is no longer
   * the one that runs, so that nobody wants its outcome; then nothing is told.
   */
  addApprovalProgress(
    contractId: string,
    attempt: number,
    progress: Readonly<Record<string, unknown>>,
  ): Promise<boolean>;
  captureTask(
    submissionId: string,
  ): Promise<{ submission: SubmissionRow; contract: ContractRow } | null>;
  saveCapture(submissionId: string, captured: { sourceBlob: string; tree: string }): Promise<void>;
  runTask(runId: string): Promise<{
    run: RunRow;
    submission: SubmissionRow;
    contract: ContractRow;
    claimToken: string | null;
  } | null>;
  /** Begins an attempt: its number, or null where nobody wants the result any more. */
  startRun(runId: string, workerId: string): Promise<number | null>;
  /** Has the key listed, if it is new. Throws DB_SIGNING_KEY_RETIRED. */
  useSigningKey(key: Pick<SigningKeyRow, 'keyid' | 'publicKey'>): Promise<void>;
  /**
   * Seals result, criteria, logs and evidence in one transaction with the `seal` command. False: a newer attempt has
   * begun. Throws DB_SIGNING_KEY_RETIRED, and has sealed nothing.
   */
  sealRun(
    runId: string,
    attempt: number,
    sealed: {
      readonly verdict: SealedVerdict;
      /** Canonical JSON text of the recorded result: the verdict's digest is of its bytes. */
      readonly result: string;
      readonly logs: readonly CriterionLog[];
      readonly evidence: SealedEvidence;
      /** Awaited between the logs, which take the longer the more there are, and the rest. */
      readonly whenSaved?: () => Promise<void>;
    },
  ): Promise<boolean>;
  /** Written as they happen; batches in order. */
  addRunEvents(
    runId: string,
    events: readonly {
      name: string;
      audience: Audience;
      data: Readonly<Record<string, unknown>>;
    }[],
  ): Promise<void>;
  heartbeat(worker: {
    readonly id: string;
    readonly host: string;
    readonly version: string;
    readonly slots: number;
    readonly state: 'READY' | 'SICK' | 'DRAINING' | 'GONE';
    readonly problem: string | null;
  }): Promise<void>;
}

/** Webhook payouts. */
export interface PayoutStore {
  /**
   * Takes due payouts for a bounded time; another taker does not get them meanwhile. `tries`: those that failed before.
   * What the rail is told is the same at every try, `createdAt` included.
   */
  takeDue(
    limit: number,
    leaseMs: number,
  ): Promise<
    readonly {
      id: string;
      solverId: string;
      contractId: string;
      amountMinor: bigint;
      currency: string;
      tries: number;
      createdAt: Date;
    }[]
  >;
  /** How many are DUE, also those that somebody has taken. Takes none. */
  countDue(): Promise<number>;
  confirm(payoutId: string): Promise<void>;
  /** `retryInMs` null: held for the operator. */
  fail(payoutId: string, problem: string, retryInMs: number | null): Promise<void>;
}

/** For whoever holds the database itself, and for the scheduler. */
export interface Upkeep {
  /**
   * Gives the principal `operator`, made where there is none, one more key. With `onlyFirst` it does nothing and
   * answers false where some principal has the role already: of many first starts at once, one is the first.
   */
  addOperatorKey(keyHash: string, options: { readonly onlyFirst: boolean }): Promise<boolean>;
  /** Deletes at most `limit` answers kept longer than `olderThanMs`; how many. */
  forgetAnswers(olderThanMs: number, limit: number): Promise<number>;
  /** Deletes at most `limit` blobs whose saving was begun longer ago and never ended; how many. */
  forgetHalfBlobs(olderThanMs: number, limit: number): Promise<number>;
  /** Deletes at most `limit` blobs that were saved, or saved again, longer ago and that nothing names; how many. */
  forgetUnusedBlobs(olderThanMs: number, limit: number): Promise<number>;
  /** Adds a key and retires those that it comes for: they sign nothing from then on. Answers which were in use. */
  replaceSigningKeys(
    oldKeyids: readonly string[],
    key: Pick<SigningKeyRow, 'keyid' | 'publicKey'>,
  ): Promise<readonly string[]>;
  /** For a key whose machine is gone. False: it is unknown or was retired before. */
  retireSigningKey(keyid: string): Promise<boolean>;
  /** Sends at most `limit` jobs that wait in the tables and were lost from the queue; how many. */
  resendLost(limit: number): Promise<number>;
}

export interface Database {
  readonly cases: CaseStore;
  readonly commands: Commands;
  readonly reads: Reads;
  readonly work: WorkerStore;
  readonly blobs: Blobs;
  readonly payouts: PayoutStore;
  readonly upkeep: Upkeep;
  readonly checkers: Checkers;
  readonly queue: Queue;
  /** The database's own time. */
  now(): Promise<Date>;
  close(): Promise<void>;
}

export const QUEUES = ['approve', 'capture', 'verify', 'conformance', 'check'] as const;
export type QueueName = (typeof QUEUES)[number];

/** A job that somebody works on, until it is completed or its lease ends. */
export interface LeasedJob {
  readonly id: string;
  /** The contract (approve), submission (capture), run (verify), implementation (conformance) or check that it is about. */
  readonly subjectId: string;
  /** How often it was tried in vain and given back, or its lease ended, since it was sent. */
  readonly tries: number;
  /** Extends the lease. False: it has ended, and somebody else may have the job. */
  beat(): Promise<boolean>;
  complete(): Promise<void>;
  /** Back into the queue after a try in vain; ready after `delayMs`. */
  giveBack(delayMs: number): Promise<void>;
  /** Back into the queue as it was, for whoever takes it next. */
  putBack(): Promise<void>;
}

/**
 * At-least-once delivery of ids, fair between contracts and solvers. The state of the work is in the tables, not here:
 * a job whose subject nobody wants any more is completed without doing anything. Jobs are sent in the transaction that
 * makes them needed.
 */
export interface Queue {
  /** How long a job stays its worker's without a `beat`. */
  readonly leaseMs: number;
  /** The next job, or null where there is none now. */
  take(name: QueueName): Promise<LeasedJob | null>;
  /** Calls back when jobs of that name may have come; until the returned function is called. */
  onReady(name: QueueName, wake: () => void): () => void;
  /** Gives back jobs whose lease ended. Harmless at any time. */
  reap(): Promise<void>;
}
