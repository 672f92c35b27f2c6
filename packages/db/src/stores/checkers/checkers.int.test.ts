import type { CheckerPackage, ContractTerms, StageEnd } from '@kervyxa/checker';
import { canonicalDigest, sha256Hex } from '@kervyxa/core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CheckTask } from '../../checker-ports.ts';
import type { ImplementationRow, Publication } from '../../checker-rows.ts';
import { TEST_KEY } from '../../testing/sealed-as.ts';
import { callOf, openStores, type Stores } from '../../testing/open-stores.ts';

const WEEK_MS = 7 * 86_400_000;
const VERIFIED: StageEnd = { kind: 'verified', reason: null, score: null, evidence: null };

let stores: Stores;
let ownerId: string;
let solverId: string;
let counter = 0;
beforeAll(async () => {
  stores = await openStores();
  ownerId = await stores.bench.addPrincipal();
  solverId = await stores.bench.addPrincipal();
});
afterAll(() => stores.close());

function slot(key: string, sealed: boolean) {
  return { key, required: true, sealed, media_types: [], max_bytes: 100, description: key };
}

function terms(statement: string): ContractTerms {
  return {
    title: 'Answers',
    statement_md: statement,
    reference_inputs: [slot('question', false), slot('solution', true)],
    stages: [
      {
        key: 'form',
        kind: 'sandbox',
        title: 'Form',
        description_md: 'Reads the question only.',
        evidence_schema: null,
        review_protocol_id: null,
        rule_owner: null,
        acceptance: null,
        external_system: null,
        reference_input_slots: ['question'],
      },
    ],
    submission_requirements: {
      accepts_text_only: true,
      answer_format_md: null,
      required_artifacts: [],
    },
    result_kind: 'pass_fail',
    score: null,
    conformance_fixtures: [],
  };
}

/** A package whose bytes are its own name, and whose program is too. */
async function packageOf(statement: string, program: string): Promise<CheckerPackage> {
  const digest = await blobOf(`${statement} ${program}`);
  const row = { sha256: digest, sizeBytes: 1n, entryCount: 1 };
  await stores.commands.savePackage(callOf(ownerId), row, () => ({ status: 200, body: '' }));
  const script = {
    kind: 'script' as const,
    digest: `sha256:${sha256Hex(program)}`,
    filename: 'checker.py',
    content: Buffer.from(program),
    limits: { vcpu: 1, memoryMb: 64, diskMb: 1, timeoutSeconds: 1 },
  };
  return {
    digest,
    contract: terms(statement),
    contractId: null,
    verifierId: null,
    versionNumber: null,
    reviewProtocol: null,
    programs: new Map([['form', script]]),
    reference: new Map(),
    fixtureFiles: new Map(),
  };
}

async function blobOf(text: string): Promise<string> {
  const bytes = async function* () {
    yield Buffer.from(text);
  };
  return (await stores.blobs.saveBlob(bytes(), { bytesMax: 1_000 })).sha256;
}

async function publish(
  checker: CheckerPackage,
  verifierId: string | null = null,
): Promise<Publication> {
  counter += 1;
  const input = { verifierId, name: `family ${counter}`, checker };
  const published = Promise.withResolvers<Publication>();
  await stores.checkers.commands.publish(callOf(ownerId), input, (publication) => {
    published.resolve(publication);
    return { status: 201, body: '' };
  });
  return published.promise;
}

function implementationOf({ implementations: [first] }: Publication): ImplementationRow {
  if (first === undefined) throw new Error('expected an implementation, got none');
  return first;
}

/** As a worker tells that it reproduced every fixture, or not. */
function report(id: string, isConformant: boolean): Promise<boolean> {
  const outcome = {
    stageKey: 'form',
    programDigest: `sha256:${'0'.repeat(64)}`,
    image: 'image',
    isConformant,
    problem: isConformant ? null : 'missed one',
    fixtures: [],
  };
  return stores.checkers.work.endConformance(id, { kind: 'reported', report: outcome });
}

