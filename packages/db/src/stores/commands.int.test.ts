import { AMOUNT_MINOR_MAX, isAppError } from '@kervyxa/core';
import { available } from '@kervyxa/settlement';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../ports.ts';
import { toDraft } from '../testing/open-case-bench.ts';
import { ANSWER, callOf, openStores, type Stores, TERMS } from '../testing/open-stores.ts';

const AT_ONCE = 10;

let stores: Stores;
beforeAll(async () => {
  stores = await openStores();
});
afterAll(() => stores.close());

function atOnce<T>(work: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: AT_ONCE }, work));
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'ACCEPTED';
  } catch (error) {
    if (isAppError(error)) return error.code;
    throw error;
  }
}

function toIdAnswer({ id }: { readonly id: string }): Answer {
  return { status: 201, body: JSON.stringify({ id }) };
}

async function countOf(table: string, column: string, value: string): Promise<number> {
  const { rowCount } = await stores.test.pool.query(`SELECT 1 FROM ${table} WHERE ${column} = $1`, [
    value,
  ]);
  return rowCount ?? 0;
}

// Keeps R-ANSWER-ONCE.
describe('a command with an Idempotency-Key', () => {
  it('BUG-61 posts one contract for ten equal requests at once, and answers all alike', async () => {
    const requesterId = await stores.bench.addPrincipal();
    const draft = toDraft('bug-61', { ...TERMS, requesterId }, await stores.now());
    const answers = await atOnce(() =>
      stores.commands.createContract(callOf(requesterId, 'post'), draft, toIdAnswer),
    );
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(await countOf('contracts', 'requester_id', requesterId)).toBe(1);
  });

  it('S06 refuses another input under the same key, and knows the keys of each principal apart', async () => {
    const [one, two] = [await stores.bench.addPrincipal(), await stores.bench.addPrincipal()];
    const post = async (requesterId: string, seed: string) => {
      const draft = toDraft(seed, { ...TERMS, requesterId }, await stores.now());
      const call = callOf(requesterId, 'same key', seed);
      return codeOf(stores.commands.createContract(call, draft, toIdAnswer));
    };
    expect(await post(one, 'a')).toBe('ACCEPTED');
    expect(await post(one, 'b')).toBe('DB_IDEMPOTENCY_CONFLICT');
    expect(await post(two, 'b')).toBe('ACCEPTED');
  });

  it('takes one bond for ten equal challenges at once', async () => {
    const { contractId } = await stores.openContract();
    const { submissionId, runId } = await stores.submitCaptured(contractId);
    await passRun(contractId, runId);
    const challengerId = await stores.bench.addPrincipal();
    await stores.bench.deposit(challengerId, TERMS.bondMinor * 10n);
    const answers = await atOnce(() => {
      const challengeId = stores.newId('challenge');
      const command = {
        kind: 'challenge',
        challengeId,
        submissionId,
        challengerId,
        challenge: 'OVERTURN_PASS',
      } as const;
      const input = { contractId, command, statement: 'It does not build.' };
      return stores.commands.execute(callOf(challengerId, 'file'), input, () => ({
        status: 201,
        body: challengeId,
      }));
    });
    const [first] = answers;
    expect(answers).toEqual(answers.map(() => first));
    const challenges = await stores.reads.listChallenges(submissionId);
    expect(challenges.map(({ id, evidence }) => [id, evidence])).toEqual([
      [first?.body, 'It does not build.'],
    ]);
    const balances = await stores.reads.balances(challengerId);
    expect(balances.get('USD')).toBe(TERMS.bondMinor * 9n);
  });

  it('keeps no refusal: the same request succeeds once its reason is gone', async () => {
    const requesterId = await stores.bench.addPrincipal();
    const contractId = await stores.bench.seedContract({ ...TERMS, requesterId });
    await stores.cases.execute(contractId, { kind: 'prove' });
    const fund = () =>
      codeOf(
        stores.commands.execute(
          callOf(requesterId, 'fund'),
          { contractId, command: { kind: 'fund' } },
          () => ANSWER,
        ),
      );
    expect(await fund()).toBe('SETTLEMENT_FUNDS_INSUFFICIENT');
    expect((await stores.reads.contract(contractId))?.state).toBe('PROVED');
    await stores.bench.deposit(requesterId, TERMS.rewardMinor);
    expect(await fund()).toBe('ACCEPTED');
    expect((await stores.reads.contract(contractId))?.fundedAt).not.toBeNull();
  });
});

