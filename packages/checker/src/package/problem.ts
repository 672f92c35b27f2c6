import { z } from 'zod';
import { jsonObjectOf, textOf } from '../contract/schema-parts.ts';
import { SealingSchema } from '../stages/problem-case.ts';

const SlugSchema = z
  .string()
  .regex(/^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$/, 'expected letters and digits, joined by single -')
  .max(120);

/** `problem.json`. */
export const ProblemDetailsSchema = z
  .strictObject({
    slug: SlugSchema,
    title: textOf(200),
    summary: textOf(2_000),
    structure: z.enum(['SOLVE', 'BENCHMARK', 'DISCOVERY']).default('SOLVE'),
    benchmark: jsonObjectOf().optional(),
    priority_weight: z.number().min(0).max(1).default(0.5),
    /** Why a later revision replaces the one before. */
    revision_note: textOf(500).optional(),
    sealing: SealingSchema.optional(),
    /** A published contract, in the place of one in the folder. */
    verifier_contract: z
      .string()
      .regex(/^vct_[0-9a-z]{10,32}$/, 'expected an id such as vct_…')
      .optional(),
    skills: z
      .array(z.string().regex(/^skv_[0-9a-z]{10,32}$/, 'expected an id such as skv_…'))
      .max(20)
      .default([]),
  })
  .superRefine(({ structure, benchmark }, context) => {
    if ((structure === 'BENCHMARK') === (benchmark !== undefined)) return;
    const wanted =
      structure === 'BENCHMARK' ? 'expected a benchmark block' : 'expected no benchmark block';
    context.addIssue({ code: 'custom', path: ['benchmark'], message: wanted });
  });
export type ProblemDetails = z.infer<typeof ProblemDetailsSchema>;

/** `campaign.json`. */
export const CampaignDetailsSchema = z.strictObject({
  slug: SlugSchema,
  title: textOf(200),
  summary: textOf(2_000),
});
export type CampaignDetails = z.infer<typeof CampaignDetailsSchema>;
