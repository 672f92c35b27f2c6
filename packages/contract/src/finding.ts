import type { FindingCode } from './finding-table.ts';

export type Severity = 'refuse' | 'acknowledge' | 'advise';

/** One thing that approval has to say about a contract. `code` is stable for ever. */
export interface Finding {
  readonly code: FindingCode;
  readonly severity: Severity;
  /** JSON Pointer (RFC 6901) into the document; empty for the document itself. */
  readonly pointer: string;
  readonly message: string;
  readonly fix: string;
  /** What proving saw, as printable text: the end of a log, or the diff that passed. Left out by lint. */
  readonly evidence?: string;
  /** The requester's reason where an `acknowledge` finding is settled by one; null otherwise. */
  readonly acknowledgement: string | null;
}
