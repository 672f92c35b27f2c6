import { SOURCE_REASONS } from '@kervyxa/core';
import type { Command, ContractCase } from '@kervyxa/settlement';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStores, type Stores, TERMS } from '../testing/open-stores.ts';
import { sealedAs } from '../testing/sealed-as.ts';
import { loadCase } from './load-case.ts';
import type { Sql } from './sql.ts';

const DIGEST = `sha256:${'0'.repeat(64)}`;
const PASS = { verdict: 'PASS', reason: null } as const;
const BROKEN = {
  verdict: 'INCONCLUSIVE',
  reason: 'VERIFIER_BROKEN',
  resultDigest: DIGEST,
} as const;
const LONG = 'x'.repeat(20_000);

let stores: Stores;
beforeAll(async () => {
  stores = await openStores();
});
afterAll(() => stores.close());

/** The case that a command decides by, and everything that came from the database for it. */
async function load(contractId: string, command: Command) {
  const rows: unknown[] = [];
  const texts: string[] = [];
  const loaded = await stores.parts.connections.transact(({ sql }) => {
    const listening: Sql = {
      query: async (config) => {
        const answer = await sql.query<Record<string, unknown>>(config);
        rows.push(...answer.rows);
        texts.push(config.text);
        return answer as never;
      },
    };
    return loadCase(listening, contractId, command);
  });
  return { held: loaded?.before as ContractCase, rows, texts };
}

describe('what a command reads', () => {
  it('grows with no long text that people or programs wrote', async () => {
    const { contractId } = await stores.openContract();
    const { submissionId, runId } = await stores.submitCaptured(contractId);
    const attempt = (await stores.work.startRun(runId, 'wrk_1')) ?? 0;
    const result = JSON.stringify({ changedFiles: [LONG], criteria: [] });
    const sealed = sealedAs(PASS, result);
    await stores.work.sealRun(runId, attempt, sealed);
    const challengerId = await stores.bench.addPrincipal();
    await stores.bench.deposit(challengerId, TERMS.bondMinor);
    const challengeId = stores.newId('challenge');
    const filing = { kind: 'challenge', challengeId, submissionId, challengerId } as const;
    const command = { ...filing, challenge: 'OVERTURN_PASS' } as const;
    const call = { actorId: challengerId, idempotency: null };
    await stores.commands.execute(call, { contractId, command, statement: LONG }, () => {
      return { status: 201, body: '' };
    });

    const { held, rows } = await load(contractId, { kind: 'advance' });
    expect(held.runs).toMatchObject([{ id: runId, verdict: sealed.verdict }]);
    expect(held.challenges).toMatchObject([{ id: challengeId }]);
    const texts = rows.flatMap((row) => Object.values(row as Record<string, unknown>));
    expect(texts.filter((text) => typeof text === 'string' && text.length > 200)).toEqual([]);
  });

  it('grows with no submission that has ended, whatever it ended with, but holds the one asked about', async () => {
    const { contractId } = await stores.openContract();
    const ended: string[] = [];
    for (const reason of [...SOURCE_REASONS, 'VERIFIER_BROKEN', 'HOST_DISK_FULL'] as const) {
      const submissionId = stores.newId('submission');
      await stores.bench.submit(contractId, submissionId, await stores.bench.addPrincipal());
      const verdict = { ...BROKEN, reason };
      await stores.cases.execute(contractId, { kind: 'refuse_capture', submissionId, verdict });
      ended.push(submissionId);
    }
    expect((await load(contractId, { kind: 'advance' })).held.submissions).toEqual([]);
    for (const submissionId of ended) {
      const { held } = await load(contractId, { kind: 'retry', submissionId });
      expect(held.submissions).toMatchObject([{ id: submissionId, state: 'INCONCLUSIVE' }]);
    }
  });

  it('finds what is live by an index, beside thousands of submissions that have ended', async () => {
    const { contractId, requesterId } = await stores.openContract();
    const { pool } = stores.test;
    await pool.query(
      `INSERT INTO submissions (id, contract_id, solver_id, repository_url, commit, capture_by, state, verdict,
         reason, result_digest)
       SELECT 'sub_' || n, $1, $2, 'https://example.org/r.git', lpad(to_hex(n), 40, '0'), now(), 'FAILED',
         'FAIL', 'EXIT_CODE_MISMATCH', $3
       FROM generate_series(1, 5000) AS n`,
      [contractId, requesterId, DIGEST],
    );
    await pool.query('ANALYZE submissions');
    const { texts } = await load(contractId, { kind: 'retry', submissionId: 'sub_1' });
    const [text] = texts.filter((each) => each.includes('FROM submissions s'));
    const { rows } = await pool.query(`EXPLAIN (GENERIC_PLAN) ${text}`);
    const scans = rows.map((row) => row['QUERY PLAN']).filter((line) => line.includes('Scan'));
    expect(scans).toEqual([
      expect.stringContaining('using submissions_contract_id_state_seq_idx'),
      expect.stringMatching(/using submissions_(pkey|id_contract_id_key)/),
    ]);
  });
});
