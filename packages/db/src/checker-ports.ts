import type {
  CheckCase,
  CheckCommand,
  CheckDecision,
  CheckerPackage,
  CheckState,
  ConformanceReport,
  ProblemCommand,
  ReviewProtocol,
  Sealing,
} from '@kervyxa/checker';
import type { AuditHead } from './audit/chain.ts';
import type {
  ArtifactRow,
  CheckRow,
  EntryRow,
  ImplementationRow,
  PartnerKeyRow,
  ProblemItem,
  ProblemRow,
  Publication,
  PublishedContractRow,
} from './checker-rows.ts';
import type { Answer, Call, Page, PageRequest } from './ports.ts';

// What API, worker and scheduler see of published checkers, of problems, and of the checks of their entries.

type ReleaseCommand = Extract<ProblemCommand, { readonly kind: 'release' }>;
/** What the store is asked to do with a problem. */
export type AskedOfProblem =
  | Exclude<ProblemCommand, { readonly kind: 'submit' | 'release' }>
  | Omit<ReleaseCommand, 'alsoBoundBy'>;

/** Like `Commands`: each one transaction together with its Idempotency-Key. All throw DB_IDEMPOTENCY_CONFLICT. */
export interface CheckerCommands {
  /**
   * Publishes a package of the caller's as the next version of a family, or as implementations of the version that has
   * the same terms. What is new waits for conformance; until then the older ones go on.
   * Throws DB_SUBJECT_UNKNOWN, DB_VERIFIER_NOT_OWN, DB_VERIFIER_DUPLICATE, DB_PACKAGE_UNKNOWN, DB_PROTOCOL_UNKNOWN.
   */
  publish(
    call: Call,
    input: {
      /** Null: a new family of this name. */
      readonly verifierId: string | null;
      readonly name: string;
      readonly checker: CheckerPackage;
    },
    toAnswer: (publication: Publication) => Answer,
  ): Promise<Answer>;
  /** Harmless twice. Throws DB_SUBJECT_UNKNOWN, DB_VERIFIER_NOT_OWN. */
  yank(
    call: Call,
    contractId: string,
    toAnswer: (row: PublishedContractRow) => Answer,
  ): Promise<Answer>;
  /** Has conformance tried again that our own trouble ended. Throws DB_SUBJECT_UNKNOWN, DB_IMPLEMENTATION_NOT_FAILED. */
  retryConformance(call: Call, implementationId: string, toAnswer: () => Answer): Promise<Answer>;
  /** A draft. Throws DB_SUBJECT_UNKNOWN, and what `draftProblem` refuses with. */
  createProblem(
    call: Call,
    input: {
      readonly contractId: string;
      readonly title: string;
      readonly statement: string;
      readonly sealing: Sealing | null;
      readonly invited: readonly string[] | null;
    },
    toAnswer: (row: ProblemRow) => Answer,
  ): Promise<Answer>;
  /**
   * Anything but `submit`. Of a release, the other problems that bind the same bytes are found here. Bytes that are bound are a blob already, sent by the caller itself.
   * Throws DB_SUBJECT_UNKNOWN, DB_BLOB_UNKNOWN, and what `decideProblem` refuses with.
   */
  decideProblem(
    call: Call,
    input: {
      readonly problemId: string;
      readonly command: AskedOfProblem;
    },
    toAnswer: (row: ProblemRow) => Answer,
  ): Promise<Answer>;
  /**
   * The caller's entry, and the check of it. Whoever knows a digest does not have its bytes for that: the caller itself
   * must have sent what it names. Throws DB_SUBJECT_UNKNOWN, DB_BLOB_UNKNOWN, and what `decideProblem` refuses with.
   */
  submitEntry(
    call: Call,
    input: {
      readonly problemId: string;
      readonly summaryText: string | null;
      readonly artifacts: readonly Omit<ArtifactRow, 'sizeBytes'>[];
    },
    toAnswer: (entry: EntryRow, check: CheckRow) => Answer,
  ): Promise<Answer>;
  /** Throws DB_SUBJECT_UNKNOWN, and what `decideCheck` refuses with. */
  decideCheck(
    call: Call,
    input: { readonly checkId: string; readonly command: CheckCommand },
    toAnswer: (row: CheckRow) => Answer,
  ): Promise<Answer>;
  /** Throws DB_PARTNER_KEY_DUPLICATE. */
  addPartnerKey(
    call: Call,
    key: Pick<PartnerKeyRow, 'fingerprint' | 'externalSystem' | 'publicKey'>,
    toAnswer: (row: PartnerKeyRow) => Answer,
  ): Promise<Answer>;
  /** Nothing that it signs counts from then on. Harmless twice. Throws DB_SUBJECT_UNKNOWN. */
  retirePartnerKey(
    call: Call,
    fingerprint: string,
    toAnswer: (row: PartnerKeyRow) => Answer,
  ): Promise<Answer>;
}

