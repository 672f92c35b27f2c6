import type { TreeArchive } from '@kervyxa/core';

/** A file's text, by what to call it in messages. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
}

export interface PackRequest {
  /** Of package-lock.json files. */
  readonly lockfiles: readonly NamedText[];
  /** Of requirements.txt files whose every line pins a version and its hashes. */
  readonly requirements: readonly NamedText[];
}

export interface PackedPackage {
  readonly kind: 'npm' | 'python';
  readonly name: string;
  readonly version: string;
  /** As npm writes it: an algorithm, a dash and the digest in base64. */
  readonly integrity: string;
  readonly sizeBytes: number;
}

/** What `npm ci --offline` and `pip install --no-index` need, as a tree of regular files with one digest. */
export interface DependencyBundle {
  /** 64 hex digits: SHA-256 of the archive's stream, which contracts name as `environment.dependencies.sha256`. */
  readonly sha256: string;
  readonly archive: TreeArchive;
  /** By kind, name, version and integrity; wheels of one version are several. */
  readonly packages: readonly PackedPackage[];
}

export interface PackProgress {
  readonly packagesDone: number;
  /** Grows from requirements to wheels once the index has told of them. */
  readonly packagesTotal: number;
  /** Of tarballs and wheels so far, whether from the network or from npm's cache. */
  readonly bytes: number;
  /** What has been waited for the longest, `date-fns@3.6.0`; null where nothing is. */
  readonly waitingFor: string | null;
}
