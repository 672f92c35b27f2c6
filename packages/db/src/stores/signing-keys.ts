import { createDbError } from '../errors.ts';
import type { Reads, SigningKeyRow, Upkeep, WorkerStore } from '../ports.ts';
import { appendAudit } from './append-audit.ts';
import type { Connections, Transact } from './in-transaction.ts';
import { queryRows, type Sql } from './sql.ts';

type PublicKey = Parameters<WorkerStore['useSigningKey']>[0];

export function createSigningKeyReads({
  pool,
}: Pick<Connections, 'pool'>): Pick<Reads, 'signingKeys'> {
  return {
    signingKeys: () =>
      queryRows<SigningKeyRow>(
        pool,
        `SELECT keyid, public_key AS "publicKey", created_at AS "createdAt", retired_at AS "retiredAt"
         FROM signing_keys ORDER BY seq`,
      ),
  };
}

export function createSigningKeyUpkeep({
  transact,
}: Pick<Connections, 'transact'>): Pick<Upkeep, 'replaceSigningKeys' | 'retireSigningKey'> {
  return {
    replaceSigningKeys: (oldKeyids, key) =>
      transact(async ({ sql }) => {
        // Before `addKey` takes the head of the audit log: a seal under one of them holds it, and then wants the head.
        await queryRows(
          sql,
          'SELECT 1 FROM signing_keys WHERE keyid = ANY($1) ORDER BY keyid FOR UPDATE',
          [oldKeyids],
        );
        await addKey(sql, key);
        const retired = [];
        for (const keyid of oldKeyids) if (await retireKey(sql, keyid)) retired.push(keyid);
        return retired;
      }),
    retireSigningKey: (keyid) => transact(({ sql }) => retireKey(sql, keyid)),
  };
}

/** Adds the key where it is new. Throws DB_SIGNING_KEY_RETIRED. */
export async function useSigningKey(transact: Transact, key: PublicKey): Promise<void> {
  await transact(async ({ sql }) => {
    await addKey(sql, key);
    await holdKey(sql, key.keyid);
  });
}

/** Nobody retires the key until the transaction ends. Throws DB_SIGNING_KEY_RETIRED where somebody has. */
export async function holdKey(sql: Sql, keyid: string): Promise<void> {
  const rows = await queryRows(
    sql,
    'SELECT 1 FROM signing_keys WHERE keyid = $1 AND retired_at IS NULL FOR SHARE',
    [keyid],
  );
  if (rows.length > 0) return;
  throw createDbError('DB_SIGNING_KEY_RETIRED', {
    message: `expected a signing key in use, got ${keyid}, which is retired`,
    fix: 'Make a new one on the machine that has it: kervyxa worker-key rotate.',
  });
}

async function addKey(sql: Sql, { keyid, publicKey }: PublicKey): Promise<void> {
  // Not ON CONFLICT alone, which takes a number each time.
  const known = await queryRows(sql, 'SELECT 1 FROM signing_keys WHERE keyid = $1', [keyid]);
  if (known.length > 0) return;
  const [added] = await queryRows<{ createdAt: Date }>(
    sql,
    `INSERT INTO signing_keys (keyid, public_key, created_at)
     VALUES ($1, $2, date_trunc('milliseconds', clock_timestamp())) ON CONFLICT DO NOTHING
     RETURNING created_at AS "createdAt"`,
    [keyid, publicKey],
  );
  if (added === undefined) return;
  await appendAudit(sql, {
    kind: 'key_added',
    subject: keyid,
    digest: `sha256:${keyid}`,
    facts: { at: added.createdAt.toISOString() },
  });
}

/** Whether it was in use until now. */
async function retireKey(sql: Sql, keyid: string): Promise<boolean> {
  const held = 'SELECT 1 FROM signing_keys WHERE keyid = $1 AND retired_at IS NULL FOR UPDATE';
  if ((await queryRows(sql, held, [keyid])).length === 0) return false;
  // After the last seal that held it, whose time is in whole milliseconds too.
  const [retired] = await queryRows<{ retiredAt: Date }>(
    sql,
    `UPDATE signing_keys SET retired_at = date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond'
     WHERE keyid = $1 RETURNING retired_at AS "retiredAt"`,
    [keyid],
  );
  if (retired === undefined) throw new Error(`expected signing key ${keyid}, got no row`);
  await appendAudit(sql, {
    kind: 'key_retired',
    subject: keyid,
    digest: `sha256:${keyid}`,
    facts: { at: retired.retiredAt.toISOString() },
  });
  return true;
}
