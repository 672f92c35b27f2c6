import { type Acceptance, acceptanceKeys, type Scalar } from '../contract/acceptance.ts';
import type { StageOutcome } from './check-case.ts';

/** What a contract's own rule makes of evidence; the message tells people why. */
export interface AcceptanceResult {
  readonly outcome: StageOutcome;
  readonly message: string;
}

/**
 * Compares one field of the evidence with the contract's value. Nothing is coerced: a field that is missing, or of
 * another type than the value, decides nothing, and neither does an order of what is no number.
 */
export function acceptEvidence(acceptance: Acceptance, evidence: unknown): AcceptanceResult {
  const { field, op, value } = acceptance;
  const found = readField(evidence, acceptanceKeys(field));
  const name = JSON.stringify(field);
  if (found === undefined)
    return { outcome: 'inconclusive', message: `expected the field ${name}, got none` };
  const candidates = op === 'in' ? value : [value];
  const comparable = candidates.filter(
    (each) =>
      typeOf(each) === typeOf(found) && (op === 'eq' || op === 'in' || typeof each === 'number'),
  );
  const wanted = `${op} ${JSON.stringify(value)}`;
  const rule = `expected ${name} to be ${wanted}`;
  if (comparable.length === 0)
    return {
      outcome: 'inconclusive',
      message: `${rule}, got ${typeOf(found)}, which can't be compared`,
    };
  const isAccepted = comparable.some((each) => compare(op, found, each));
  const got = JSON.stringify(found);
  return isAccepted
    ? { outcome: 'verified', message: `${name} is ${got}, as the contract asks: ${wanted}` }
    : { outcome: 'refuted', message: `${rule}, got ${got}` };
}

/** The value at the end of the keys; undefined where there is none. Only own members count. */
function readField(evidence: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null) return undefined;
    const isIndex = /^(0|[1-9][0-9]*)$/.test(key);
    if (Array.isArray(value) && !isIndex) return undefined;
    return Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
  }, evidence);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function compare(op: Acceptance['op'], found: unknown, value: Scalar): boolean {
  if (op === 'eq' || op === 'in') return found === value;
  if (typeof found !== 'number' || typeof value !== 'number') return false;
  return op === 'gte' ? found >= value : found <= value;
}
