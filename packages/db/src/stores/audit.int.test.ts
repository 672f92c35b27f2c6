import { sha256Hex } from '@kervyxa/core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { HOUR_MS, openStores, type Stores, TERMS } from '../testing/open-stores.ts';
import { createPublicKey, sealedAs, TEST_KEY } from '../testing/sealed-as.ts';

const PASS = { verdict: 'PASS', reason: null } as const;
const RESULT = '{"criteria":[]}';
const STRANGE_KEY = createPublicKey();

let stores: Stores;
beforeAll(async () => {
  stores = await openStores();
});
afterAll(() => stores.close());

async function startRun() {
  const { contractId } = await stores.openContract();
  const { runId, submissionId } = await stores.submitCaptured(contractId);
  const attempt = (await stores.work.startRun(runId, 'wrk_1')) ?? 0;
  return { contractId, submissionId, runId, attempt };
}

/** Entries after that place, in their order. */
async function entriesSince(seq: bigint) {
  const page = await stores.reads.listAudit({ limit: 100, after: String(seq) });
  return page.items;
}

/** As somebody does who has the whole server; answers what the check says, and puts it back. */
async function tampering(change: string, undo: string): Promise<string | null> {
  const { pool } = stores.test;
  const run = (text: string) =>
    pool.query(`BEGIN; SET LOCAL session_replication_role = replica; ${text}; COMMIT`);
  await run(change);
  const { problem } = await stores.reads.checkAudit();
  await run(undo);
  return problem;
}

// Keeps R-AUDIT-CHAIN, R-EVIDENCE-SEALED.
describe('a sealed run', () => {
  it('is attested with the head of the audit log and the time of the seal, and both are logged', async () => {
    const { contractId, submissionId, runId, attempt } = await startRun();
    await stores.work.useSigningKey(TEST_KEY);
    const before = await stores.reads.auditHead();
    const sealed = sealedAs(PASS, RESULT);
    expect(await stores.work.sealRun(runId, attempt, sealed)).toBe(true);

    const run = await stores.reads.run(runId);
    const evidence = await stores.reads.evidence(runId);
    expect(JSON.parse(evidence?.attestation ?? '')).toEqual({
      sealedAt: run?.finishedAt?.toISOString(),
      audit: before.hash,
    });
    expect(evidence).toMatchObject({
      publicKey: TEST_KEY.publicKey,
      evaluation: sealed.evidence.evaluation,
      publicContractBlob: sha256Hex('{}'),
    });
    const [entry, ...more] = await entriesSince(before.seq);
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      kind: 'verdict_sealed',
      subject: runId,
      digest: run?.resultDigest,
      prevHash: before.hash,
      facts: {
        contract: contractId,
        submission: submissionId,
        verdict: 'PASS',
        reason: null,
        evaluation: `sha256:${sha256Hex(evidence?.evaluation ?? '')}`,
        attestation: `sha256:${sha256Hex(evidence?.attestation ?? '')}`,
        keyid: TEST_KEY.keyid,
      },
    });
    expect(await stores.reads.checkAudit()).toEqual({ entryCount: entry?.seq, problem: null });
  });

  it('keeps the document that outsiders were attested, whatever its age', async () => {
    const { runId, attempt } = await startRun();
    const { evidence, ...sealed } = sealedAs(PASS, RESULT);
    const publicContract = `{"of":"${runId}"}`;
    const named = { ...sealed, evidence: { ...evidence, publicContract } };
    await stores.work.sealRun(runId, attempt, named);
    await stores.test.pool.query(`UPDATE blobs SET created_at = now() - interval '9 days'`);
    await stores.upkeep.forgetUnusedBlobs(24 * HOUR_MS, 1_000);
    expect(await stores.blobs.readBlob(sha256Hex(publicContract))).not.toBeNull();
  });

  it('that can not be signed is not sealed: it still runs, and nothing is logged', async () => {
    const { runId, attempt } = await startRun();
    const key = createPublicKey();
    await stores.work.useSigningKey(key);
    const sealed = sealedAs(PASS, RESULT);
    const attest = () => {
      throw new Error('no signature');
    };
    const head = await stores.reads.auditHead();
    const broken = { ...sealed, evidence: { ...sealed.evidence, attest } };
    await expect(stores.work.sealRun(runId, attempt, broken)).rejects.toThrow('no signature');

    // While it was computed, somebody retired the key.
    const late = {
      ...sealed,
      evidence: { ...sealed.evidence, key },
      whenSaved: async () => {
        expect(await stores.upkeep.retireSigningKey(key.keyid)).toBe(true);
      },
    };
    await expect(stores.work.sealRun(runId, attempt, late)).rejects.toMatchObject({
      code: 'DB_SIGNING_KEY_RETIRED',
    });
    expect(await stores.reads.run(runId)).toMatchObject({ state: 'RUNNING', result: null });
    expect(await stores.reads.evidence(runId)).toBeNull();
    expect((await entriesSince(head.seq)).map(({ kind }) => kind)).toEqual(['key_retired']);
    expect(await stores.work.sealRun(runId, attempt, sealed)).toBe(true);
  });
});

