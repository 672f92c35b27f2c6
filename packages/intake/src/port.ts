import type {
  CommitSha,
  ContractReason,
  SolverReason,
  SourceReason,
  TreeArchive,
} from '@kervyxa/core';

/** A contract's base: its commit, from the requester's repository. */
export interface BaseRequest {
  readonly baseRepositoryUrl: string;
  readonly baseCommit: CommitSha;
}

/** What to fetch: the base from the requester's repository, the commit from the solver's. */
export interface IntakeRequest extends BaseRequest {
  readonly repositoryUrl: string;
  readonly commit: CommitSha;
}

export type ChangeStatus = 'added' | 'deleted' | 'modified' | 'type_changed';

/** One path whose (mode, object) differs between base and commit. A rename is a deletion and an addition. */
export interface ChangedFile {
  /** UTF-8 path. A path that is not UTF-8 is a tree fault and stands here with its bad bytes as U+FFFD. */
  readonly path: string;
  readonly status: ChangeStatus;
  /** Six octal digits; `000000` where the side is absent. */
  readonly baseMode: string;
  readonly mode: string;
}

/** Something in the submitted tree that no contract allows; always the solver's doing. */
export interface TreeFault {
  readonly reason: Extract<
    SolverReason,
    'UNSAFE_PATH' | 'SUBMODULE_CHANGED' | 'SOURCE_TOO_LARGE' | 'LFS_POINTER'
  >;
  /** The offending path where there is one. */
  readonly path: string | null;
  readonly message: string;
}

/** The files of one tree. */
export interface TreeFiles {
  /** UTF-8 paths of files, links and gitlinks, sorted by bytes. */
  readonly paths: readonly string[];
  /** Bytes of one regular file; null where there is none or it is larger than `bytesMax`. */
  readFile(path: string, bytesMax: number): Promise<Uint8Array | null>;
}

/** A tree beside its base, with all that policy and criteria want to know of it. */
export interface CandidateTree {
  /** 40 hex digits of the commit's tree; of a derived tree that is no commit's, a digest of its own of 64. */
  readonly tree: string;
  readonly baseTree: string;
  /** The commit message, as UTF-8 with bad bytes replaced; for the claim trailer. */
  readonly message: string;
  readonly isDescendant: boolean;
  /** Sorted by path bytes. Empty where `isDescendant` is false: the comparison is not made. */
  readonly changedFiles: readonly ChangedFile[];
  /** Empty for a clean tree. With any fault `archive`, `files` and `derive` must not be called. */
  readonly treeFaults: readonly TreeFault[];
  archive(): TreeArchive;
  baseArchive(): TreeArchive;
  files(): TreeFiles;
  baseFiles(): TreeFiles;
}

/** One change of a tree. A file that is put in the place of a folder, or below a file, takes the other away. */
export type TreeEdit =
  /** The base's entry, whatever its type and mode; absent there: taken away. */
  | { readonly kind: 'revert'; readonly path: string }
  | { readonly kind: 'delete'; readonly path: string }
  /** Keeps the mode of a file that is there, or else that of the commit's; else a plain file. */
  | { readonly kind: 'write'; readonly path: string; readonly content: Uint8Array };

