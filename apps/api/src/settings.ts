import type { OperatorSettings } from '@kervyxa/contract';
import { BUNDLE_LIMITS } from '@kervyxa/core';
import { PACKAGE_LIMITS, type UploadLimits } from '@kervyxa/intake/package';

/** What the operator decides about the HTTP side. */
export interface ApiSettings {
  /** What contracts and repositories are allowed. */
  readonly operator: OperatorSettings;
  /** Requests of one key in a window, and of one address without a valid key. */
  readonly requestsPerWindowMax: number;
  readonly strangerRequestsPerWindowMax: number;
  readonly rateWindowMs: number;
  readonly bodyBytesMax: number;
  readonly contractBytesMax: number;
  /** What a hidden package or a dependency bundle may have, and up to what size any plain tar will do. */
  readonly upload: UploadLimits;
  /** Small packages are checked in memory, so only a few at once, and one of each principal. */
  readonly uploadsMax: number;
  /** Bundles of evidence that are sent at once, and one to each principal. */
  readonly bundlesMax: number;
  readonly headersTimeoutMs: number;
  /** For a whole request, body included. */
  readonly requestTimeoutMs: number;
  /** Silence on a connection. */
  readonly connectionTimeoutMs: number;
  /** How often the server looks for requests that are beyond their time. */
  readonly timeoutCheckMs: number;
  /** Open event streams of one principal, and of all. */
  readonly watchersPerPrincipalMax: number;
  readonly watchersMax: number;
  /** A comment is sent after so much silence, so that dead connections are noticed. */
  readonly heartbeatMs: number;
  /** A reader that takes nothing for so long is let go. */
  readonly stalledReaderMs: number;
  /** How long a known key is trusted without asking the database: revocation takes effect within it. */
  readonly keyTrustMs: number;
  /** Whether the last address of X-Forwarded-For counts: only behind a proxy that adds it. */
  readonly trustProxy: boolean;
}

export const DEFAULT_API_SETTINGS: ApiSettings = {
  operator: { allowedOrigins: [], catalogue: null },
  requestsPerWindowMax: 1_200,
  strangerRequestsPerWindowMax: 120,
  rateWindowMs: 60_000,
  bodyBytesMax: 65_536,
  contractBytesMax: 1_048_576,
  upload: { ...BUNDLE_LIMITS, heldBytesMax: PACKAGE_LIMITS.bytesMax },
  uploadsMax: 2,
  bundlesMax: 8,
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 300_000,
  connectionTimeoutMs: 60_000,
  timeoutCheckMs: 1_000,
  watchersPerPrincipalMax: 16,
  watchersMax: 1_000,
  heartbeatMs: 15_000,
  stalledReaderMs: 30_000,
  keyTrustMs: 2_000,
  trustProxy: false,
};
