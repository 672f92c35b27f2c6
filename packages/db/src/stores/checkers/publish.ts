import type { ContractTerms, ReviewProtocolTerms, Stage, VerifierContract } from '@kervyxa/checker';
import { canonicalDigest, canonicalJson } from '@kervyxa/core';
import type {
  CheckerCommands,
  ImplementationRow,
  Publication,
  PublishedContractRow,
} from '../../checker-ports.ts';
import { brokenUniqueConstraint } from '../../driver-errors.ts';
import { createDbError } from '../../errors.ts';
import type { Verifier } from '../../generated/client.ts';
import { appendAudit } from '../append-audit.ts';
import type { ExecuteDeps } from '../execute.ts';
import type { Transaction } from '../in-transaction.ts';
import { loadNow } from '../load-case.ts';
import { queryRows, runChange, type Sql } from '../sql.ts';
import {
  CONTRACTS,
  type ContractRecord,
  createUnknown,
  IMPLEMENTATIONS,
  type ImplementationRecord,
  toImplementationRow,
  toPublishedRow,
  toVerifierRow,
  VERIFIERS,
} from './rows.ts';

type PublishInput = Parameters<CheckerCommands['publish']>[1];
type PublishDeps = Pick<ExecuteDeps, 'newId' | 'sendJob'>;

/**
 * In the caller's transaction.
 *
 * 1. The family is locked, or made: publications of one family are one after the other.
 * 2. Review protocols of the package are published, and named by their ids.
 * 3. Terms that the family has are that version; others are the next one.
 * 4. A program that the stage has neither current nor in trial waits for its fixtures.
 */
export async function publish(
  transaction: Transaction,
  deps: PublishDeps,
  actorId: string,
  input: PublishInput,
): Promise<Publication> {
  const { sql } = transaction;
  await assertOwnPackage(sql, input.checker.digest, actorId);
  const verifier = await openVerifier(sql, deps, actorId, input);
  const terms = await publishProtocols(sql, deps, actorId, input);
  const digest = canonicalDigest(terms);
  const known = await findContract(sql, 'c.verifier_id = $1 AND c.digest = $2', [
    verifier.id,
    digest,
  ]);
  const contract = known ?? (await insertContract(sql, deps, { verifier, actorId, terms, digest }));
  const implementations: ImplementationRow[] = [];
  for (const [stageKey, { digest: programDigest }] of input.checker.programs) {
    const facts = { contractId: contract.id, stageKey, programDigest };
    implementations.push(
      await openImplementation(transaction, deps, {
        ...facts,
        actorId,
        packageSha256: input.checker.digest,
      }),
    );
  }
  return {
    verifier: toVerifierRow(verifier),
    contract,
    isNewContract: known === null,
    implementations,
  };
}

/** Throws DB_SUBJECT_UNKNOWN, DB_VERIFIER_NOT_OWN. */
export async function yank(
  sql: Sql,
  actorId: string,
  contractId: string,
): Promise<PublishedContractRow> {
  const contract = await findContract(sql, 'c.id = $1', [contractId]);
  if (contract === null) throw createUnknown('a published contract', contractId);
  if (contract.ownerId !== actorId) throw createNotOwn(contract.verifierId);
  await runChange(
    sql,
    `UPDATE verifier_contracts SET yanked_at = date_trunc('milliseconds', clock_timestamp())
     WHERE id = $1 AND yanked_at IS NULL`,
    [contractId],
  );
  return (await findContract(sql, 'c.id = $1', [contractId])) ?? contract;
}

export async function findContract(
  sql: Sql,
  condition: string,
  values: readonly unknown[],
): Promise<PublishedContractRow | null> {
  const [row] = await queryRows<ContractRecord>(
    sql,
    `SELECT ${CONTRACTS} WHERE ${condition}`,
    values,
  );
  return row === undefined ? null : toPublishedRow(row);
}

async function assertOwnPackage(sql: Sql, sha256: string, ownerId: string): Promise<void> {
  const known = await queryRows(sql, 'SELECT 1 FROM packages WHERE sha256 = $1 AND owner_id = $2', [
    sha256,
    ownerId,
  ]);
  if (known.length > 0) return;
  throw createDbError('DB_PACKAGE_UNKNOWN', {
    message: `expected a package of your own, got ${JSON.stringify(sha256.slice(0, 80))}`,
    fix: 'Upload it first.',
  });
}

/** Locked until the transaction ends. */
async function openVerifier(
  sql: Sql,
  { newId }: PublishDeps,
  actorId: string,
  { verifierId, name }: PublishInput,
): Promise<Verifier> {
  if (verifierId === null) return insertVerifier(sql, newId('verifier'), actorId, name);
  const [verifier] = await queryRows<Verifier>(
    sql,
    `SELECT ${VERIFIERS} WHERE v.id = $1 FOR NO KEY UPDATE`,
    [verifierId],
  );
  if (verifier === undefined) throw createUnknown('a verifier', verifierId);
  if (verifier.ownerId !== actorId) throw createNotOwn(verifierId);
  return verifier;
}

