import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CheckRow, ImplementationRow } from '@kervyxa/db';
import { sha256Hex } from '@kervyxa/core';
import { EvaluationRecordSchema, parsePublicKeys, verifyEnvelope } from '@kervyxa/evidence';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  ANSWER_CHECKER,
  GULLIBLE_CHECKER,
  poseProblem,
  publishChecker,
  reportConformant,
  SLOW_CHECKER,
  submitText,
} from './testing/checkers.ts';
import { containersOf } from './testing/engine-things.ts';
import { createWorld, type World } from './testing/world.ts';

const PROGRAM = join(import.meta.dirname, 'testing/worker-process.ts');
const PATIENCE = { timeout: 60_000, interval: 50 };
/** What was killed while it opened a session is let be for two minutes, and looked for once a minute. */
const LONG_PATIENCE = { timeout: 240_000, interval: 200 };

let world: World;
let root: string;
let label: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'kervyxa-worker-'));
  label = randomUUID();
  world = await createWorld();
});

afterEach(async () => {
  for (const child of children.splice(0)) {
    if ((child.exitCode ?? child.signalCode) !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await world.close();
  rmSync(root, { recursive: true });
});

function startProcess(): ChildProcess {
  const cache = mkdtempSync(join(root, 'cache-'));
  const child = spawn(process.execPath, [PROGRAM, world.url, 'http://127.0.0.1:1', cache, label], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.push(child);
  return child;
}

async function implementationIs(
  id: string,
  wanted: Partial<ImplementationRow>,
): Promise<ImplementationRow | null> {
  return vi.waitFor(async () => {
    const row = await world.database.checkers.reads.implementation(id);
    expect(row).toMatchObject(wanted);
    return row;
  }, PATIENCE);
}

async function checkIs(id: string, wanted: object): Promise<CheckRow | null> {
  return vi.waitFor(async () => {
    const row = await world.database.checkers.reads.check(id);
    expect(row).toMatchObject(wanted);
    return row;
  }, PATIENCE);
}

// Keeps R-WORKER-CRASH, R-CHECKER-CURRENT.
describe('workers and published checkers, in real containers', { timeout: 400_000 }, () => {
  it('try what is published, check what is submitted, and lose nothing when one is killed', async () => {
    const { database } = world;
    const ownerId = await world.newPerson('requester');
    const solverId = await world.newPerson('solver');
    const first = startProcess();
    const published = await publishChecker(database, ownerId, { program: SLOW_CHECKER });
    const [program] = published.implementations;
    const problemId = await poseProblem(database, ownerId, published.contract.id);
    // Before the program has reproduced its fixtures: the checks wait for that.
    const right = await submitText(database, solverId, problemId, 'I think it is 42.');
    const wrong = await submitText(database, solverId, problemId, 'I think it is 43.');
    const implementationId = program?.id ?? '';
    const conformant = await implementationIs(implementationId, { state: 'CONFORMANT' });
    expect(conformant?.isCurrent).toBe(true);
    expect(JSON.parse(conformant?.report ?? '')).toMatchObject({
      fixtures: [
        { key: 'right', ok: true },
        { key: 'wrong', ok: true },
      ],
    });
    const decidedBy = { kind: 'program', implementationId, digest: program?.programDigest };
    await checkIs(right, { facts: { state: 'VERIFIED', results: [{ decidedBy }] } });
    await checkIs(wrong, { facts: { state: 'REFUTED', results: [{ decidedBy }] } });
    const recorded = await checkIs(wrong, { evaluation: expect.any(String) });
    expect(EvaluationRecordSchema.parse(JSON.parse(recorded?.evaluation ?? ''))).toMatchObject({
      'run/ref': wrong,
      'verifier/digest': published.contract.digest,
      checks: [{ 'check/ref': 'answer', status: 'failed' }],
      passed: false,
    });

    const attestation = Buffer.from(recorded?.attestation ?? '');
    const known = await database.reads.signingKeys();
    const keys = known.flatMap(({ publicKey }) => parsePublicKeys(publicKey));
    const { statement } = verifyEnvelope(attestation, keys, {
      subject: sha256Hex('I think it is 43.'),
      policyDigest: published.contract.digest,
      resourceUri: `urn:kervyxa:entry:${recorded?.facts.entryId}`,
    });
    expect(statement.predicate.verificationResult).toBe('FAILED');

    // A replacement that takes every answer misses a fixture; and a worker is killed in the middle of a check.
    const verifierId = published.verifier.id;
    const gullible = await publishChecker(database, ownerId, {
      program: GULLIBLE_CHECKER,
      verifierId,
    });
    expect(gullible.contract.id).toBe(published.contract.id);
    await implementationIs(gullible.implementations[0]?.id ?? '', { state: 'NONCONFORMANT' });
    await implementationIs(implementationId, { isCurrent: true });
    const slow = await submitText(database, solverId, problemId, 'A slow 42.');
    await checkIs(slow, { facts: { isRunning: true, attempt: 1 } });
    // Its session's keeper and, beside it, the program: what is killed sooner may look as if it were still opening.
    await vi.waitFor(async () => {
      const containers = await containersOf(`dev.kervyxa.test-worker=${label}`);
      expect(containers.length).toBeGreaterThan(1);
    }, PATIENCE);
    first.kill('SIGKILL');
    await once(first, 'exit');
    // The next attempt is at one that does not wait.
    const quick = await publishChecker(database, ownerId, { program: ANSWER_CHECKER, verifierId });
    await reportConformant(database, quick);
    await world.endLeases();
    const second = startProcess();
    const ended = await checkIs(slow, { facts: { state: 'VERIFIED', attempt: 2, tries: 1 } });
    expect(ended?.facts.results).toMatchObject([
      { decidedBy: { kind: 'program', implementationId: quick.implementations[0]?.id } },
    ]);
    await checkIs(slow, { evaluation: expect.stringContaining('"passed":true') });
    await vi.waitFor(async () => {
      expect(await containersOf(`dev.kervyxa.test-worker=${label}`)).toEqual([]);
    }, LONG_PATIENCE);
    second.kill('SIGTERM');
    expect(await once(second, 'exit')).toEqual([0, null]);
  });
});

describe('a worker', () => {
  it('is killed by the fixtures of a program, as six before it: it begins none of them, and the program is FAILED', async () => {
    const { database } = world;
    const ownerId = await world.newPerson('requester');
    const { implementations } = await publishChecker(database, ownerId, {
      program: ANSWER_CHECKER,
    });
    await world.sql(`UPDATE queue.job SET data = jsonb_set(data, '{tries}', '6')`);
    world.startWorker();
    const problem = expect.stringContaining('WORKER_LOST');
    await implementationIs(implementations[0]?.id ?? '', { state: 'FAILED', problem });
    expect(world.lines).toContain('error: fixtures lost every worker that tried them');
    expect(world.lines).not.toContain('error: fixtures could not be tried');
  });

  it('is given more than it may hold in memory: it reads none of it, and the check says why', async () => {
    const { database } = world;
    const [ownerId, solverId] = [
      await world.newPerson('requester'),
      await world.newPerson('solver'),
    ];
    const published = await publishChecker(database, ownerId, { program: ANSWER_CHECKER });
    await reportConformant(database, published);
    const bytes = async function* () {
      yield Buffer.from('large');
    };
    const { sha256: blob } = await database.blobs.saveBlob(bytes(), { bytesMax: 10 });
    await world.sql(
      `WITH off AS MATERIALIZED (SELECT set_config('session_replication_role', 'replica', true))
       UPDATE blobs SET size_bytes = 300000000 FROM off WHERE sha256 = $1`,
      blob,
    );
    const problemId = await poseProblem(database, ownerId, published.contract.id);
    const artifacts = [{ role: 'film', filename: 'film', mediaType: null, blob }];
    const id = await submitText(database, solverId, problemId, 'It is 42.', artifacts);
    world.startWorker();
    const mechanism = expect.stringContaining('268435456 bytes');
    await checkIs(id, { facts: { state: 'INCONCLUSIVE', results: [{ mechanism }] } });
    await checkIs(id, { evaluation: expect.stringContaining('"status":"inconclusive"') });
  });
});
