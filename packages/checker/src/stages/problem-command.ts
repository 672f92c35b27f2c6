import type { Binding } from './problem-case.ts';

/** What somebody wants of a problem. The caller's right to ask is checked before; conflicts here. */
export type ProblemCommand =
  /** Binds a slot, or binds it to something else, of a DRAFT. */
  | {
      readonly kind: 'bind';
      readonly actorId: string;
      readonly slot: string;
      readonly binding: Binding;
    }
  | { readonly kind: 'open'; readonly actorId: string }
  | { readonly kind: 'close'; readonly actorId: string }
  /** The second step of an early release; `prepareRelease` is the first. */
  | {
      readonly kind: 'release';
      readonly actorId: string;
      readonly fingerprint: string;
      /** Other problems of the owner that bind the same sealed bytes. */
      readonly alsoBoundBy: readonly string[];
    }
  | { readonly kind: 'submit'; readonly entryId: string; readonly participantId: string }
  | {
      readonly kind: 'nominate';
      readonly participantId: string;
      readonly entryId: string;
      /** Whose entry it is. */
      readonly solverId: string;
      /** By a role, as operators do. */
      readonly readsSealed: boolean;
    };
