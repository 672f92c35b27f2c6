import { idSchemaOf, ReasonCodeSchema } from '@kervyxa/core';
import { z } from 'zod';

export const PrincipalIdField = idSchemaOf('principal');
export const ContractIdField = idSchemaOf('contract');
export const SubmissionIdField = idSchemaOf('submission');
export const RunIdField = idSchemaOf('run');
export const ChallengeIdField = idSchemaOf('challenge');
export const TransferIdField = idSchemaOf('transfer');
export const PayoutIdField = idSchemaOf('payout');
export const PublishedContractIdField = idSchemaOf('verifierContract');
export const ImplementationIdField = idSchemaOf('implementation');
export const ProblemIdField = idSchemaOf('problem');
export const EntryIdField = idSchemaOf('entry');
export const CheckIdField = idSchemaOf('check');
export const SeatIdField = idSchemaOf('seat');
/** Of slots, roles, stages and nodes. */
export const KeyField = z
  .string()
  .regex(/^[a-z0-9]+(_[a-z0-9]+)*$/, 'expected lower-case letters, digits and single _')
  .max(40);

/** What people write to each other: not only blanks, and nothing that the database or a digest can't hold. */
export function textFieldOf(lengthMax: number): z.ZodString {
  return z
    .string()
    .max(lengthMax)
    .refine((text) => text.trim() !== '', 'expected text, got nothing or only blanks')
    .refine(isHoldableText, 'expected text without NUL and without halves of characters');
}

const JSON_DEPTH_MAX = 64;

/** Any JSON value that the database and a digest can hold; left out, null. */
export const JsonField = z
  .unknown()
  .refine(
    (value) => isHoldable(value, 0),
    `expected JSON of at most ${JSON_DEPTH_MAX} levels, without NUL, halves of characters and numbers beyond a double`,
  )
  .default(null);

function isHoldable(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return isHoldableText(value);
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return (
    depth < JSON_DEPTH_MAX &&
    Object.entries(value).every(([key, each]) => isHoldableText(key) && isHoldable(each, depth + 1))
  );
}

function isHoldableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Whoever knew all but a little of what was hashed could find the rest by trying. */
export const ResultDigestField = z
  .string()
  .nullable()
  .describe('Over the whole result, what is hidden too: null for those who do not see that.');
export const ReasonField = ReasonCodeSchema.nullable();
/** UTC. */
export const TimeField = z.iso.datetime();
/** Minor units; zero and below too, for balances. */
export const AmountField = z.string().regex(/^-?[0-9]{1,30}$/);
export const CountField = z.string().regex(/^[0-9]{1,30}$/);

/** The body of routes that need no input: none, or an empty object. */
export const NoBody = z.strictObject({}).nullish();

export function toTime(date: Date): string {
  return date.toISOString();
}

export function toTimeOrNull(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}