/** The commit, fetched and checked, readable until `close`. Nothing of it lies on the host as a working tree. */
export interface FetchedCommit extends CandidateTree {
  readonly commit: CommitSha;
  /**
   * The tree that edits make of the commit's, or of the base's, held against the base by the rules for commits. No
   * edits: the commit's tree, or the base's. Readable until this commit is closed.
   */
  derive(from: 'commit' | 'base', edits: readonly TreeEdit[]): CandidateTree;
  /**
   * The commit with the history that the base lacks, for `importCommit` of any other intake; for every commit, with
   * faults or no descendant as well. Read it before `close`. It is not the same bytes from every cache.
   * Throws INTAKE_STORE_DAMAGED, INTAKE_GIT_UNAVAILABLE, and INTAKE_CAPTURE_TOO_LARGE (candidate), which counts like a
   * refusal for SOURCE_TOO_LARGE.
   */
  exportCapture(signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Safe to call twice and after a failure; deletes what was private to this attempt. */
  close(): Promise<void>;
}

export type IntakeOutcome =
  | { readonly kind: 'fetched'; readonly source: FetchedCommit }
  /**
   * INCONCLUSIVE. A source reason: it could not be had or checked, and is worth another try. SETUP_FAILED_AT_BASE: the
   * base itself is beyond the limits or can't be laid out in a workspace, which no solver can mend or has caused.
   */
  | {
      readonly kind: 'unavailable';
      readonly reason: SourceReason | Extract<ContractReason, 'SETUP_FAILED_AT_BASE'>;
      readonly message: string;
    }
  /** The submission itself is at fault, and final: FAIL. */
  | { readonly kind: 'refused'; readonly reason: SolverReason; readonly message: string };

/** Paths of a base tree for approval. */
export interface BaseTree {
  readonly commit: CommitSha;
  readonly tree: string;
  /** UTF-8 paths of files, links and gitlinks, sorted. */
  readonly paths: readonly string[];
  /** Target by path of every symbolic link. */
  readonly links: ReadonlyMap<string, string>;
  /** Why no workspace can hold this tree exactly as it is, as a sentence; null where one can. */
  readonly layoutProblem: string | null;
  /** Bytes of one file; null where there is none or it is larger than `bytesMax`. */
  readFile(path: string, bytesMax: number): Promise<Uint8Array | null>;
  /** Paths of all files that are Git LFS pointers, sorted; whatever `.gitattributes` says, none has its content here. */
  lfsPointers(): Promise<readonly string[]>;
  /** The commit with its whole history, for `importBase` of any other intake. Throws INTAKE_BASE_UNAVAILABLE too. */
  exportCapture(signal: AbortSignal): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/**
 * Fetches commits. Lifecycle: any number of calls side by side, in any order; each result is closed by its caller. An aborted signal ends the call with the signal's reason and leaves nothing behind.
 *
 * Throws AppError: INTAKE_URL_REFUSED (caller), INTAKE_GIT_UNAVAILABLE, INTAKE_DISK_FULL, INTAKE_STORE_DAMAGED (infra).
 * Whatever else the URL, the server or the commit can cause is an outcome of `fetchCommit`, never an exception, so a
 * solver can't choose ERROR. `openBase`, which has no outcomes, also throws INTAKE_BASE_UNAVAILABLE (caller).
 * The calls of a BaseTree throw INTAKE_GIT_UNAVAILABLE and INTAKE_STORE_DAMAGED.
 */
export interface Intake {
  fetchCommit(request: IntakeRequest, signal: AbortSignal): Promise<IntakeOutcome>;
  /** `repository`: a URL, or the path of a local repository (the operator's own, for lint). */
  openBase(repository: string, baseCommit: CommitSha, signal: AbortSignal): Promise<BaseTree>;
  /** Whether the base, or the commit, is here, so that neither a capture nor a server is needed. Cheap. */
  holdsBase(request: BaseRequest): Promise<boolean>;
  holdsCommit(request: IntakeRequest): Promise<boolean>;
  /**
   * Takes in what `exportCapture` gave; from then on `openBase` and `fetchCommit` answer for these URLs and commits
   * without a server, as they did where the capture comes from. The base goes first. A capture of what is here already
   * is not read. Captures are as little trusted as a server's answer, and kept whole or not at all.
   *
   * Throws INTAKE_CAPTURE_DAMAGED (infra) for bytes that are not the whole capture of just this commit, and what
   * `capture` itself throws.
   */
  importBase(
    request: BaseRequest,
    capture: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<void>;
  importCommit(
    request: IntakeRequest,
    capture: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<void>;
}
