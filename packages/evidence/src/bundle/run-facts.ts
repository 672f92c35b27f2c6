import { z } from 'zod';

/** `run.json`: what was asked beside the contract. */
export const RunFactsSchema = z.strictObject({
  schema: z.literal('kervyxa.evidence-run.v1'),
  runRef: z.string().min(1).max(2_048),
  /** Why the run was made. */
  purpose: z.enum(['verification', 'rerun']),
  repositoryUrl: z.string().min(1).max(2_048),
  commit: z.string().regex(/^[0-9a-f]{40}$/),
  /** The token that the commit had to carry; null where none was issued. */
  claimToken: z.string().max(256).nullable(),
});
export type RunFacts = z.infer<typeof RunFactsSchema>;
