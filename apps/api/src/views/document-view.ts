import { parseContract, toPublicContract } from '@kervyxa/contract';
import { canonicalJson } from '@kervyxa/core';
import { seesHidden, seesOwners, type Sight } from '../auth/access.ts';

/** The document as it may be seen: whole by requester and operator, cut down for everybody else: what public attestations name. */
export function toDocumentView(text: string, sight: Sight): string {
  if (seesOwners(sight)) return text;
  const contract = parseContract(JSON.parse(text));
  return canonicalJson(toPublicContract(contract, { withHidden: seesHidden(sight) }));
}
