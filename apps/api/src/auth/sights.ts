import type { ContractRow, PrincipalRow, Reads } from '@kervyxa/db';
import { notFound } from '../errors.ts';
import { sightOf, type ContractSubject, type Sight } from './access.ts';

/** Looks up whether, and as whom, a principal may see a contract. All throw API_NOT_FOUND where it may not. */
export interface Sights {
  /**
   * Without the row: what it needs of a contract never changes once it is funded, so it is remembered. `what` was asked
   * for: what nobody may see and what there is not are told by the same words.
   */
  ofContract(viewer: PrincipalRow, contractId: string, what?: string): Promise<Sight>;
  contract(viewer: PrincipalRow, contractId: string): Promise<{ row: ContractRow; sight: Sight }>;
}

const REMEMBERED_MAX = 10_000;

export function createSights(reads: Pick<Reads, 'contract'>): Sights {
  const funded = new Map<string, ContractSubject>();

  function remember({ id, requesterId, inviteOnly, invitedIds, fundedAt }: ContractRow): void {
    if (fundedAt === null) return;
    if (funded.size >= REMEMBERED_MAX) funded.clear();
    funded.set(id, { requesterId, inviteOnly, invitedIds, fundedAt });
  }

  async function contract(viewer: PrincipalRow, contractId: string, what = 'contract') {
    const row = await reads.contract(contractId);
    if (row === null) throw notFound(what);
    remember(row);
    return { row, sight: sightOrThrow(viewer, row, what) };
  }

  return {
    contract,
    async ofContract(viewer, contractId, what = 'contract') {
      const known = funded.get(contractId);
      if (known !== undefined) return sightOrThrow(viewer, known, what);
      return (await contract(viewer, contractId, what)).sight;
    },
  };
}

function sightOrThrow(viewer: PrincipalRow, contract: ContractSubject, what: string): Sight {
  const sight = sightOf(viewer, contract);
  if (sight === null) throw notFound(what);
  return sight;
}