async function currentOf(contractId: string): Promise<string | undefined> {
  const page = { limit: 100, after: null };
  const { items } = await stores.checkers.reads.listImplementations(contractId, page);
  const current = items.filter(({ isCurrent }) => isCurrent);
  expect(current.length).toBeLessThan(2);
  return current[0]?.id;
}

/** An open problem of the contract, with both slots bound. */
async function openProblem(contractId: string, invited: string[] | null = null): Promise<string> {
  const { commands } = stores.checkers;
  const id = Promise.withResolvers<string>();
  const later = new Date(Date.now() + WEEK_MS).toISOString();
  const input = {
    contractId,
    title: 'Find it',
    statement: 'Find it.',
    sealing: {
      sealed_until: later,
      score_release: null,
      submission_limit: 10,
      entries: 'shared' as const,
      cutoff: null,
    },
    invited,
  };
  await commands.createProblem(callOf(ownerId), input, (row) => {
    id.resolve(row.id);
    return { status: 201, body: '' };
  });
  const problemId = await id.promise;
  for (const key of ['question', 'solution']) await bind(problemId, key, await blobOf(key), key);
  await decide(problemId, { kind: 'open', actorId: ownerId });
  return problemId;
}

function bind(problemId: string, key: string, sha256: string, text: string): Promise<unknown> {
  const binding = {
    filename: `${key}.txt`,
    mediaType: null,
    sizeBytes: text.length,
    contentHash: `sha256:${sha256}`,
    url: null,
  };
  return decide(problemId, { kind: 'bind', actorId: ownerId, slot: key, binding });
}

function decide(
  problemId: string,
  command: Parameters<Stores['checkers']['commands']['decideProblem']>[1]['command'],
): Promise<unknown> {
  const input = { problemId, command };
  return stores.checkers.commands.decideProblem(callOf(ownerId), input, () => ({
    status: 200,
    body: '',
  }));
}

/** The id of the check of a new entry. */
async function submit(problemId: string, blob: string): Promise<string> {
  const id = Promise.withResolvers<string>();
  const artifacts = [{ role: 'answer', filename: 'answer.txt', mediaType: null, blob }];
  const input = { problemId, summaryText: 'Here it is.', artifacts };
  await stores.checkers.commands.submitEntry(callOf(solverId), input, (entry, check) => {
    expect(entry.checkId).toBe(check.id);
    id.resolve(check.id);
    return { status: 201, body: '' };
  });
  return id.promise;
}

async function runTask(checkId: string): Promise<Extract<CheckTask, { kind: 'run' }>> {
  const task = await stores.checkers.work.checkTask(checkId);
  if (task.kind !== 'run') throw new Error(`expected a stage to run, got ${task.kind}`);
  return task;
}

function sealOf({ attempt, implementation }: Extract<CheckTask, { kind: 'run' }>) {
  const program = {
    implementationId: implementation.id,
    digest: implementation.programDigest,
    image: null,
  };
  return { kind: 'seal', attempt, end: VERIFIED, program } as const;
}

async function stateOf(checkId: string): Promise<string | undefined> {
  return (await stores.checkers.reads.check(checkId))?.facts.state;
}

async function waitingJobs(queue: string): Promise<unknown[]> {
  const { rows } = await stores.test.pool.query<{ id: string }>(
    `SELECT singleton_key AS id FROM queue.job WHERE name = $1 AND state = 'created'`,
    [queue],
  );
  return rows.map(({ id }) => id);
}

