import type { PartnerKeyRow } from '../../checker-rows.ts';
import { createDbError } from '../../errors.ts';
import { type PartnerKey, Prisma } from '../../generated/client.ts';
import { columnsOf, queryRows, type Sql } from '../sql.ts';
import { createUnknown } from './rows.ts';

const COLUMNS = columnsOf(Prisma.PartnerKeyScalarFieldEnum, 'n');

/** Throws DB_PARTNER_KEY_DUPLICATE. */
export async function addPartnerKey(
  sql: Sql,
  { fingerprint, externalSystem, publicKey }: Omit<PartnerKeyRow, 'createdAt' | 'retiredAt'>,
): Promise<PartnerKeyRow> {
  const [row] = await queryRows<PartnerKey>(
    sql,
    `INSERT INTO partner_keys AS n (fingerprint, external_system, public_key) VALUES ($1, $2, $3)
     ON CONFLICT (fingerprint) DO NOTHING RETURNING ${COLUMNS}`,
    [fingerprint, externalSystem, publicKey],
  );
  if (row !== undefined) return row;
  throw createDbError('DB_PARTNER_KEY_DUPLICATE', {
    message: `expected a key that no system has had, got ${fingerprint}`,
    fix: 'Have the system make a key of its own.',
  });
}

/** Who retires it waits for us, or we for them. Throws DB_SUBJECT_UNKNOWN where it is retired. */
export async function holdPartnerKey(sql: Sql, fingerprint: string): Promise<void> {
  const found = await queryRows(
    sql,
    'SELECT 1 FROM partner_keys WHERE fingerprint = $1 AND retired_at IS NULL FOR SHARE',
    [fingerprint],
  );
  if (found.length === 0) throw createUnknown('a partner key in use', fingerprint);
}

/** Throws DB_SUBJECT_UNKNOWN. */
export async function retirePartnerKey(sql: Sql, fingerprint: string): Promise<PartnerKeyRow> {
  const [row] = await queryRows<PartnerKey>(
    sql,
    `UPDATE partner_keys n SET retired_at = coalesce(n.retired_at, clock_timestamp()) WHERE n.fingerprint = $1
     RETURNING ${COLUMNS}`,
    [fingerprint],
  );
  if (row === undefined) throw createUnknown('a partner key', fingerprint);
  return row;
}
