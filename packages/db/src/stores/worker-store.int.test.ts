import { canonicalDigest } from '@kervyxa/core';
import type { Finding } from '@kervyxa/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toDraft } from '../testing/open-case-bench.ts';
import { ANSWER, callOf, openStores, type Stores, TERMS } from '../testing/open-stores.ts';
import { sealedAs } from '../testing/sealed-as.ts';

const PASS = { verdict: 'PASS', reason: null } as const;
const FINDING: Finding = {
  code: 'NO_CHANGED_FILE_LIMIT',
  severity: 'refuse',
  pointer: '/constraints',
  message: 'expected a limit, got none',
  fix: 'Set one.',
  acknowledgement: null,
};

let stores: Stores;
beforeAll(async () => {
  stores = await openStores();
});
afterAll(() => stores.close());

async function* one(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function openApproval() {
  const requesterId = await stores.bench.addPrincipal();
  const contractId = await stores.bench.seedContract({ ...TERMS, requesterId });
  await stores.commands.startApproval(callOf(requesterId), contractId, () => ANSWER);
  const { sha256: baseBlob } = await stores.work.saveBlob(one('base'), { bytesMax: 100 });
  const document = JSON.stringify({ frozen: contractId });
  const digest = canonicalDigest({ frozen: contractId });
  const { sha256: provingBlob } = await stores.work.saveBlob(one('{}'), { bytesMax: 100 });
  const proved = { kind: 'proved', document, digest, baseBlob, provingBlob, findings: [] } as const;
  return { contractId, requesterId, proved };
}

async function revise(contractId: string, requesterId: string): Promise<void> {
  const draft = toDraft(`${contractId} edited`, { ...TERMS, requesterId }, new Date());
  const input = { contractId, draft };
  await stores.commands.reviseContract(callOf(requesterId), input, () => ANSWER);
}

// Keeps R-SETTLE-FENCE.
describe('an approval', () => {
  it('that was proved freezes the document that was proved', async () => {
    const { contractId, proved } = await openApproval();
    const task = await stores.work.approvalTask(contractId);
    expect(task?.contract.approvalState).toBe('RUNNING');
    expect(await stores.work.finishApproval(contractId, task?.attempt ?? 0, proved)).toBe(true);
    const { document, digest, baseBlob, provingBlob } = proved;
    expect(await stores.reads.contract(contractId)).toMatchObject({
      state: 'PROVED',
      approvalState: 'DONE',
      document,
      digest,
      baseBlob,
      provingBlob,
    });
    expect(await stores.work.approvalTask(contractId)).toBeNull();
  });

  it('BUG-56 of a worker that was lost changes nothing once another has begun', async () => {
    const { contractId, proved } = await openApproval();
    const first = (await stores.work.approvalTask(contractId))?.attempt ?? 0;
    const second = (await stores.work.approvalTask(contractId))?.attempt ?? 0;
    expect(second).toBe(first + 1);
    expect(await stores.work.finishApproval(contractId, first, proved)).toBe(false);
    expect((await stores.reads.contract(contractId))?.state).toBe('DRAFT');
    const { provingBlob } = proved;
    const refused = { kind: 'refused', provingBlob, findings: [FINDING] } as const;
    expect(await stores.work.finishApproval(contractId, second, refused)).toBe(true);
    expect(await stores.work.finishApproval(contractId, second, proved)).toBe(false);
    expect(await stores.reads.contract(contractId)).toMatchObject({
      state: 'DRAFT',
      approvalState: 'REFUSED',
      findings: [FINDING],
      provingBlob,
    });
  });

  it('tells the requester how far it is, and its worker when nobody wants it any more', async () => {
    const { contractId } = await openApproval();
    const first = (await stores.work.approvalTask(contractId))?.attempt ?? 0;
    const progress = { done: 1, total: 9 };
    expect(await stores.work.addApprovalProgress(contractId, first, progress)).toBe(true);
    await stores.work.approvalTask(contractId);
    expect(await stores.work.addApprovalProgress(contractId, first, progress)).toBe(false);
    const events = await stores.reads.events({ contractId }, null, 100);
    const told = events.filter(({ name }) => name === 'approval_progress');
    expect(told).toMatchObject([{ audience: 'OWNER', data: progress }]);
  });

  // Keeps R-PROVED-FIRST.
  it('BUG-56 is edited meanwhile: its outcome changes nothing', async () => {
    const { contractId, requesterId, proved } = await openApproval();
    const attempt = (await stores.work.approvalTask(contractId))?.attempt ?? 0;
    await revise(contractId, requesterId);
    expect(await stores.work.finishApproval(contractId, attempt, proved)).toBe(false);
    expect(await stores.reads.contract(contractId)).toMatchObject({
      state: 'DRAFT',
      approvalState: 'NONE',
      provingBlob: null,
    });
  });

  it('that failed says why, and can be asked for again; one that waits is not queued twice', async () => {
    const { contractId, requesterId } = await openApproval();
    const attempt = (await stores.work.approvalTask(contractId))?.attempt ?? 0;
    const failed = { kind: 'failed', problem: 'no engine' } as const;
    await stores.work.finishApproval(contractId, attempt, failed);
    expect((await stores.reads.contract(contractId))?.approvalProblem).toBe('no engine');
    const again = () =>
      stores.commands.startApproval(callOf(requesterId), contractId, ({ approvalState }) => {
        return { status: 202, body: approvalState };
      });
    expect((await again()).body).toBe('QUEUED');
    expect((await again()).body).toBe('QUEUED');
    const { rowCount } = await stores.test.pool.query(
      `SELECT 1 FROM queue.job WHERE name = 'approve' AND singleton_key = $1`,
      [contractId],
    );
    expect(rowCount).toBe(1);
  });

  it('is refused for a contract that is no draft any more', async () => {
    const { contractId, requesterId } = await stores.openContract();
    const asking = stores.commands.startApproval(callOf(requesterId), contractId, () => ANSWER);
    await expect(asking).rejects.toMatchObject({ code: 'SETTLEMENT_CONTRACT_STATE_REFUSED' });
  });
});

describe('a capture', () => {
  it('is told to the worker while it is wanted, and the first one stays', async () => {
    const { contractId } = await stores.openContract();
    const submissionId = stores.newId('submission');
    await stores.bench.submit(contractId, submissionId, await stores.bench.addPrincipal());
    const task = await stores.work.captureTask(submissionId);
    expect(task?.contract.id).toBe(contractId);
    const [first, second] = await Promise.all(
      ['first', 'second'].map((text) => stores.work.saveBlob(one(text), { bytesMax: 100 })),
    );
    const tree = 'a'.repeat(40);
    await stores.work.saveCapture(submissionId, { sourceBlob: first?.sha256 ?? '', tree });
    await stores.work.saveCapture(submissionId, { sourceBlob: second?.sha256 ?? '', tree });
    await stores.cases.execute(contractId, { kind: 'capture', submissionId });
    const row = await stores.reads.submission(submissionId);
    expect(row?.sourceBlob).toBe(first?.sha256);
    expect(row?.capturedAt).not.toBeNull();
    expect(await stores.work.captureTask(submissionId)).toBeNull();
  });
});

function resultOf(): string {
  const criterion = {
    id: 'tests',
    type: 'exit_code',
    visibility: 'public',
    status: 'pass',
    reason: null,
    message: 'has a NUL \0 in it',
    exitCode: 0,
    metric: 1.5,
    peakMemoryBytes: 5_000_000_000,
    durationMs: 12,
    outputSha256: 'b'.repeat(64),
  };
  const hidden = { ...criterion, id: 'secret', visibility: 'hidden', metric: null };
  return JSON.stringify({ verdict: 'PASS', criteria: [criterion, hidden], reasons: [] });
}

// Keeps R-SETTLE-FENCE, R-COMMIT-WHOLE.
describe('a run', () => {
  it('is sealed with its result, its criteria and their logs', async () => {
    const { contractId } = await stores.openContract();
    const { runId, submissionId } = await stores.submitCaptured(contractId);
    const attempt = (await stores.work.startRun(runId, 'wrk_1')) ?? 0;
    const log = { criterionId: 'secret', visibility: 'hidden', truncated: true } as const;
    const logs = [{ ...log, bytes: Buffer.from('what it printed') }];
    const sealed = { ...sealedAs(PASS, resultOf()), logs };
    expect(await stores.work.sealRun(runId, attempt, sealed)).toBe(true);

    const run = await stores.reads.run(runId);
    expect(run).toMatchObject({ state: 'SEALED', verdict: 'PASS', attempt });
    // To the byte: the verdict's digest is of it.
    expect(run?.result).toBe(sealed.result);
    expect((await stores.reads.submission(submissionId))?.state).toBe('PASSED');
    const kept = await stores.reads.log(runId, 'secret');
    expect({ ...kept, bytes: Buffer.from(kept?.bytes ?? []).toString() }).toEqual({
      ...log,
      bytes: 'what it printed',
    });
    expect(await stores.reads.log(runId, 'tests')).toBeNull();
    const { rows } = await stores.test.pool.query(
      `SELECT criterion_id, position, metric, peak_memory_bytes, message FROM criterion_results
       WHERE run_id = $1 ORDER BY position`,
      [runId],
    );
    const rest = { peak_memory_bytes: '5000000000', message: 'has a NUL \ufffd in it' };
    expect(rows).toEqual([
      { criterion_id: 'tests', position: 0, metric: 1.5, ...rest },
      { criterion_id: 'secret', position: 1, metric: null, ...rest },
    ]);
  });

  it('BUG-56 S27 is sealed by the attempt that runs, and by no older one', async () => {
    const { contractId } = await stores.openContract();
    const { runId } = await stores.submitCaptured(contractId);
    const first = (await stores.work.startRun(runId, 'wrk_1')) ?? 0;
    const second = (await stores.work.startRun(runId, 'wrk_2')) ?? 0;
    const sealed = sealedAs(PASS, resultOf());
    expect(await stores.work.sealRun(runId, first, sealed)).toBe(false);
    expect((await stores.reads.run(runId))?.result).toBeNull();
    expect(await stores.work.sealRun(runId, second, sealed)).toBe(true);
    expect(await stores.work.sealRun(runId, second, sealed)).toBe(false);
    expect(await stores.work.startRun(runId, 'wrk_3')).toBeNull();
    const { rows } = await stores.test.pool.query(
      'SELECT number, worker_id, outcome FROM attempts WHERE run_id = $1 ORDER BY number',
      [runId],
    );
    expect(rows).toEqual([
      { number: first, worker_id: 'wrk_1', outcome: 'lost' },
      { number: second, worker_id: 'wrk_2', outcome: 'sealed' },
    ]);
  });

  it('is told to the worker with all it needs, while somebody wants it', async () => {
    const { contractId } = await stores.openContract();
    const { runId, submissionId, solverId } = await stores.submitCaptured(contractId);
    const task = await stores.work.runTask(runId);
    expect([task?.run.id, task?.submission.id, task?.contract.id]).toEqual([
      runId,
      submissionId,
      contractId,
    ]);
    expect(task?.claimToken).toBeNull();
    const token = await stores.reads.claimToken(contractId, solverId);
    expect(token).toMatch(/^clm_[0-9a-z]{26}$/);
    expect(await stores.reads.claimToken(contractId, solverId)).toBe(token);
    expect(await stores.work.runTask('run_none')).toBeNull();
  });
});

describe('a worker', () => {
  it('is known by its last heartbeat', async () => {
    const worker = { id: 'wrk_beat', host: 'here', version: '1', slots: 2 };
    await stores.work.heartbeat({ ...worker, state: 'READY', problem: null });
    await stores.work.heartbeat({ ...worker, state: 'SICK', problem: 'no engine' });
    const { workers } = await stores.reads.status();
    const found = workers.find(({ id }) => id === worker.id);
    expect(found).toMatchObject({ host: 'here', state: 'SICK', problem: 'no engine' });
  });
});