describe('a publication', () => {
  it('of terms that the family has is a program for that version; of others the next version', async () => {
    const first = await publish(await packageOf('a', '1'));
    expect(first).toMatchObject({
      isNewContract: true,
      contract: { versionNumber: 1, ownerId, document: { version_number: 1, yanked_at: null } },
    });
    const again = await publish(await packageOf('a', '1'), first.verifier.id);
    expect(again).toMatchObject({ isNewContract: false, contract: { id: first.contract.id } });
    expect(implementationOf(again).id).toBe(implementationOf(first).id);
    const corrected = await publish(await packageOf('a', '2'), first.verifier.id);
    expect(corrected.contract.id).toBe(first.contract.id);
    expect(implementationOf(corrected).id).not.toBe(implementationOf(first).id);
    const changed = await publish(await packageOf('b', '2'), first.verifier.id);
    expect(changed).toMatchObject({ isNewContract: true, contract: { versionNumber: 2 } });
  });

  it('of a package that another system has published gives it ids of ours, and takes a correction of it', async () => {
    const elsewhere = {
      verifierId: 'vfr_01hf90aa4rrc',
      contractId: 'vct_01hf90aa4rrc',
      versionNumber: 7,
    };
    const first = await publish({ ...(await packageOf('foreign', '1')), ...elsewhere });
    const { document, versionNumber } = first.contract;
    expect(first.verifier.id).not.toBe(elsewhere.verifierId);
    expect(versionNumber).toBe(1);
    expect(document).toMatchObject({
      id: first.contract.id,
      verifier_id: first.verifier.id,
      version_number: 1,
    });
    const corrected = { ...(await packageOf('foreign', '2')), ...elsewhere };
    expect(await publish(corrected, first.verifier.id)).toMatchObject({
      isNewContract: false,
      contract: { id: first.contract.id },
    });
  });

  it('of a package that says it is of a family that is here, as another one, is refused', async () => {
    const { verifier } = await publish(await packageOf('claimed', '1'));
    const claiming = { ...(await packageOf('claimed', '2')), verifierId: verifier.id };
    await expect(publish(claiming)).rejects.toMatchObject({ code: 'CHECKER_VERIFIER_MISMATCH' });
    expect(await publish(claiming, verifier.id)).toMatchObject({ isNewContract: false });
  });

  it('at the same time as four others of one family: every one gets a version of its own', async () => {
    const { verifier } = await publish(await packageOf('race', '1'));
    const packages = await Promise.all(
      ['r2', 'r3', 'r4', 'r5'].map((name) => packageOf(name, '1')),
    );
    const published = await Promise.all(packages.map((each) => publish(each, verifier.id)));
    const versions = published.map(({ contract }) => contract.versionNumber);
    expect(versions.toSorted()).toEqual([2, 3, 4, 5]);
  });

  it('of a package or into a family of somebody else is refused', async () => {
    const checker = await packageOf('mine', '1');
    const { verifier } = await publish(checker);
    const input = { verifierId: verifier.id, name: 'x', checker };
    const answer = () => ({ status: 201, body: '' });
    const { commands } = stores.checkers;
    await expect(commands.publish(callOf(solverId), input, answer)).rejects.toMatchObject({
      code: 'DB_PACKAGE_UNKNOWN',
    });
    const row = { sha256: checker.digest, sizeBytes: 1n, entryCount: 1 };
    await stores.commands.savePackage(callOf(solverId), row, answer);
    await expect(commands.publish(callOf(solverId), input, answer)).rejects.toMatchObject({
      code: 'DB_VERIFIER_NOT_OWN',
    });
  });

  it('is withdrawn: no new problem is posed under it, and that stays so', async () => {
    const { contract } = await publish(await packageOf('yanked', '1'));
    const yank = () =>
      stores.checkers.commands.yank(callOf(ownerId), contract.id, ({ document }) => ({
        status: 200,
        body: document.yanked_at ?? '',
      }));
    const { body } = await yank();
    expect(Date.parse(body)).not.toBeNaN();
    expect((await yank()).body).toBe(body);
    await expect(openProblem(contract.id)).rejects.toMatchObject({
      code: 'CHECKER_CONTRACT_YANKED',
    });
  });

  it('is current as the highest version that is not withdrawn', async () => {
    const first = await publish(await packageOf('version', '1'));
    const second = await publish(
      await packageOf('version of another kind', '1'),
      first.contract.verifierId,
    );
    const currents = async () => {
      const { items } = await stores.checkers.reads.listPublishedContracts(
        first.contract.verifierId,
        { limit: 10, after: null },
      );
      return items.filter(({ isCurrent }) => isCurrent).map(({ id }) => id);
    };
    expect(await currents()).toEqual([second.contract.id]);
    await stores.checkers.commands.yank(callOf(ownerId), second.contract.id, () => ({
      status: 200,
      body: '',
    }));
    expect(await currents()).toEqual([first.contract.id]);
  });
});

