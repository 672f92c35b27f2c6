/** What approval knows about the base tree. */
export interface BaseFacts {
  readonly commit: string;
  /** Every file of the base tree. */
  readonly paths: readonly string[];
  /** Texts of the files that `interestingBaseFiles` asked for, as far as they are small and UTF-8. */
  readonly files: ReadonlyMap<string, string>;
  readonly lfsPointers: readonly string[];
  /** Target by path of every symbolic link of the base; left out where there is none. */
  readonly links?: ReadonlyMap<string, string>;
  /** Why no workspace can hold the base tree exactly as it is, as a sentence; null or left out where one can. */
  readonly layoutProblem?: string | null;
}

/** What the operator of this machine allows. */
export interface OperatorSettings {
  /** Origins such as `http://127.0.0.1:8080` that repositories may come from besides public https. */
  readonly allowedOrigins: readonly string[];
  /** Names of the runtime catalogue; null where there is none here, so that any `kervyxa-runtime/…` will do. */
  readonly catalogue: readonly string[] | null;
  /** Shortest challenge and response window; WINDOW_SECONDS_MIN where left out. */
  readonly windowSecondsMin?: number;
}

export const PUBLIC_SETTINGS: OperatorSettings = { allowedOrigins: [], catalogue: null };
