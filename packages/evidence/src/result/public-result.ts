import { CHECK_REASONS, SOLVER_REASONS, SOURCE_REASONS } from '@kervyxa/core';

interface Told {
  readonly id: string;
  readonly type: string;
  readonly visibility: 'public' | 'hidden';
  readonly status: string;
  readonly reason: string | null;
  readonly message: string | null;
}

/** What the cut needs to know of a result; the rest is passed on as it is. */
interface WholeResult {
  readonly contractDigest: string | null;
  readonly criteria: readonly Told[];
  readonly reasons: readonly {
    readonly code: string;
    readonly message: string | null;
    readonly subject: string | null;
  }[];
  readonly inputs?: { readonly package: string | null } | null;
}

const ABOUT_COMMIT = new Set<string>([...SOLVER_REASONS, ...SOURCE_REASONS, ...CHECK_REASONS]);

/** Whether sentences about the reason are about the commit; those of others may tell of the package or the machine. */
export function isTellable(reason: string): boolean {
  return ABOUT_COMMIT.has(reason);
}

/**
 * A result as it may be told to whoever sees no hidden criteria: of these only status and reason code, no digest that
 * depends on them, and no sentence about package or machine (ADR 0032).
 */
export function toPublicResult<T extends WholeResult>(result: T): T {
  const hidden = new Set(
    result.criteria.filter(({ visibility }) => visibility === 'hidden').map(({ id }) => id),
  );
  return {
    ...result,
    contractDigest: null,
    criteria: result.criteria.map((each) =>
      hidden.has(each.id) ? toBareStatus(each) : withoutUntellable(each),
    ),
    reasons: result.reasons.map((reason) =>
      hidden.has(reason.subject ?? '') || !isTellable(reason.code)
        ? { ...reason, message: null }
        : reason,
    ),
    ...(result.inputs && { inputs: { ...result.inputs, package: null } }),
  };
}

function withoutUntellable<T extends Told>(criterion: T): T {
  const { reason } = criterion;
  return reason === null || isTellable(reason) ? criterion : { ...criterion, message: null };
}

/** Whatever else a criterion may come to have is left out until somebody decides otherwise. */
function toBareStatus({ id, type, visibility, status, reason }: Told) {
  return {
    id,
    type,
    visibility,
    status,
    reason,
    message: null,
    exitCode: null,
    metric: null,
    peakMemoryBytes: null,
    durationMs: null,
    outputSha256: null,
  };
}