// Keeps R-CHECKER-CURRENT.
describe('a program', () => {
  it('that waits for its fixtures, or missed one, leaves the older one current', async () => {
    const { verifier, contract, ...first } = await publish(await packageOf('c', '1'));
    const old = implementationOf({ verifier, contract, ...first });
    expect(await currentOf(contract.id)).toBeUndefined();
    await report(old.id, true);
    expect(await currentOf(contract.id)).toBe(old.id);
    const next = implementationOf(await publish(await packageOf('c', '2'), verifier.id));
    expect(await currentOf(contract.id)).toBe(old.id);
    await report(next.id, false);
    expect(await currentOf(contract.id)).toBe(old.id);
    const last = implementationOf(await publish(await packageOf('c', '3'), verifier.id));
    await report(last.id, true);
    expect(await currentOf(contract.id)).toBe(last.id);
    const { items } = await stores.checkers.reads.listImplementations(contract.id, {
      limit: 10,
      after: null,
    });
    expect(items.map(({ state }) => state)).toEqual(['CONFORMANT', 'NONCONFORMANT', 'CONFORMANT']);
  });

  it('that was replaced is published again: it is tried again, and then current again', async () => {
    const { verifier, contract, implementations } = await publish(await packageOf('n', '1'));
    const [first] = implementations;
    await report(first?.id ?? '', true);
    const next = implementationOf(await publish(await packageOf('n', '2'), verifier.id));
    await report(next.id, true);
    const again = implementationOf(await publish(await packageOf('n', '1'), verifier.id));
    expect(again.id).not.toBe(first?.id);
    expect(await currentOf(contract.id)).toBe(next.id);
    await report(again.id, true);
    expect(await currentOf(contract.id)).toBe(again.id);
  });

  it('is reported by a worker that was thought to be gone: the first report stays', async () => {
    const { id } = implementationOf(await publish(await packageOf('d', '1')));
    expect(await report(id, true)).toBe(true);
    expect(await report(id, false)).toBe(false);
    expect(await stores.checkers.reads.implementation(id)).toMatchObject({ state: 'CONFORMANT' });
    expect(await stores.checkers.work.conformanceTask(id)).toBeNull();
  });

  it('that our own trouble kept from its fixtures is FAILED, and tried again when asked', async () => {
    const { id } = implementationOf(await publish(await packageOf('e', '1')));
    const { work, commands } = stores.checkers;
    await work.endConformance(id, { kind: 'failed', problem: 'no engine' });
    expect(await stores.checkers.reads.implementation(id)).toMatchObject({ state: 'FAILED' });
    const retry = () =>
      commands.retryConformance(callOf(ownerId), id, () => ({ status: 200, body: '' }));
    await retry();
    expect(await work.conformanceTask(id)).toMatchObject({ id, state: 'PENDING' });
    await expect(retry()).rejects.toMatchObject({ code: 'DB_IMPLEMENTATION_NOT_FAILED' });
  });

  it('that is FAILED is not tried again while its package, published again, waits already', async () => {
    const checker = await packageOf('o', '1');
    const { verifier, ...first } = await publish(checker);
    const { id } = implementationOf({ verifier, ...first });
    const { work, commands } = stores.checkers;
    await work.endConformance(id, { kind: 'failed', problem: 'no engine' });
    const again = implementationOf(await publish(checker, verifier.id));
    expect(again.id).not.toBe(id);
    const retry = () =>
      commands.retryConformance(callOf(ownerId), id, () => ({ status: 200, body: '' }));
    await expect(retry()).rejects.toMatchObject({ code: 'DB_IMPLEMENTATION_NOT_FAILED' });
    await report(again.id, true);
    await retry();
    expect(await work.conformanceTask(id)).toMatchObject({ id, state: 'PENDING' });
  });
});

