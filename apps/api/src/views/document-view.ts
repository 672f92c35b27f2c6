import { parseContract, toPublicContract } from '@kervyxa/contract';
import { seesHidden, seesOwners, type Sight } from '../auth/access.ts';

/** The document as it may be seen: whole by requester and operator, cut down for everybody else. */
export function toDocumentView(text: string, sight: Sight): string {
  if (seesOwners(sight)) return text;
  const contract = parseContract(JSON.parse(text));
  return JSON.stringify(toPublicContract(contract, { withHidden: seesHidden(sight) }));
}
