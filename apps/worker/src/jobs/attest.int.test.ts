import { systemClock } from '@kervyxa/core';
import type { EvidenceRow } from '@kervyxa/db';
import { parsePublicKeys, verifyEnvelope, type VerifiedEnvelope } from '@kervyxa/evidence';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { commitOf } from '../testing/hello.ts';
import { createTestSigning, TEST_VERIFIER } from '../testing/test-signing.ts';
import { createWorld, type World } from '../testing/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

async function sealed(submissionId: string, wanted = {}) {
  const run = await world.runIs(submissionId, { state: 'SEALED', ...wanted });
  const row = await world.database.reads.evidence(run.id);
  if (row === null) throw new Error('expected evidence of a sealed run');
  return { run, row, full: opened(row, 'attestation'), open: opened(row, 'publicAttestation') };
}

function opened(
  row: EvidenceRow,
  view: 'attestation' | 'publicAttestation',
): VerifiedEnvelope['statement'] {
  return verifyEnvelope(Buffer.from(row[view]), parsePublicKeys(row.publicKey)).statement;
}

// Keeps R-EVIDENCE-SEALED.
describe('what a worker signs', () => {
  it('BUG-46 hands in a commit of a fork under its parent’s URL: the signed record names the URL that served it', async () => {
    const worker = world.startWorker();
    const contractId = await world.openContract();
    const { digest } = await world.contractIs(contractId, {});
    const parent = 'https://git.example.org/parent/project.git';
    const submissionId = await world.submit(contractId, commitOf('good'), parent);
    const { run, row, full, open } = await sealed(submissionId);
    for (const { predicate, subject } of [full, open]) {
      expect(subject[0]).toEqual({ name: 'commit', digest: { gitCommit: commitOf('good') } });
      expect(predicate).toMatchObject({
        resourceUri: parent,
        verifier: { id: TEST_VERIFIER },
        verificationResult: 'PASSED',
        timeVerified: run.finishedAt?.toISOString(),
      });
    }
    expect(`sha256:${full.predicate.policy.digest.sha256}`).toBe(digest);
    expect(open.predicate.policy).not.toEqual(full.predicate.policy);
    expect(JSON.parse(row.request)).toMatchObject({ purpose: 'verification' });
    expect(JSON.parse(row.evaluation)).toMatchObject({ passed: true });

    await world.askForRerun(contractId, submissionId);
    const again = await vi.waitFor(async () => {
      const next = await sealed(submissionId);
      expect(next.run.id).not.toBe(run.id);
      return next;
    });
    expect(JSON.parse(again.row.request)).toMatchObject({ purpose: 'rerun' });
    await worker.stop();
  });

  it('of a commit that fails says FAILED, with its reason', async () => {
    const worker = world.startWorker();
    const submissionId = await world.submit(await world.openContract(), commitOf('bad'));
    const { full } = await sealed(submissionId);
    expect(full.predicate).toMatchObject({
      verificationResult: 'FAILED',
      'urn:kervyxa:attestation:v1': { verdict: 'FAIL', reason: 'EXIT_CODE_MISMATCH' },
    });
    await worker.stop();
  });

  it('is signed with the next key where one was retired while it ran, and is not lost', async () => {
    const keys = [createTestSigning().openKey(), createTestSigning().openKey()] as const;
    const asked: string[] = [];
    const openKey = () => {
      const key = asked.length === 0 ? keys[0] : keys[1];
      asked.push(key.keyid);
      return key;
    };
    const publicKey = keys[0].publicKey.export({ type: 'spki', format: 'pem' }).toString();
    await world.database.work.useSigningKey({ keyid: keys[0].keyid, publicKey });
    await world.database.upkeep.retireSigningKey(keys[0].keyid);
    const worker = world.startWorker({ signing: { verifierId: TEST_VERIFIER, openKey } });
    const submissionId = await world.submit(await world.openContract(), commitOf('good'));
    const { run, row } = await sealed(submissionId, { verdict: 'PASS' });
    expect(parsePublicKeys(row.publicKey)[0]?.keyid).toBe(keys[1].keyid);
    expect(asked).toEqual(keys.map(({ keyid }) => keyid));
    expect(run.tries).toBe(0);
    await worker.stop();
  });

  it('is nothing where no key can be had: the machine rests, the run is tried again and then held, and nobody fails', async () => {
    const openKey = () => {
      throw new Error('the key is gone');
    };
    const before = world.lines.length;
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() * 1_000 };
    const worker = world.startWorker({
      signing: { verifierId: TEST_VERIFIER, openKey },
      health: { everyMs: 20, clock },
    });
    const submissionId = await world.submit(await world.openContract(), commitOf('good'));
    const held = await vi.waitFor(async () => {
      await world.hurry();
      const [run] = await world.database.reads.listRuns(submissionId);
      expect(run).toMatchObject({ state: 'HELD', verdict: null, reason: 'INTERNAL' });
      return run;
    }, 30_000);
    expect(await world.database.reads.evidence(held?.id ?? '')).toBeNull();
    expect((await world.database.reads.submission(submissionId))?.state).toBe('HELD');
    expect(world.lines.slice(before)).toContain('warn: sick: taking no work');
    await worker.stop();
  });

  it('can not be stored: the machine is not to blame, goes on, and the next try is stored', async () => {
    const before = world.lines.length;
    const worker = world.startWorker();
    const contractId = await world.openContract();
    await world.sql('ALTER TABLE run_evidence RENAME TO run_evidence_away');
    const submissionId = await world.submit(contractId, commitOf('good'));
    await world.runIs(submissionId, { tries: 1 });
    await world.sql('ALTER TABLE run_evidence_away RENAME TO run_evidence');
    await world.hurry();
    await sealed(submissionId, { verdict: 'PASS' });
    expect(world.lines.slice(before)).not.toContain('warn: sick: taking no work');
    await worker.stop();
  });
});
