import { parseContract, type Contract } from '@kervyxa/contract';
import { seesHidden, seesOwners, type Sight } from '../auth/access.ts';

/**
 * The document as it may be seen. Others than requester and operator get neither proof commits, the invited nor the
 * package's digest; solvers and challengers of a hidden criterion only that it is there, and no words that were written
 * about it. What is left out is left out as a key, so nobody takes it for the whole document, whose digest it hasn't.
 */
export function toDocumentView(text: string, sight: Sight): string {
  if (seesOwners(sight)) return text;
  const {
    proof: _proof,
    verifierPackage,
    submission,
    criteria,
    acknowledgements,
    ...open
  } = parseContract(JSON.parse(text));
  const { invited: _invited, ...terms } = submission;
  return JSON.stringify({
    ...open,
    ...(seesHidden(sight)
      ? { criteria, acknowledgements }
      : { criteria: criteria.map(toOpenCriterion) }),
    submission: terms,
    hasVerifierPackage: verifierPackage !== null,
  });
}

function toOpenCriterion(criterion: Contract['criteria'][number]): object {
  if (criterion.visibility === 'public') return criterion;
  const { id, type, visibility } = criterion;
  return { id, type, visibility };
}
