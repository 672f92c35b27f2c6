/**
 * Selects columns of the contract `$1`, as `c`, with its lock until the transaction ends: ALONE for a command, SHARED with
 * others for a submit. Its key is left to those who only refer to it, such as a payout that is being confirmed.
 *
 * A lock of a row is not fair: who shares it lets in whoever wants to share it too, so that a crowd of submits would keep
 * a challenge out until its window is over. The gate before it is: first come, first served.
 */
export function lockContractSql(columns: string, mode: 'ALONE' | 'SHARED'): string {
  const [gate, lock] = {
    ALONE: ['pg_advisory_xact_lock', 'FOR NO KEY UPDATE'],
    SHARED: ['pg_advisory_xact_lock_shared', 'FOR SHARE'],
  }[mode];
  return `WITH gate AS MATERIALIZED (SELECT ${gate}(${GATES}, hashtext($1)))
    SELECT ${columns} FROM gate, contracts c WHERE c.id = $1 ${lock} OF c`;
}

/** Names the gates among the advisory locks of a database: "gate" in ASCII. */
const GATES = 0x67_61_74_65;
