import { z } from 'zod';
import { CriterionSchema } from './criterion-schema.ts';
import { type Contract, ContractSchema } from './schema.ts';

/**
 * The contract as it may be told to others than requester and operator: without proof commits, the invited and the
 * package's digest; of a hidden criterion only that it is there, and no words that were written about it, unless
 * `withHidden`. What is left out is left out as a key, so nobody takes it for the whole document, whose digest it
 * hasn't.
 */
export function toPublicContract(
  contract: Contract,
  { withHidden }: { readonly withHidden: boolean },
) {
  const {
    proof: _proof,
    verifierPackage,
    submission,
    criteria,
    acknowledgements,
    ...open
  } = contract;
  const { invited: _invited, ...terms } = submission;
  return {
    ...open,
    ...(withHidden ? { criteria, acknowledgements } : { criteria: criteria.map(toOpenCriterion) }),
    submission: terms,
    hasVerifierPackage: verifierPackage !== null,
  };
}
export type PublicContract = ReturnType<typeof toPublicContract>;

function toOpenCriterion(criterion: Contract['criteria'][number]) {
  if (criterion.visibility === 'public') return criterion;
  const { id, type, visibility } = criterion;
  return { id, type, visibility };
}

const {
  proof: _proof,
  verifierPackage: _package,
  acknowledgements: _acknowledgements,
  submission: SubmissionSchema,
  ...OPEN_SHAPE
} = ContractSchema.shape;
const { invited: _invited, ...SUBMISSION_SHAPE } = SubmissionSchema.shape;

const HiddenCriterionSchema = z.strictObject({
  id: z.string(),
  type: z.enum(CriterionSchema.options.map((option) => option.shape.type.value)),
  visibility: z.literal('hidden'),
});

/** What `toPublicContract` gives whoever does not see hidden criteria, as it comes from outside. */
export const PublicContractSchema = z.strictObject({
  ...OPEN_SHAPE,
  submission: z.strictObject(SUBMISSION_SHAPE),
  criteria: z
    .array(
      z.union([
        HiddenCriterionSchema,
        CriterionSchema.refine(({ visibility }) => visibility === 'public'),
      ]),
    )
    .min(1)
    .max(64),
  hasVerifierPackage: z.boolean(),
}) satisfies z.ZodType<PublicContract>;
