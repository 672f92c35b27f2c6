import type { CheckerPackage, ContractTerms, ReviewProtocolTerms, Stage } from '@kervyxa/checker';
import { canonicalDigest, canonicalJson } from '@kervyxa/core';
import { createDbError } from '../../errors.ts';
import type { ExecuteDeps } from '../execute.ts';
import { queryRows, runChange, type Sql } from '../sql.ts';

/** The terms as they are published: protocols by their ids, each of which there is. */
export async function publishProtocols(
  sql: Sql,
  { newId }: Pick<ExecuteDeps, 'newId'>,
  actorId: string,
  checker: CheckerPackage,
): Promise<ContractTerms> {
  let ownId: string | null = null;
  const stages: Stage[] = [];
  for (const stage of checker.contract.stages) {
    if (stage.kind !== 'review') {
      stages.push(stage);
      continue;
    }
    const { review_protocol_id: named } = stage;
    if (named.startsWith('rpt_')) {
      await assertProtocol(sql, named);
      stages.push(stage);
      continue;
    }
    if (checker.reviewProtocol === null) throw createProtocolUnknown(named);
    ownId ??= await insertProtocol(sql, newId('reviewProtocol'), actorId, checker.reviewProtocol);
    stages.push({ ...stage, review_protocol_id: ownId });
  }
  return { ...checker.contract, stages };
}

async function assertProtocol(sql: Sql, id: string): Promise<void> {
  const known = await queryRows(sql, 'SELECT 1 FROM review_protocols WHERE id = $1', [id]);
  if (known.length === 0) throw createProtocolUnknown(id);
}

/** The id of the same author's same protocol, where there is one. */
async function insertProtocol(
  sql: Sql,
  id: string,
  createdById: string,
  protocol: ReviewProtocolTerms,
): Promise<string> {
  const digest = canonicalDigest(protocol);
  await runChange(
    sql,
    `INSERT INTO review_protocols (id, created_by_id, document, digest) VALUES ($1, $2, $3, $4)
     ON CONFLICT (created_by_id, digest) DO NOTHING`,
    [id, createdById, canonicalJson(protocol), digest],
  );
  const [row] = await queryRows<{ id: string }>(
    sql,
    'SELECT id FROM review_protocols WHERE created_by_id = $1 AND digest = $2',
    [createdById, digest],
  );
  if (row === undefined) throw new Error(`expected review protocol ${digest}, got no row`);
  return row.id;
}

function createProtocolUnknown(named: string): Error {
  return createDbError('DB_PROTOCOL_UNKNOWN', {
    message: `expected a review protocol that was published or is in the package, got ${JSON.stringify(named)}`,
    fix: 'Put review-protocol.json beside the contract, or name the id of a published one.',
  });
}