async function insertVerifier(
  sql: Sql,
  id: string,
  ownerId: string,
  name: string,
): Promise<Verifier> {
  try {
    await runChange(sql, 'INSERT INTO verifiers (id, owner_id, name) VALUES ($1, $2, $3)', [
      id,
      ownerId,
      name,
    ]);
  } catch (error) {
    if (brokenUniqueConstraint(error) === null) throw error;
    throw createDbError('DB_VERIFIER_DUPLICATE', {
      message: `expected a name that none of your verifiers has, got ${JSON.stringify(name)}`,
      fix: 'Publish a further version under the id of that verifier, or choose another name.',
      cause: error,
    });
  }
  const [verifier] = await queryRows<Verifier>(sql, `SELECT ${VERIFIERS} WHERE v.id = $1`, [id]);
  if (verifier === undefined) throw new Error(`expected verifier ${id}, got no row`);
  return verifier;
}

/** The terms as they are published: protocols by their ids, each of which there is. */
async function publishProtocols(
  sql: Sql,
  { newId }: PublishDeps,
  actorId: string,
  { checker }: PublishInput,
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

async function insertContract(
  sql: Sql,
  { newId }: PublishDeps,
  {
    verifier,
    actorId,
    terms,
    digest,
  }: {
    readonly verifier: Verifier;
    readonly actorId: string;
    readonly terms: ContractTerms;
    readonly digest: string;
  },
): Promise<PublishedContractRow> {
  const id = newId('verifierContract');
  const createdAt = await loadNow(sql);
  const [latest] = await queryRows<{ version: number }>(
    sql,
    `SELECT coalesce(max(version_number), 0)::int AS version FROM verifier_contracts WHERE verifier_id = $1`,
    [verifier.id],
  );
  const document: VerifierContract = {
    ...terms,
    id,
    verifier_id: verifier.id,
    version_number: (latest?.version ?? 0) + 1,
    created_by_user_id: toUserId(actorId),
    created_at: createdAt.toISOString(),
    yanked_at: null,
  };
  await runChange(
    sql,
    `INSERT INTO verifier_contracts (id, verifier_id, version_number, created_by_id, document, digest, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [id, verifier.id, document.version_number, actorId, canonicalJson(document), digest, createdAt],
  );
  await appendAudit(sql, {
    kind: 'checker_published',
    subject: id,
    digest,
    facts: { verifierId: verifier.id, versionNumber: String(document.version_number), actorId },
  });
  const contract = await findContract(sql, 'c.id = $1', [id]);
  if (contract === null) throw new Error(`expected published contract ${id}, got no row`);
  return contract;
}

/** The schema of published contracts has its own prefix for people. */
function toUserId(principalId: string): string {
  return principalId.replace(/^prn_/, 'usr_');
}

async function openImplementation(
  { sql, queues }: Transaction,
  { newId, sendJob }: PublishDeps,
  {
    contractId,
    stageKey,
    programDigest,
    packageSha256,
    actorId,
  }: {
    readonly contractId: string;
    readonly stageKey: string;
    readonly programDigest: string;
    readonly packageSha256: string;
    readonly actorId: string;
  },
): Promise<ImplementationRow> {
  const ofStage = await queryRows<ImplementationRecord>(
    sql,
    `SELECT ${IMPLEMENTATIONS} WHERE i.contract_id = $1 AND i.stage_key = $2 AND i.package_sha256 = $3
     ORDER BY i.seq DESC`,
    [contractId, stageKey, packageSha256],
  );
  const same = ofStage.find(({ isCurrent, state }) => isCurrent || state === 'PENDING');
  if (same !== undefined) return toImplementationRow(same);
  const id = newId('implementation');
  await runChange(
    sql,
    `INSERT INTO implementations (id, contract_id, stage_key, published_by_id, package_sha256, program_digest)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [id, contractId, stageKey, actorId, packageSha256, programDigest],
  );
  await sendJob(sql, 'conformance', id, { contractId, solverId: actorId, delayMs: 0 });
  queues.add('conformance');
  const [made] = await queryRows<ImplementationRecord>(
    sql,
    `SELECT ${IMPLEMENTATIONS} WHERE i.id = $1`,
    [id],
  );
  if (made === undefined) throw new Error(`expected implementation ${id}, got no row`);
  return toImplementationRow(made);
}

function createNotOwn(verifierId: string): Error {
  return createDbError('DB_VERIFIER_NOT_OWN', {
    message: `expected a verifier of your own, got ${JSON.stringify(verifierId)}`,
    fix: 'Publish it as a verifier of your own.',
  });
}

function createProtocolUnknown(named: string): Error {
  return createDbError('DB_PROTOCOL_UNKNOWN', {
    message: `expected a review protocol that was published or is in the package, got ${JSON.stringify(named)}`,
    fix: 'Put review-protocol.json beside the contract, or name the id of a published one.',
  });
}
