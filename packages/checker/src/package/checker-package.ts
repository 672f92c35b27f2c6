import type { ContractTerms } from '../contract/schema.ts';
import type { ReviewProtocolTerms } from '../stages/review-protocol.ts';

/** Bytes under a name that is only for people; who reads them is told where they are. */
export interface InputFile {
  readonly filename: string;
  /** As somebody declared it; no more than a label. */
  readonly mediaType: string | null;
  readonly content: Uint8Array;
}

/** Resources of one invocation; what is not asked for is a default. */
export interface StageLimits {
  readonly vcpu: number;
  readonly memoryMb: number;
  /** What may be written to /output; memory too, so it counts against both. */
  readonly diskMb: number;
  readonly timeoutSeconds: number;
}

/** What runs for a sandbox stage. */
export type StageProgram = {
  /** `sha256:…` over program, runtime and limits: another byte is another implementation. */
  readonly digest: string;
  readonly limits: StageLimits;
} & (
  | { readonly kind: 'script'; readonly filename: string; readonly content: Uint8Array }
  /** Such as `json-schema-check:1`. */
  | { readonly kind: 'builtin'; readonly name: string }
  /** `name@sha256:…`; its own entrypoint. */
  | { readonly kind: 'image'; readonly reference: string }
);

/** A checker package that lint lets through. */
export interface CheckerPackage {
  /** 64 hex digits: the SHA-256 of the sealed folder, which contracts name. */
  readonly digest: string;
  /** The contract without what only publication gives it: id, version, times. What authors may leave out is filled in. */
  readonly contract: ContractTerms;
  /** `vct_…`, where the document says that it is published. */
  readonly contractId: string | null;
  /** The same of its family and of its place in it. */
  readonly verifierId: string | null;
  readonly versionNumber: number | null;
  /** By stage key; exactly the sandbox stages. */
  readonly programs: ReadonlyMap<string, StageProgram>;
  /** By slot key: what the folder `reference/` binds. */
  readonly reference: ReadonlyMap<string, InputFile>;
  /** By content hash (`sha256:…`): the bytes that conformance fixtures name. */
  readonly fixtureFiles: ReadonlyMap<string, Uint8Array>;
  /** What `./review-protocol.json` says, which review stages name until it is published. */
  readonly reviewProtocol: ReviewProtocolTerms | null;
}