// Keeps R-WORKER-FENCE.
describe('a check', () => {
  it('waits for a program to conform, is sent then, and ends with a record that stays', async () => {
    const published = await publish(await packageOf('f', '1'));
    const { id: implementationId } = implementationOf(published);
    const problemId = await openProblem(published.contract.id);
    const answer = await blobOf('forty-two');
    const checkId = await submit(problemId, answer);
    const { work, reads } = stores.checkers;
    expect(await work.checkTask(checkId)).toEqual({ kind: 'waits' });
    await stores.test.pool.query(`DELETE FROM queue.job WHERE name = 'check'`);
    // Nobody could do it: it is not lost.
    await stores.upkeep.resendLost(100);
    expect(await waitingJobs('check')).toEqual([]);
    await report(implementationId, true);
    expect(await waitingJobs('check')).toEqual([checkId]);

    const task = await runTask(checkId);
    expect([...task.reference]).toEqual([
      ['question', { filename: 'question.txt', mediaType: null, blob: sha256Hex('question') }],
    ]);
    expect(task.entry).toMatchObject({
      solverId,
      summaryText: 'Here it is.',
      artifacts: [{ role: 'answer', blob: answer, sizeBytes: 9n }],
    });
    expect(await work.decideCheck(checkId, sealOf(task))).toMatchObject({ kind: 'accepted' });
    expect(await stateOf(checkId)).toBe('VERIFIED');

    const last = await work.checkTask(checkId);
    expect(last).toMatchObject({ kind: 'record', contract: { id: published.contract.id } });
    const { keyid } = TEST_KEY;
    const record = (evaluation: string) =>
      work.recordCheck(checkId, { evaluation, keyid, attest: ({ audit }) => audit.hash });
    await expect(record('{}')).rejects.toMatchObject({ code: 'DB_SIGNING_KEY_RETIRED' });
    await stores.work.useSigningKey(TEST_KEY);
    await record('{"one":1}');
    await record('{"two":2}');
    const attestation = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(await reads.check(checkId)).toMatchObject({ evaluation: '{"one":1}', attestation });
    expect(await work.checkTask(checkId)).toEqual({ kind: 'waits' });
  });

  // Keeps R-AUDIT-CHAIN.
  it('is recorded with one entry in the audit log, which tells whoever changes it in the tables', async () => {
    const published = await publish(await packageOf('p', '1'));
    await report(implementationOf(published).id, true);
    const problemId = await openProblem(published.contract.id);
    const checkId = await submit(problemId, await blobOf('x'));
    const { work, reads } = stores.checkers;
    await work.decideCheck(checkId, sealOf(await runTask(checkId)));
    const { pool } = stores.test;
    const setTo = (fields: string) =>
      pool.query(`UPDATE checks SET ${fields} WHERE id = $1`, [checkId]);
    const tamper = (script: string) =>
      pool.query(`BEGIN; SET LOCAL session_replication_role = replica; ${script}; COMMIT`);
    const problemOf = async () => (await stores.reads.checkAudit()).problem;

    await setTo(`evaluation = '{}', attestation = '{}'`);
    expect(await problemOf()).toBe(`what is kept of ${checkId} is in no entry`);
    await tamper(`UPDATE checks SET evaluation = NULL, attestation = NULL WHERE id = '${checkId}'`);

    await stores.work.useSigningKey(TEST_KEY);
    const head = await stores.reads.auditHead();
    const { keyid } = TEST_KEY;
    for (const evaluation of ['{"one":1}', '{"two":2}']) {
      await work.recordCheck(checkId, { evaluation, keyid, attest: ({ audit }) => audit.hash });
    }
    const check = await reads.check(checkId);
    expect(check?.attestation).toBe(head.hash);
    const page = { limit: 10, after: String(head.seq) };
    const { items } = await stores.reads.listAudit(page);
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      kind: 'check_recorded',
      subject: checkId,
      digest: canonicalDigest(check?.facts.results),
      facts: {
        problem: problemId,
        entry: check?.facts.entryId,
        state: 'VERIFIED',
        evaluation: `sha256:${sha256Hex('{"one":1}')}`,
        attestation: `sha256:${sha256Hex(head.hash)}`,
        keyid,
      },
    });
    expect(await problemOf()).toBeNull();

    await pool.query(`CREATE TABLE kept AS SELECT * FROM checks WHERE id = '${checkId}'`);
    for (const change of [
      `state = 'REFUTED', facts = facts || '{"state":"REFUTED"}'`,
      `facts = jsonb_set(facts, '{results,0,message}', '"it was bought"')`,
      `evaluation = '{"two":2}'`,
      `attestation = 'of another key'`,
      'evaluation = NULL, attestation = NULL',
    ]) {
      await tamper(`UPDATE checks SET ${change} WHERE id = '${checkId}'`);
      const problem = `entry ${items[0]?.seq}: what is kept of ${checkId} is not what it says`;
      expect([change, await problemOf()]).toEqual([change, problem]);
      await tamper(`UPDATE checks c SET (state, facts, evaluation, attestation) =
        (k.state, k.facts, k.evaluation, k.attestation) FROM kept k WHERE k.id = c.id`);
    }
    expect(await problemOf()).toBeNull();
    await pool.query('DROP TABLE kept');
  });

  it('has a worker that comes back after another has begun: what it says changes nothing', async () => {
    const published = await publish(await packageOf('g', '1'));
    await report(implementationOf(published).id, true);
    const checkId = await submit(await openProblem(published.contract.id), await blobOf('x'));
    const first = await runTask(checkId);
    const second = await runTask(checkId);
    expect(second.attempt).toBe(first.attempt + 1);
    const { work } = stores.checkers;
    expect(await work.decideCheck(checkId, sealOf(first))).toMatchObject({ kind: 'refused' });
    expect(await stateOf(checkId)).toBe('WAITING_SANDBOX');
    const told = await Promise.all([1, 2, 3].map(() => work.decideCheck(checkId, sealOf(second))));
    expect(told.map(({ kind }) => kind).toSorted()).toEqual(['accepted', 'refused', 'refused']);
    expect((await stores.checkers.reads.check(checkId))?.facts.results).toHaveLength(1);
  });

  // Else a nomination in time that is committed after the cutoff would not be seen, and nothing judged.
  it('waits for what is being done to its problem', async () => {
    const published = await publish(await packageOf('Waits', 'print(7)'));
    const problemId = await openProblem(published.contract.id);
    const checkId = await submit(problemId, await blobOf('an answer'));
    const { pool } = stores.test;
    const other = await pool.connect();
    try {
      await other.query('BEGIN');
      await other.query('SELECT 1 FROM problems WHERE id = $1 FOR NO KEY UPDATE', [problemId]);
      const decided = stores.checkers.work.decideCheck(checkId, { kind: 'advance' });
      await vi.waitUntil(async () => {
        const { rowCount } = await pool.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rowCount === 1;
      }, 10_000);
      await other.query('COMMIT');
      expect(await decided).toMatchObject({ kind: 'accepted' });
    } finally {
      other.release();
    }
  });

  it('ends inconclusive, and says what is missing, where no program conforms', async () => {
    const published = await publish(await packageOf('h', '1'));
    const checkId = await submit(await openProblem(published.contract.id), await blobOf('x'));
    await report(implementationOf(published).id, false);
    expect(await stores.checkers.work.checkTask(checkId)).toEqual({ kind: 'waits' });
    expect(await stores.checkers.reads.check(checkId)).toMatchObject({
      facts: {
        state: 'INCONCLUSIVE',
        results: [{ outcome: 'inconclusive', mechanism: expect.stringContaining('form') }],
      },
    });
  });

  it('is held after our own trouble, for as long as the policy says', async () => {
    const published = await publish(await packageOf('i', '1'));
    await report(implementationOf(published).id, true);
    const checkId = await submit(await openProblem(published.contract.id), await blobOf('x'));
    const { work } = stores.checkers;
    for (let tries = 0; (await stateOf(checkId)) === 'WAITING_SANDBOX' && tries < 9; tries += 1) {
      const { attempt } = await runTask(checkId);
      await work.decideCheck(checkId, { kind: 'fail', attempt, reason: 'ENGINE_UNAVAILABLE' });
    }
    expect(await stateOf(checkId)).toBe('HELD');
    expect(await work.listDueChecks(10)).not.toContain(checkId);
    await stores.test.pool.query(`UPDATE checks SET next_due_at = now() WHERE id = $1`, [checkId]);
    expect(await work.listDueChecks(10)).toContain(checkId);
  });
});

