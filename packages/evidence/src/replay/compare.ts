import type { Contract, PublicContract } from '@kervyxa/contract';
import { VOLATILE_FIELDS, type VerificationResult } from '@kervyxa/verifier';
import type { VerifiedBundle } from '../bundle/verify-texts.ts';
import { toPublicResult } from '../result/public-result.ts';
import { toRecordedResult, type RecordedResult } from '../result/recorded.ts';

/** One field of the result that came out otherwise. */
export interface Difference {
  /** JSON Pointer; a criterion goes by its id: `/criteria/says-hello/status`. */
  readonly pointer: string;
  /** Null also where there is no such field. */
  readonly expected: unknown;
  readonly got: unknown;
}

/**
 * Every field in which a replay is not what the bundle says, but for those that may differ from run to run. `skipped`:
 * criteria that were not run again; with any, verdict and what follows from them are not compared either.
 */
export function compareResults(
  { result: expected, view, contract }: VerifiedBundle,
  fresh: VerificationResult,
  skipped: readonly string[],
): Difference[] {
  const recorded = toRecordedResult(fresh);
  const got = view === 'public' ? toPublicResult(recorded) : recorded;
  const moving = movingIn(contract);
  const [left, right] = [expected, got].map((each) => flatten(toCompared(each, skipped, moving)));
  const pointers = [...new Set([...(left?.keys() ?? []), ...(right?.keys() ?? [])])];
  return pointers.flatMap((pointer) => {
    const values = { expected: left?.get(pointer) ?? null, got: right?.get(pointer) ?? null };
    return values.expected === values.got ? [] : [{ pointer, ...values }];
  });
}

interface Moving {
  readonly metrics: ReadonlySet<string>;
  readonly messages: ReadonlySet<string>;
}

/** Criteria, by id, of which a number is the kernel's, or the words are those of a program, which may tell the time. */
function movingIn({ criteria }: Contract | PublicContract): Moving {
  const ofKernel = criteria.filter(
    (each) => 'source' in each && each.source === 'peak_memory_bytes',
  );
  const worded = criteria.filter(({ type }) => type === 'checker');
  return {
    metrics: new Set(ofKernel.map(({ id }) => id)),
    messages: new Set([...ofKernel, ...worded].map(({ id }) => id)),
  };
}

function toCompared(
  { criteria, reasons, verdict, contractDigest, ...rest }: RecordedResult,
  skipped: readonly string[],
  moving: Moving,
): object {
  const isWhole = skipped.length === 0;
  const kept = reasons.filter(({ subject }) => !skipped.includes(subject ?? ''));
  return {
    ...rest,
    ...(isWhole && { verdict, contractDigest }),
    criteria: Object.fromEntries(
      criteria
        .filter(({ id }) => !skipped.includes(id))
        .map((criterion) => [criterion.id, withoutMoving(criterion, moving)]),
    ),
    reasons: kept.map((reason) =>
      moving.messages.has(reason.subject ?? '') ? { ...reason, message: null } : reason,
    ),
  };
}

function withoutMoving(criterion: RecordedResult['criteria'][number], moving: Moving): object {
  const kept: Record<string, unknown> = { ...criterion };
  for (const field of VOLATILE_FIELDS) delete kept[field];
  if (moving.metrics.has(criterion.id)) delete kept['metric'];
  if (moving.messages.has(criterion.id)) delete kept['message'];
  return kept;
}

/** Every leaf by its JSON Pointer. */
function flatten(value: unknown, pointer = ''): Map<string, unknown> {
  if (typeof value !== 'object' || value === null) return new Map([[pointer, value]]);
  return new Map(
    Object.entries(value).flatMap(([name, each]) => [
      ...flatten(each, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
    ]),
  );
}
