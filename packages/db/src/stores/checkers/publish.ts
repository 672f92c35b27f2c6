import {
  type CheckerPackage,
  type ContractTerms,
  planPublication,
  termsDigest,
  type VerifierContract,
} from '@kervyxa/checker';
import { canonicalJson } from '@kervyxa/core';
import type { CheckerCommands } from '../../checker-ports.ts';
import type { ImplementationRow, Publication, PublishedContractRow } from '../../checker-rows.ts';
import { brokenUniqueConstraint } from '../../driver-errors.ts';
import { createDbError } from '../../errors.ts';
import type { Verifier } from '../../generated/client.ts';
import { appendAudit } from '../append-audit.ts';
import type { ExecuteDeps } from '../execute.ts';
import type { Transaction } from '../in-transaction.ts';
import { loadNow } from '../load-case.ts';
import { queryRows, runChange, type Sql } from '../sql.ts';
import { publishProtocols } from './publish-protocols.ts';
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
 * 3. What the package says that it is published as counts, unless that is elsewhere.
 * 4. `planPublication` decides which version it is, and which stages get another program.
 * 5. Programs wait for their fixtures; one that a stage had before, and has no more, too.
 */
export async function publish(
  transaction: Transaction,
  deps: PublishDeps,
  actorId: string,
  { verifierId, name, checker }: PublishInput,
): Promise<Publication> {
  const { sql } = transaction;
  await assertOwnPackage(sql, checker.digest, actorId);
  const verifier = await openVerifier(sql, deps, actorId, { verifierId, name });
  const terms = await publishProtocols(sql, deps, actorId, checker);
  const family = await loadFamily(sql, verifier.id);
  const contracts = family.contracts.map(({ document }) => document);
  const plan = planPublication(
    { verifierId, contracts, programs: family.programs },
    { ...checker, ...(await claimOf(sql, checker)), contract: terms },
  );
  const contract =
    plan.kind === 'same_contract'
      ? await loadContract(sql, plan.contractId)
      : await insertContract(sql, deps, { verifier, actorId, terms, version: plan.versionNumber });
  const implementations: ImplementationRow[] = [];
  for (const [stageKey, { digest: programDigest }] of checker.programs) {
    const known = family.programs.find(
      (each) =>
        each.contractId === contract.id &&
        each.stageKey === stageKey &&
        each.programDigest === programDigest,
    );
    implementations.push(
      known !== undefined && !plan.newPrograms.includes(stageKey)
        ? known
        : await insertImplementation(transaction, deps, {
            contractId: contract.id,
            stageKey,
            programDigest,
            packageSha256: checker.digest,
            actorId,
          }),
    );
  }
  const isNewContract = plan.kind === 'new_contract';
  if (isNewContract) {
    const { id: subject, digest, versionNumber } = contract;
    const facts = { verifierId: verifier.id, versionNumber: String(versionNumber), actorId };
    await appendAudit(sql, { kind: 'checker_published', subject, digest, facts });
  }
  return { verifier: toVerifierRow(verifier), contract, isNewContract, implementations };
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
  return loadContract(sql, contractId);
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

async function loadContract(sql: Sql, id: string): Promise<PublishedContractRow> {
  const contract = await findContract(sql, 'c.id = $1', [id]);
  if (contract === null) throw new Error(`expected published contract ${id}, got no row`);
  return contract;
}

/** Programs that verify, or may soon; what missed a fixture or was replaced may be published again. */
async function loadFamily(
  sql: Sql,
  verifierId: string,
): Promise<{
  readonly contracts: readonly PublishedContractRow[];
  readonly programs: readonly ImplementationRow[];
}> {
  const contracts = await queryRows<ContractRecord>(
    sql,
    `SELECT ${CONTRACTS} WHERE c.verifier_id = $1`,
    [verifierId],
  );
  const programs = await queryRows<ImplementationRecord>(
    sql,
    `SELECT ${IMPLEMENTATIONS} WHERE i.contract_id = ANY($1) AND i.state IN ('PENDING', 'CONFORMANT')`,
    [contracts.map(({ id }) => id)],
  );
  return {
    contracts: contracts.map(toPublishedRow),
    programs: programs
      .filter(({ isCurrent, state }) => isCurrent || state === 'PENDING')
      .map(toImplementationRow),
  };
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

/** Ids of another system, of whose family nobody knows here, are no claim about anything here: publication gives its own. */
async function claimOf(
  sql: Sql,
  { verifierId, contractId, versionNumber }: CheckerPackage,
): Promise<Pick<CheckerPackage, 'verifierId' | 'contractId' | 'versionNumber'>> {
  const stated = { verifierId, contractId, versionNumber };
  if (verifierId === null) return stated;
  const known = await queryRows(sql, 'SELECT 1 FROM verifiers WHERE id = $1', [verifierId]);
  return known.length > 0 ? stated : { verifierId: null, contractId: null, versionNumber: null };
}

/** Locked until the transaction ends. */
async function openVerifier(
  sql: Sql,
  { newId }: PublishDeps,
  actorId: string,
  { verifierId, name }: Pick<PublishInput, 'verifierId' | 'name'>,
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

async function insertContract(
  sql: Sql,
  { newId }: PublishDeps,
  {
    verifier,
    actorId,
    terms,
    version,
  }: {
    readonly verifier: Verifier;
    readonly actorId: string;
    readonly terms: ContractTerms;
    readonly version: number;
  },
): Promise<PublishedContractRow> {
  const id = newId('verifierContract');
  const createdAt = await loadNow(sql);
  const digest = termsDigest(terms);
  const document: VerifierContract = {
    ...terms,
    id,
    verifier_id: verifier.id,
    version_number: version,
    created_by_user_id: toUserId(actorId),
    created_at: createdAt.toISOString(),
    yanked_at: null,
  };
  await runChange(
    sql,
    `INSERT INTO verifier_contracts (id, verifier_id, version_number, created_by_id, document, digest, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [id, verifier.id, version, actorId, canonicalJson(document), digest, createdAt],
  );
  return loadContract(sql, id);
}

/** The schema of published contracts has its own prefix for people. */
function toUserId(principalId: string): string {
  return principalId.replace(/^prn_/, 'usr_');
}

async function insertImplementation(
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
