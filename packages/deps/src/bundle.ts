import type { TreeArchive } from '@kervyxa/core';

export interface PackRequest {
  /** Texts of package-lock.json files, by what to call them in messages. */
  readonly lockfiles: readonly { readonly name: string; readonly text: string }[];
  /** Texts of requirements.txt files whose every line pins a version and a hash. */
  readonly requirements: readonly { readonly name: string; readonly text: string }[];
}

/** What `npm ci --offline` and `pip install --no-index` need, as a tree of regular files with one digest. */
export interface DependencyBundle {
  /** 64 hex digits: SHA-256 of the archive's stream, which contracts name as `environment.dependencies.sha256`. */
  readonly sha256: string;
  readonly archive: TreeArchive;
}