describe('a command', () => {
  it('BUG-61 refuses the same draft of the same requester, until that one has ended', async () => {
    const requesterId = await stores.bench.addPrincipal();
    const draft = toDraft('again', { ...TERMS, requesterId }, await stores.now());
    const post = () => stores.commands.createContract(callOf(requesterId), draft, toIdAnswer);
    const { body } = await post();
    const { id } = JSON.parse(body);
    await expect(post()).rejects.toMatchObject({
      code: 'DB_CONTRACT_DUPLICATE',
      message: expect.stringContaining(id),
      details: { contractId: id },
    });
    await stores.cases.execute(id, { kind: 'cancel' });
    expect(await codeOf(post())).toBe('ACCEPTED');
  });

  // Keeps R-PROVED-FIRST.
  it('edits what is proved: a draft again, with nothing left of what was found, and one draft once', async () => {
    const requesterId = await stores.bench.addPrincipal();
    await stores.bench.deposit(requesterId, TERMS.rewardMinor);
    const contractId = await stores.bench.seedContract({ ...TERMS, requesterId });
    const other = await stores.bench.seedContract({ ...TERMS, requesterId });
    await stores.cases.execute(contractId, { kind: 'prove' });
    const terms = { ...TERMS, requesterId, rewardMinor: 500n, closesInMs: 2 * TERMS.closesInMs };
    const draft = toDraft('edited', terms, await stores.now());
    const revise = (to = draft) =>
      stores.commands.reviseContract(
        callOf(requesterId),
        { contractId, draft: to },
        ({ state }) => ({ status: 200, body: state }),
      );
    expect((await revise()).body).toBe('DRAFT');
    expect(await stores.reads.contract(contractId)).toMatchObject({
      document: draft.document,
      digest: draft.digest,
      rewardMinor: 500n,
      closesAt: draft.closesAt,
      approvalState: 'NONE',
      baseBlob: null,
      provingBlob: null,
      findings: [],
    });
    expect((await stores.bench.readCase(contractId)).contract.rewardMinor).toBe(500n);
    const fund = () => stores.cases.execute(contractId, { kind: 'fund' });
    expect((await fund()).kind).toBe('refused');
    expect(await codeOf(revise())).toBe('ACCEPTED');
    const posted = toDraft(other, { ...TERMS, requesterId }, await stores.now());
    expect(await codeOf(revise(posted))).toBe('DB_CONTRACT_DUPLICATE');
    const opened = await stores.openContract();
    await expect(
      stores.commands.reviseContract(
        callOf(opened.requesterId),
        { contractId: opened.contractId, draft: toDraft('late', terms, await stores.now()) },
        () => ANSWER,
      ),
    ).rejects.toMatchObject({ code: 'SETTLEMENT_CONTRACT_STATE_REFUSED' });
  });

  it('BUG-61 of many posts of one draft at once takes one', async () => {
    const requesterId = await stores.bench.addPrincipal();
    const draft = toDraft('at once', { ...TERMS, requesterId }, await stores.now());
    const post = () => stores.commands.createContract(callOf(requesterId), draft, toIdAnswer);
    const codes = await Promise.all(Array.from({ length: 5 }, () => codeOf(post())));
    expect(codes.toSorted()).toEqual(['ACCEPTED', ...Array(4).fill('DB_CONTRACT_DUPLICATE')]);
  });

  it('S08 an operator who types too many digits is told so, and moves nothing', async () => {
    const principalId = await stores.bench.addPrincipal();
    const deposit = (amountMinor: bigint, reference: string) =>
      codeOf(
        stores.commands.deposit(
          callOf(principalId),
          { principalId, amountMinor, currency: 'JPY', reference },
          () => ANSWER,
        ),
      );
    expect(await deposit(AMOUNT_MINOR_MAX, 'digits-1')).toBe('ACCEPTED');
    expect(await deposit(1n, 'digits-2')).toBe('SETTLEMENT_LEDGER_FULL');
    expect((await stores.reads.balances(principalId)).get('JPY')).toBe(AMOUNT_MINOR_MAX);
    expect((await stores.reads.checkLedger()).problem).toBeNull();
  });

  it('counts one outside payment once, under whatever key, and refuses its reference for another', async () => {
    const principalId = await stores.bench.addPrincipal();
    const deposit = (amountMinor: bigint, key: string) =>
      codeOf(
        stores.commands.deposit(
          callOf(principalId, key),
          { principalId, amountMinor, currency: 'USD', reference: 'bank-1' },
          () => ANSWER,
        ),
      );
    expect(await deposit(70n, 'a')).toBe('ACCEPTED');
    expect(await deposit(70n, 'b')).toBe('ACCEPTED');
    expect(await deposit(71n, 'c')).toBe('SETTLEMENT_TRANSFER_CONFLICT');
    expect(await stores.reads.balances(principalId)).toEqual(new Map([['USD', 70n]]));
    const accounts = await stores.reads.trialBalance();
    const own = accounts.filter(({ account }) => account === available(principalId, 'USD'));
    expect(own.map(({ balanceMinor }) => balanceMinor)).toEqual([70n]);
  });

  it('makes a principal with its key, and no second one of that name or key', async () => {
    const callerId = await stores.bench.addPrincipal();
    const create = (name: string, digit: string) =>
      codeOf(
        stores.commands.createPrincipal(
          callOf(callerId),
          { name, roles: ['solver'], keyHash: digit.repeat(64) },
          () => ANSWER,
        ),
      );
    expect(await create('ann', '1')).toBe('ACCEPTED');
    expect(await create('ann', '2')).toBe('DB_PRINCIPAL_DUPLICATE');
    expect(await create('bob', '1')).toBe('DB_PRINCIPAL_DUPLICATE');
    const ann = await stores.reads.principalByKey('1'.repeat(64));
    expect([ann?.name, ann?.roles]).toEqual(['ann', ['solver']]);
    expect(await stores.reads.principalByKey('2'.repeat(64))).toBeNull();
  });

  it('remembers who brought a principal in, who must be somebody', async () => {
    const callerId = await stores.bench.addPrincipal();
    const create = (name: string, invitedById: string) =>
      codeOf(
        stores.commands.createPrincipal(
          callOf(callerId),
          { name, roles: ['arbiter'], keyHash: name.repeat(32), invitedById },
          () => ANSWER,
        ),
      );
    expect(await create('f1', 'prn_nobody')).toBe('DB_PRINCIPAL_UNKNOWN');
    expect(await create('f2', callerId)).toBe('ACCEPTED');
    const invited = await stores.reads.principalByKey('f2'.repeat(32));
    expect(invited?.invitedById).toBe(callerId);
  });

  it('keeps a package for each of its owners, and its bytes once', async () => {
    const bytes = Buffer.from('a hidden package');
    const sha256 = (await stores.work.saveBlob(fromArray([bytes]), { bytesMax: 100 })).sha256;
    const [one, two, other] = await Promise.all(
      Array.from({ length: 3 }, () => stores.bench.addPrincipal()),
    );
    for (const ownerId of [one, two, one]) {
      const input = { sha256, sizeBytes: BigInt(bytes.length), entryCount: 3 };
      await stores.commands.savePackage(callOf(ownerId ?? ''), input, () => ANSWER);
    }
    const found = { sha256, sizeBytes: BigInt(bytes.length), entryCount: 3 };
    expect(await stores.reads.packageOf(sha256, one ?? '')).toMatchObject(found);
    expect(await stores.reads.packageOf(sha256, two ?? '')).toMatchObject(found);
    expect(await stores.reads.packageOf(sha256, other ?? '')).toBeNull();
    const ownersIn = async (ownerId: string | null, after: string | null) => {
      const { items, next } = await stores.reads.listPackages(ownerId, { limit: 1, after });
      return { owners: items.map((each) => each.ownerId), next };
    };
    expect(await ownersIn(one ?? '', null)).toEqual({ owners: [one], next: null });
    expect(await ownersIn(other ?? '', null)).toEqual({ owners: [], next: null });
    const first = await ownersIn(null, null);
    const second = await ownersIn(null, first.next);
    expect([...first.owners, ...second.owners].toSorted()).toEqual([one, two].toSorted());
    expect(second.next).toBeNull();
    await expect(ownersIn(null, '1')).rejects.toMatchObject({ code: 'DB_CURSOR_INVALID' });
    expect(await countOf('blobs', 'sha256', sha256)).toBe(1);
  });
});

async function passRun(contractId: string, runId: string): Promise<void> {
  const attempt = (await stores.work.startRun(runId, 'wrk_1')) ?? 0;
  const resultDigest = `sha256:${'0'.repeat(64)}`;
  const verdict = { verdict: 'PASS' as const, reason: null, resultDigest };
  await stores.cases.execute(contractId, { kind: 'seal', runId, attempt, verdict });
}

async function* fromArray(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