describe('the audit log', () => {
  it('tells of a challenge that was resolved, and by the hash of its transfer where escrow went', async () => {
    const { contractId, submissionId, runId, attempt } = await startRun();
    await stores.work.sealRun(runId, attempt, sealedAs(PASS, RESULT));
    const { seq } = await stores.reads.auditHead();
    const challengerId = await stores.bench.addPrincipal();
    await stores.bench.deposit(challengerId, TERMS.bondMinor);
    const challengeId = stores.newId('challenge');
    await stores.cases.execute(contractId, {
      kind: 'challenge',
      challenge: 'OVERTURN_PASS',
      challengeId,
      submissionId,
      challengerId,
    });
    expect(await entriesSince(seq)).toEqual([]);
    const arbiterId = await stores.bench.addPrincipal();
    await stores.bench.elapse(HOUR_MS);
    await stores.cases.execute(contractId, {
      kind: 'resolve',
      challengeId,
      arbiterId,
      decision: 'UPHOLD_PASS',
    });
    await stores.bench.elapse(24 * HOUR_MS);
    await stores.cases.execute(contractId, { kind: 'advance' });

    const { items } = await stores.reads.listTransfers(null, { limit: 200, after: null });
    const payout = items.find((each) => each.kind === 'payout' && each.contractId === contractId);
    expect(await entriesSince(seq)).toMatchObject([
      {
        kind: 'challenge_resolved',
        subject: challengeId,
        facts: { contract: contractId, submission: submissionId, state: 'UPHELD' },
      },
      {
        kind: 'escrow_resolved',
        subject: contractId,
        digest: `sha256:${payout?.hash}`,
        facts: { resolution: 'PAYOUT' },
      },
    ]);
  });

  it('is not touched by a submission: while somebody holds its head, one is taken all the same', async () => {
    const { contractId } = await stores.openContract();
    const holder = await stores.test.pool.connect();
    try {
      await holder.query('BEGIN; SELECT 1 FROM audit_head FOR UPDATE');
      expect((await stores.submitCaptured(contractId)).runId).toMatch(/^run_/);
    } finally {
      await holder.query('ROLLBACK');
      holder.release();
    }
  });

  it.each([
    [
      'an entry',
      `UPDATE audit_log SET facts = facts || '{"verdict":"FAIL"}' WHERE seq = 2`,
      `UPDATE audit_log SET facts = facts || '{"verdict":"PASS"}' WHERE seq = 2`,
      'entry 2: was changed',
    ],
    [
      'the last entries',
      `CREATE TABLE kept AS SELECT * FROM audit_log WHERE seq > 3; DELETE FROM audit_log WHERE seq > 3`,
      `INSERT INTO audit_log SELECT * FROM kept; DROP TABLE kept`,
      'the log ends at number 3',
    ],
    [
      'a verdict',
      `UPDATE runs SET verdict = 'FAIL', reason = 'CRASHED' WHERE id = (SELECT subject FROM audit_log WHERE seq = 2)`,
      `UPDATE runs SET verdict = 'PASS', reason = NULL WHERE id = (SELECT subject FROM audit_log WHERE seq = 2)`,
      'entry 2: what is kept of run_',
    ],
    [
      'what a verdict was found by',
      `UPDATE runs SET result = '{"criteria": []}' WHERE id = (SELECT subject FROM audit_log WHERE seq = 2)`,
      `UPDATE runs SET result = '${RESULT}' WHERE id = (SELECT subject FROM audit_log WHERE seq = 2)`,
      'entry 2: what is kept of run_',
    ],
    [
      'an attestation',
      `UPDATE run_evidence SET public_attestation = public_attestation || ' ' WHERE audit_seq = 2`,
      `UPDATE run_evidence SET public_attestation = trim(public_attestation) WHERE audit_seq = 2`,
      'entry 2: what is kept of run_',
    ],
    [
      'the birth of a key',
      `UPDATE signing_keys SET created_at = created_at - interval '1 day' WHERE keyid = '${TEST_KEY.keyid}'`,
      `UPDATE signing_keys SET created_at = created_at + interval '1 day' WHERE keyid = '${TEST_KEY.keyid}'`,
      `entry 1: what is kept of ${TEST_KEY.keyid} is not what it says`,
    ],
    [
      'the end of a key, which was stolen',
      `CREATE TABLE ended AS SELECT * FROM signing_keys WHERE retired_at IS NOT NULL; UPDATE signing_keys SET retired_at = NULL`,
      `UPDATE signing_keys k SET retired_at = e.retired_at FROM ended e WHERE e.keyid = k.keyid; DROP TABLE ended`,
      'is not what it says',
    ],
    [
      'the list of keys, which gets another',
      `INSERT INTO signing_keys (keyid, public_key) VALUES ('${STRANGE_KEY.keyid}', '${STRANGE_KEY.publicKey}')`,
      `DELETE FROM signing_keys WHERE keyid = '${STRANGE_KEY.keyid}'`,
      `what is kept of ${STRANGE_KEY.keyid} is in no entry`,
    ],
  ])(
    'changes %s in the tables themselves, past every rule: the check says which is the first',
    async (_, change, undo, problem) => {
      expect(await tampering(change, undo)).toContain(problem);
      expect((await stores.reads.checkAudit()).problem).toBeNull();
    },
  );
});

