import { z } from 'zod';
import { LIST_LENGTHS, patternOf } from './schema-parts.ts';

const ScalarSchema = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: 'expected a text, a number, true, false or null',
});
/** A JSON value that has no parts. */
export type Scalar = z.infer<typeof ScalarSchema>;

/** A JSON Pointer: in it ~ stands only before 0 or 1. */
const FieldSchema = patternOf(
  /^([^~]|~[01])*$/,
  'expected a JSON Pointer, in which ~ is written ~0 and / is ~1',
  120,
);

/** The rule that a contract applies to the evidence of an external stage. */
export const AcceptanceSchema = z.discriminatedUnion('op', [
  z.strictObject({
    field: FieldSchema,
    op: z.enum(['eq', 'gte', 'lte']),
    value: ScalarSchema,
  }),
  z.strictObject({
    field: FieldSchema,
    op: z.literal('in'),
    value: z.array(ScalarSchema).max(LIST_LENGTHS.value),
  }),
]);
export type Acceptance = z.infer<typeof AcceptanceSchema>;

/** The keys that lead to the field: a JSON Pointer, whose first slash may be left out. */
export function acceptanceKeys(field: string): string[] {
  return field
    .replace(/^\//, '')
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}
