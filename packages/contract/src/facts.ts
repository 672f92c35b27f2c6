/** What approval knows about the base tree and the operator's settings. */
export interface BaseFacts {
  readonly commit: string;
  /** Every file of the base tree. */
  readonly paths: readonly string[];
  /** Texts of the files that `interestingBaseFiles` asked for, as far as they are small and UTF-8. */
  readonly files: ReadonlyMap<string, string>;
  readonly lfsPointers: readonly string[];
  /** Origins such as `http://127.0.0.1:8080` that the operator lets repositories come from. */
  readonly allowedOrigins: readonly string[];
  /** Names of the runtime catalogue. */
  readonly catalogue: readonly string[];
}
