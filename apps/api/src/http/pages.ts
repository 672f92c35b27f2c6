import { z } from 'zod';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;

/** `?limit=&after=`: numbers come as text in a query, and only as decimal digits. */
export const PageQuery = z.strictObject({
  limit: z
    .string()
    .regex(/^[1-9][0-9]{0,2}$/, 'expected a number from 1 to 200')
    .refine((text) => Number(text) <= LIMIT_MAX, 'expected a number from 1 to 200')
    .optional()
    .describe(`Items of a page, 1 to ${LIMIT_MAX}; ${LIMIT_DEFAULT} where left out.`),
  after: z
    .string()
    .regex(/^[0-9A-Za-z_:.-]{1,128}$/)
    .optional()
    .describe('`next` of the page before.'),
});

export function pageOf({ limit, after }: z.infer<typeof PageQuery>): {
  limit: number;
  after: string | null;
} {
  return { limit: limit === undefined ? LIMIT_DEFAULT : Number(limit), after: after ?? null };
}

export function pageViewOf<T extends z.ZodType>(
  item: T,
): z.ZodObject<{ items: z.ZodArray<T>; next: z.ZodNullable<z.ZodString> }> {
  return z.strictObject({
    items: z.array(item),
    next: z.string().nullable().describe('Cursor of the next page; null on the last one.'),
  });
}