/** Single rows are null where there is none. Lists come newest first. */
export interface CheckerReads {
  /** The time by which commands are decided, so that nobody reads a thing sooner elsewhere: the clocks of hosts differ. */
  now(): Promise<Date>;
  publishedContract(id: string): Promise<PublishedContractRow | null>;
  /** `verifierId` null: of all families. */
  listPublishedContracts(
    verifierId: string | null,
    page: PageRequest,
  ): Promise<Page<PublishedContractRow>>;
  implementation(id: string): Promise<ImplementationRow | null>;
  listImplementations(contractId: string, page: PageRequest): Promise<Page<ImplementationRow>>;
  reviewProtocol(id: string): Promise<ReviewProtocol | null>;
  problem(id: string): Promise<ProblemRow | null>;
  /** Those that there are of them, in any order; of their participants only these are told. */
  problemsFor(
    ids: readonly string[],
    participantIds: readonly string[],
  ): Promise<readonly ProblemRow[]>;
  /** For a viewer those that it may know of: open or closed ones, by invitation only where it has one, and its own. */
  listProblems(
    viewer: { readonly id: string; readonly seesInviteOnly: boolean } | null,
    page: PageRequest,
  ): Promise<Page<ProblemItem>>;
  /** Other problems of the same owner that bind one of the blobs (SHA-256, hex). */
  problemsThatBind(problemId: string, blobs: readonly string[]): Promise<readonly string[]>;
  entry(id: string): Promise<EntryRow | null>;
  listEntries(
    filter: { readonly problemId: string; readonly solverId: string | null },
    page: PageRequest,
  ): Promise<Page<EntryRow>>;
  check(id: string): Promise<CheckRow | null>;
  listChecks(
    filter: {
      readonly states: readonly CheckState[] | null;
      readonly problemId: string | null;
      /** Leaves out those of this principal's own problems and entries. */
      readonly notOf: string | null;
    },
    page: PageRequest,
  ): Promise<Page<CheckRow>>;
  /** Those that are retired too. */
  listPartnerKeys(): Promise<readonly PartnerKeyRow[]>;
}

/** What a worker and the scheduler do with checkers. */
export interface CheckerWork {
  /** Null where nobody waits for it any more. */
  conformanceTask(implementationId: string): Promise<ImplementationRow | null>;
  /** The first outcome stays: false for a later one. What checks waited for it are sent to workers. */
  endConformance(
    implementationId: string,
    outcome:
      | { readonly kind: 'reported'; readonly report: ConformanceReport }
      /** Our own trouble: says nothing of the program. */
      | { readonly kind: 'failed'; readonly problem: string },
  ): Promise<boolean>;
  /**
   * Begins an attempt at the sandbox stage that a check waits for. `waits`: no worker can do anything now, since an
   * implementation is still to conform, or nobody wants it any more. A stage that none conforms for, or will, ends as
   * unavailable instead.
   */
  checkTask(checkId: string): Promise<CheckTask>;
  /** Throws DB_SUBJECT_UNKNOWN; what an older attempt says is refused. */
  decideCheck(checkId: string, command: CheckCommand): Promise<CheckDecision>;
  /** Written once, when it has ended; harmless again. Throws DB_SIGNING_KEY_RETIRED. */
  recordCheck(
    checkId: string,
    record: {
      /** JSON text. */
      readonly evaluation: string;
      /** In use already: see `useSigningKey`. */
      readonly keyid: string;
      /** A DSSE envelope, JSON text. Does nothing but compute. */
      attest(facts: { readonly recordedAt: Date; readonly audit: AuditHead }): string;
    },
  ): Promise<void>;
  /** Checks for which time has brought something, at most `limit`, the longest due first. */
  listDueChecks(limit: number): Promise<readonly string[]>;
}

export type CheckTask =
  | { readonly kind: 'waits' }
  | {
      readonly kind: 'run';
      readonly check: CheckCase;
      readonly attempt: number;
      readonly stageKey: string;
      readonly implementation: ImplementationRow;
      readonly entry: EntryRow;
      /** By slot key; only what the stage selects and we hold. */
      readonly reference: ReadonlyMap<string, Omit<ArtifactRow, 'role' | 'sizeBytes'>>;
    }
  /** It has ended, and nobody has written down how. */
  | {
      readonly kind: 'record';
      readonly check: CheckRow;
      readonly entry: EntryRow;
      readonly contract: PublishedContractRow;
    };

/** Published checkers, and all that is checked by them. */
export interface Checkers {
  readonly commands: CheckerCommands;
  readonly reads: CheckerReads;
  readonly work: CheckerWork;
}