// Keeps R-EVIDENCE-KEYS.
describe('signing keys', () => {
  it('are listed for ever, and a retired one signs nothing', async () => {
    const [first, second] = [createPublicKey(), createPublicKey()];
    await stores.work.useSigningKey(first);
    await stores.work.useSigningKey(first);
    expect(await stores.upkeep.replaceSigningKeys([first.keyid], second)).toEqual([first.keyid]);
    expect(await stores.upkeep.replaceSigningKeys([first.keyid], second)).toEqual([]);
    await expect(stores.work.useSigningKey(first)).rejects.toMatchObject({
      code: 'DB_SIGNING_KEY_RETIRED',
    });
    await stores.work.useSigningKey(second);
    expect(await stores.upkeep.retireSigningKey(first.keyid)).toBe(false);
    const keys = (await stores.reads.signingKeys()).slice(-2);
    expect(keys).toMatchObject([
      { ...first, retiredAt: expect.any(Date) },
      { ...second, retiredAt: null },
    ]);
    expect(keys[0]?.retiredAt?.getTime()).toBeGreaterThan(keys[0]?.createdAt.getTime() ?? Infinity);
  });

  it('are replaced while a seal holds the old one: it gets the head of the audit log, and the change waits for it', async () => {
    const [old, next] = [createPublicKey(), createPublicKey()];
    await stores.work.useSigningKey(old);
    const { pool } = stores.test;
    const seal = await pool.connect();
    try {
      await seal.query('BEGIN');
      await seal.query('SELECT 1 FROM signing_keys WHERE keyid = $1 FOR SHARE', [old.keyid]);
      const replaced = stores.upkeep.replaceSigningKeys([old.keyid], next);
      await vi.waitFor(async () => {
        const { rows } = await pool.query(
          `SELECT 1 FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%signing_keys%'`,
        );
        expect(rows).toHaveLength(1);
      }, 10_000);
      await seal.query('SELECT 1 FROM audit_head FOR UPDATE NOWAIT');
      await seal.query('COMMIT');
      expect(await replaced).toEqual([old.keyid]);
    } finally {
      await seal.query('ROLLBACK');
      seal.release();
    }
  });
});
