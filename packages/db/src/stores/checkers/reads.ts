import type { CheckerReads } from '../../checker-ports.ts';
import type { Problem } from '../../generated/client.ts';
import type { Page, PageRequest } from '../../ports.ts';
import type { Connections } from '../in-transaction.ts';
import { loadNow } from '../load-case.ts';
import { toPage, toSlice } from '../pages.ts';
import { queryRows, type Sql, told } from '../sql.ts';
import {
  CHECKS,
  CONTRACTS,
  type CheckRecord,
  type ContractRecord,
  ENTRIES,
  type EntryRecord,
  IMPLEMENTATIONS,
  type ImplementationRecord,
  PROBLEM_ITEMS,
  PROBLEMS,
  PROBLEMS_FOR,
  toCheckRow,
  toEntryRow,
  toImplementationRow,
  toProblemItem,
  toProblemRow,
  toPublishedRow,
  toReviewProtocol,
} from './rows.ts';

export function createCheckerReads({ pool, client }: Connections): CheckerReads {
  const contracts = select<ContractRecord, ReturnType<typeof toPublishedRow>>(
    pool,
    CONTRACTS,
    'c',
    toPublishedRow,
  );
  const implementations = select<ImplementationRecord, ReturnType<typeof toImplementationRow>>(
    pool,
    IMPLEMENTATIONS,
    'i',
    toImplementationRow,
  );
  const problems = select<Problem, ReturnType<typeof toProblemRow>>(
    pool,
    PROBLEMS,
    'p',
    toProblemRow,
  );
  const problemItems = select<Problem, ReturnType<typeof toProblemItem>>(
    pool,
    PROBLEM_ITEMS,
    'p',
    toProblemItem,
  );
  const entries = select<EntryRecord, ReturnType<typeof toEntryRow>>(
    pool,
    ENTRIES,
    'e',
    toEntryRow,
  );
  const checks = select<CheckRecord, ReturnType<typeof toCheckRow>>(pool, CHECKS, 'k', toCheckRow);
  return {
    now: () => loadNow(pool),
    publishedContract: contracts.find,
    listPublishedContracts: (verifierId, page) =>
      contracts.list('($1::text IS NULL OR c.verifier_id = $1)', [verifierId], page),
    implementation: implementations.find,
    listImplementations: (contractId, page) =>
      implementations.list('i.contract_id = $1', [contractId], page),
    reviewProtocol: async (id) => {
      const row = await told(client.reviewProtocol.findUnique({ where: { id } }));
      return row === null ? null : toReviewProtocol(row.id, row.document);
    },
    problem: problems.find,
    problemsFor: async (ids, participantIds) => {
      const rows = await queryRows<Problem>(pool, `SELECT ${PROBLEMS_FOR} WHERE p.id = ANY($1)`, [
        ids,
        participantIds,
      ]);
      return rows.map(toProblemRow);
    },
    listProblems: (viewer, page) =>
      problemItems.list(
        `($1::text IS NULL OR p.owner_id = $1 OR p.state <> 'DRAFT'
           AND ($2 OR p.facts -> 'invited' = 'null' OR p.facts -> 'invited' ? $1))`,
        [viewer?.id ?? null, viewer?.seesInviteOnly ?? false],
        page,
      ),
    problemsThatBind: (problemId, blobs) => findBinders(pool, problemId, blobs),
    entry: entries.find,
    listEntries: ({ problemId, solverId }, page) =>
      entries.list(
        'e.problem_id = $1 AND ($2::text IS NULL OR e.solver_id = $2)',
        [problemId, solverId],
        page,
      ),
    check: checks.find,
    listChecks: ({ states, problemId, notOf }, page) =>
      checks.list(
        `($1::text[] IS NULL OR k.state = ANY($1)) AND ($2::text IS NULL OR k.problem_id = $2)
         AND ($3::text IS NULL OR p.owner_id <> $3 AND k.facts ->> 'solverId' <> $3)`,
        [states, problemId, notOf],
        page,
      ),
    listPartnerKeys: () => told(client.partnerKey.findMany({ orderBy: { createdAt: 'desc' } })),
  };
}

/** Other problems of the same owner that bind one of the blobs. */
export async function findBinders(
  sql: Sql,
  problemId: string,
  blobs: readonly string[],
): Promise<readonly string[]> {
  const rows = await queryRows<{ id: string }>(
    sql,
    `SELECT DISTINCT other.id FROM problems p JOIN problems other ON other.owner_id = p.owner_id
     JOIN problem_inputs i ON i.problem_id = other.id
     WHERE p.id = $1 AND other.id <> p.id AND i.blob = ANY($2) ORDER BY other.id`,
    [problemId, blobs],
  );
  return rows.map(({ id }) => id);
}

interface Selection<T> {
  find(id: string): Promise<T | null>;
  /** Newest first; `condition` names its values from $1. */
  list(condition: string, values: readonly unknown[], page: PageRequest): Promise<Page<T>>;
}

/** Single rows and pages of one table, whose alias is given. */
function select<Row extends { readonly seq: bigint }, T>(
  sql: Sql,
  from: string,
  alias: string,
  toItem: (row: Row) => T,
): Selection<T> {
  return {
    find: async (id) => {
      const [row] = await queryRows<Row>(sql, `SELECT ${from} WHERE ${alias}.id = $1`, [id]);
      return row === undefined ? null : toItem(row);
    },
    list: async (condition, values, page) => {
      const slice = toSlice(page);
      const [after, take] = [values.length + 1, values.length + 2];
      const rows = await queryRows<Row>(
        sql,
        `SELECT ${from} WHERE ${condition} AND ($${after}::bigint IS NULL OR ${alias}.seq < $${after})
         ORDER BY ${alias}.seq DESC LIMIT $${take}`,
        [...values, slice.after, slice.take],
      );
      return toPage(rows, slice, toItem);
    },
  };
}