describe('bytes that a problem or an entry names', () => {
  it('are kept, whatever their age; those that nobody sent can’t be named', async () => {
    const published = await publish(await packageOf('j', '1'));
    const problemId = await openProblem(published.contract.id);
    await submit(problemId, await blobOf('artifact'));
    const unused = await blobOf('unused');
    await stores.test.pool.query(`UPDATE blobs SET created_at = now() - interval '8 days'`);
    await stores.upkeep.forgetUnusedBlobs(WEEK_MS, 1_000);
    const kept = async (sha256: string) => (await stores.blobs.readBlob(sha256)) !== null;
    expect(await kept(unused)).toBe(false);
    expect(await kept(sha256Hex('artifact'))).toBe(true);
    expect(await kept(sha256Hex('solution'))).toBe(true);
    expect(await kept(published.implementations[0]?.packageSha256 ?? '')).toBe(true);
    await expect(submit(problemId, unused)).rejects.toMatchObject({ code: 'DB_BLOB_UNKNOWN' });
  });

  it('are found by the problems of one owner that share them', async () => {
    const published = await publish(await packageOf('k', '1'));
    const one = await openProblem(published.contract.id);
    const two = await openProblem(published.contract.id);
    const { reads } = stores.checkers;
    expect(await reads.problemsThatBind(one, [sha256Hex('solution')])).toContain(two);
    expect(await reads.problemsThatBind(one, [sha256Hex('nothing')])).toEqual([]);
  });
});

describe('pages', () => {
  it('of problems show a viewer neither drafts nor what it is not invited to', async () => {
    const published = await publish(await packageOf('l', '1'));
    const open = await openProblem(published.contract.id);
    const { reads, commands } = stores.checkers;
    const draft = Promise.withResolvers<string>();
    const input = {
      contractId: published.contract.id,
      title: 'Later',
      statement: 'Later.',
      sealing: null,
      invited: [],
    };
    await commands.createProblem(callOf(ownerId), input, ({ id }) => {
      draft.resolve(id);
      return { status: 201, body: '' };
    });
    const guestId = await stores.bench.addPrincipal();
    const closed = await openProblem(published.contract.id, [guestId]);
    const seen = async (viewer: Parameters<typeof reads.listProblems>[0]) => {
      const { items } = await reads.listProblems(viewer, { limit: 3, after: null });
      return items.map(({ id }) => id);
    };
    const by = (id: string, seesInviteOnly = false) => seen({ id, seesInviteOnly });
    const all = [closed, await draft.promise, open];
    expect(await seen(null)).toEqual(all);
    expect(await by(ownerId)).toEqual(all);
    expect(await by(guestId)).toEqual(expect.arrayContaining([closed, open]));
    expect(await by(guestId)).not.toContain(await draft.promise);
    expect(await by(solverId)).toContain(open);
    expect(await by(solverId)).not.toContain(closed);
    expect(await by(solverId, true)).toEqual(expect.arrayContaining([closed, open]));
    expect(await by(solverId, true)).not.toContain(await draft.promise);
  });

  it('of problems come without participants, who may be many; of single ones only those asked for', async () => {
    const published = await publish(await packageOf('q', '1'));
    const id = await openProblem(published.contract.id);
    await submit(id, await blobOf('x'));
    const { reads } = stores.checkers;
    const { items } = await reads.listProblems(
      { id: solverId, seesInviteOnly: false },
      { limit: 1, after: null },
    );
    expect(items).toMatchObject([{ id, facts: { state: 'OPEN' } }]);
    expect(items[0]?.facts).not.toHaveProperty('entrants');
    const entrantsFor = async (...participantIds: string[]) =>
      (await reads.problemsFor([id], participantIds)).map(({ facts }) => facts.entrants);
    expect(await entrantsFor(ownerId)).toEqual([{}]);
    expect(await entrantsFor(ownerId, solverId)).toEqual([
      { [solverId]: { entries: 1, nominated: null } },
    ]);
    expect(await reads.problemsFor([], [solverId])).toEqual([]);
  });

  it('of checks leave out whoever has a part in them', async () => {
    const published = await publish(await packageOf('m', '1'));
    const checkId = await submit(await openProblem(published.contract.id), await blobOf('x'));
    const other = await stores.bench.addPrincipal();
    const seen = async (notOf: string) =>
      (
        await stores.checkers.reads.listChecks(
          { states: ['WAITING_SANDBOX'], problemId: null, notOf },
          { limit: 200, after: null },
        )
      ).items.map(({ id }) => id);
    expect(await seen(other)).toContain(checkId);
    expect(await seen(solverId)).not.toContain(checkId);
    expect(await seen(ownerId)).not.toContain(checkId);
  });
});

describe('a key of a system outside', () => {
  it('belongs to one system, and is retired once', async () => {
    const { commands, reads } = stores.checkers;
    const key = { fingerprint: 'f'.repeat(64), externalSystem: 'lab', publicKey: 'pem' };
    const answer = () => ({ status: 200, body: '' });
    await commands.addPartnerKey(callOf(ownerId), key, answer);
    await expect(
      commands.addPartnerKey(callOf(ownerId), { ...key, externalSystem: 'other' }, answer),
    ).rejects.toMatchObject({ code: 'DB_PARTNER_KEY_DUPLICATE' });
    await commands.retirePartnerKey(callOf(ownerId), key.fingerprint, answer);
    const [retired] = await reads.listPartnerKeys();
    await commands.retirePartnerKey(callOf(ownerId), key.fingerprint, answer);
    expect(retired?.retiredAt).not.toBeNull();
    expect(await reads.listPartnerKeys()).toEqual([retired]);
  });

  it('decides nothing that was signed in time and comes after it was retired', async () => {
    const { commands } = stores.checkers;
    const key = { fingerprint: 'e'.repeat(64), externalSystem: 'lab', publicKey: 'other pem' };
    const answer = () => ({ status: 200, body: '' });
    await commands.addPartnerKey(callOf(ownerId), key, answer);
    const published = await publish(await packageOf('r', '1'));
    const checkId = await submit(await openProblem(published.contract.id), await blobOf('x'));
    const tell = () =>
      commands.decideCheck(
        callOf(ownerId),
        {
          checkId,
          command: {
            kind: 'report',
            stage: 'yield',
            report: { result: 'verified', statement: null, evidence: null },
            reporter: { kind: 'signature', system: 'lab', key: key.fingerprint },
            evidenceProblem: null,
          },
        },
        answer,
      );
    // The stage is another one; what matters is who is refused first.
    await expect(tell()).rejects.toMatchObject({ code: 'CHECKER_CHECK_NOT_WAITING' });
    await commands.retirePartnerKey(callOf(ownerId), key.fingerprint, answer);
    await expect(tell()).rejects.toMatchObject({ code: 'DB_SUBJECT_UNKNOWN' });
  });
});
