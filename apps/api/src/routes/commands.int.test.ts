import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleContract } from '../testing/sample-contract.ts';
import { createWorld, type Cast, type World } from '../testing/world.ts';

let world: World;

beforeAll(async () => {
  world = await createWorld();
});

afterAll(async () => world.close());

const EVERYBODY = [
  'operator',
  'requester',
  'otherRequester',
  'solver',
  'challenger',
  'arbiter',
] as const satisfies readonly (keyof Cast)[];

/** Status or code of a POST for each person, in the order of EVERYBODY; the one who may comes last of all. */
async function outcomes(
  url: string,
  body: unknown,
  may: keyof Cast,
  method: 'POST' | 'PUT' = 'POST',
): Promise<Record<string, string | number>> {
  const found: Record<string, string | number> = {};
  const nobody = await world.ask(null, method, url, body);
  found.nobody = nobody.code ?? nobody.status;
  for (const name of [...EVERYBODY.filter((each) => each !== may), may]) {
    const { code, status } = await world.ask(world.people[name], method, url, body);
    found[name] = code ?? status;
  }
  return found;
}

const NO_KEY = { nobody: 'API_KEY_MISSING' };
/** Everybody without the role is told so before anything is looked up. */
function onlyRole(role: keyof Cast, outcome: string | number) {
  const others = EVERYBODY.filter((name) => name !== role);
  return {
    ...NO_KEY,
    ...Object.fromEntries(others.map((name) => [name, 'API_ROLE_MISSING'])),
    [role]: outcome,
  };
}

const UNKNOWN = '0'.repeat(26);
const COMMIT = { repositoryUrl: 'https://git.example.org/a.git', commit: '1'.repeat(40) };

function checkerOf(checker: { readonly sha256: string } | null) {
  return {
    id: 'checked',
    title: 'The checker is content',
    type: 'checker',
    visibility: 'hidden',
    checker,
    stage: 'structure',
    artifacts: [{ role: 'module', path: 'parseNumbers.js' }],
    timeoutSeconds: 60,
  };
}

describe('S18 commands of others', () => {
  it('posts a contract: any requester', async () => {
    const contract = sampleContract({ title: 'Posted by each' });
    expect(await outcomes('/v1/contracts', contract, 'requester')).toEqual({
      ...onlyRole('requester', 201),
      otherRequester: 201,
    });
  });

  it('approves a draft: its requester, and for others there is none', async () => {
    const { id } = await post('requester', '/v1/contracts', sampleContract({ title: 'Approved' }));
    expect(await outcomes(`/v1/contracts/${id}/approve`, {}, 'requester')).toEqual({
      ...onlyRole('requester', 202),
      otherRequester: 'API_NOT_FOUND',
    });
  });

  it('funds what is not approved: refused, and others can not even see it', async () => {
    const { id } = await post('requester', '/v1/contracts', sampleContract({ title: 'Funded' }));
    expect(await outcomes(`/v1/contracts/${id}/fund`, {}, 'requester')).toEqual({
      ...onlyRole('requester', 'SETTLEMENT_CONTRACT_STATE_REFUSED'),
      otherRequester: 'API_NOT_FOUND',
    });
  });

  it('edits a contract that is proved: its requester, and for others there is none', async () => {
    const id = await world.provedContract(world.people.requester);
    const edited = sampleContract({ title: 'Edited by its requester' });
    expect(await outcomes(`/v1/contracts/${id}`, edited, 'requester', 'PUT')).toEqual({
      ...onlyRole('requester', 200),
      otherRequester: 'API_NOT_FOUND',
    });
  });

  // Keeps R-PROVED-FIRST.
  it('edits a contract between its proof and its money: a draft again, which can’t be funded', async () => {
    const { requester } = world.people;
    const id = await world.provedContract(requester);
    await world.pay(requester, 50_000n);
    const url = `/v1/contracts/${id}`;
    expect((await world.ask(requester, 'GET', `${url}/proving`)).status).toBe(200);
    const edited = sampleContract({ title: 'Edited', objective: 'Whatever comes in, etc.' });
    const answer = await world.ask(requester, 'PUT', url, edited);
    expect(answer).toMatchObject({
      status: 200,
      fields: { id, state: 'DRAFT', title: 'Edited', approval: { state: 'NONE' } },
    });
    expect(JSON.stringify(answer.fields.approval)).toContain('OPEN_ENDED_OBJECTIVE');
    expect((await world.ask(requester, 'GET', `${url}/proving`)).code).toBe('API_NOT_FOUND');
    expect((await world.ask(requester, 'POST', `${url}/fund`)).code).toBe(
      'SETTLEMENT_CONTRACT_STATE_REFUSED',
    );
    const seen = await world.ask(requester, 'GET', `${url}/document`);
    expect(seen.fields.objective).toBe('Whatever comes in, etc.');
  });

  it('edits a contract under money, or into one that is posted already: refused', async () => {
    const { requester } = world.people;
    const edited = sampleContract({ title: 'Edited too late' });
    const open = await world.openContract();
    expect((await world.ask(requester, 'PUT', `/v1/contracts/${open}`, edited)).code).toBe(
      'SETTLEMENT_CONTRACT_STATE_REFUSED',
    );
    const posted = sampleContract({ title: 'Posted before' });
    await post('requester', '/v1/contracts', posted);
    const { id } = await post('requester', '/v1/contracts', sampleContract({ title: 'Other' }));
    const url = `/v1/contracts/${id}`;
    expect((await world.ask(requester, 'PUT', url, posted)).code).toBe('DB_CONTRACT_DUPLICATE');
    expect((await world.ask(requester, 'PUT', url, { ...posted, kind: 'x' })).code).toBe(
      'API_CONTRACT_REFUSED',
    );
  });

  it('edits with one Idempotency-Key twice: one edit, one answer', async () => {
    const { requester } = world.people;
    const id = await world.provedContract(requester);
    const headers = { 'idempotency-key': 'edit' };
    const edited = sampleContract({ title: 'Edited once' });
    const put = () => world.ask(requester, 'PUT', `/v1/contracts/${id}`, edited, headers);
    const [first, second] = [await put(), await put()];
    expect(second.text).toBe(first.text);
    expect(second.headers['idempotency-replayed']).toBe('true');
  });

  it('S18 names a package, bundle or checker of somebody else in a contract: there is none', async () => {
    const theirs = 'b'.repeat(64);
    const { id } = await post('requester', '/v1/contracts', sampleContract({ title: 'Naming' }));
    for (const named of [
      { verifierPackage: { sha256: theirs } },
      { environment: { ...sampleContract().environment, dependencies: { sha256: theirs } } },
      { criteria: [...sampleContract().criteria, checkerOf({ sha256: theirs })] },
      // The command line takes a digest from a folder; here there is none to take it from.
      { criteria: [...sampleContract().criteria, checkerOf(null)] },
    ]) {
      const contract = sampleContract({ title: 'Naming another', ...named });
      const posted = await post('requester', '/v1/contracts', contract);
      expect(posted.code).toBe('API_PACKAGE_UNKNOWN');
      const edited = await world.ask(
        world.people.requester,
        'PUT',
        `/v1/contracts/${id}`,
        contract,
      );
      expect(edited.code).toBe('API_PACKAGE_UNKNOWN');
    }
  });

  it('cancels an open contract: its requester; another one sees it and may not', async () => {
    const id = await world.openContract();
    expect(await outcomes(`/v1/contracts/${id}/cancel`, {}, 'requester')).toEqual({
      ...onlyRole('requester', 200),
      otherRequester: 'API_NOT_OWNER',
    });
  });

  it('submits a commit: any solver', async () => {
    const id = await world.openContract();
    expect(await outcomes(`/v1/contracts/${id}/submissions`, COMMIT, 'solver')).toEqual(
      onlyRole('solver', 201),
    );
  });

  it('submits to what was cancelled, is a draft or does not exist', async () => {
    const cancelled = await world.openContract();
    await post('requester', `/v1/contracts/${cancelled}/cancel`);
    const draft = await post('requester', '/v1/contracts', sampleContract({ title: 'Draft' }));
    const codes = [];
    for (const id of [cancelled, draft.id, `con_${UNKNOWN}`]) {
      codes.push((await post('solver', `/v1/contracts/${id}/submissions`, COMMIT)).code);
    }
    expect(codes).toEqual(['SETTLEMENT_CONTRACT_STATE_REFUSED', 'API_NOT_FOUND', 'API_NOT_FOUND']);
  });

  it('submits the same commit twice: the second is told which is there', async () => {
    const id = await world.openContract();
    const first = await post('solver', `/v1/contracts/${id}/submissions`, COMMIT);
    const second = await post('solver', `/v1/contracts/${id}/submissions`, COMMIT);
    expect(second).toMatchObject({ status: 409, code: 'DB_SUBMISSION_DUPLICATE' });
    expect(second.fields.details).toEqual({ submissionId: first.id });
  });

  it('has a submission tried again: the operator, where there is something to try', async () => {
    const id = await world.openContract();
    const { submissionId } = await world.decide(id, 'FAIL');
    expect(await outcomes(`/v1/submissions/${submissionId}/retry`, {}, 'operator')).toEqual(
      onlyRole('operator', 'SETTLEMENT_RETRY_REFUSED'),
    );
    const unknown = await post('operator', `/v1/submissions/sub_${UNKNOWN}/retry`);
    expect(unknown.code).toBe('API_NOT_FOUND');
  });

  it('challenges a pass: who has the role, and not the solver; to uphold, anybody', async () => {
    const id = await world.openContract();
    const { submissionId } = await world.decide(id, 'PASS');
    const url = `/v1/submissions/${submissionId}/challenges`;
    await world.pay(world.people.challenger, 5_000n);
    const overturn = { kind: 'OVERTURN_PASS', evidence: 'It prints what is expected.' };
    expect(await outcomes(url, overturn, 'challenger')).toEqual(onlyRole('challenger', 201));
    const uphold = { kind: 'UPHOLD_PASS', evidence: 'It does not.' };
    expect((await post('solver', url, uphold)).status).toBe(201);
    expect((await post('requester', url, uphold)).status).toBe(201);
    const unknown = `/v1/submissions/sub_${UNKNOWN}/challenges`;
    expect((await post('challenger', unknown, overturn)).code).toBe('API_NOT_FOUND');
  });

  it('challenges the own pass: refused', async () => {
    const id = await world.openContract();
    const { submissionId } = await world.decide(id, 'PASS', world.people.twoHats);
    await world.pay(world.people.twoHats, 5_000n);
    const own = await post('twoHats', `/v1/submissions/${submissionId}/challenges`, {
      kind: 'OVERTURN_PASS',
      evidence: 'So that nobody else can.',
    });
    expect(own.code).toBe('SETTLEMENT_OWN_SUBMISSION');
  });

  it('decides a challenge: an arbiter, once the solver has answered', async () => {
    const id = await world.openContract();
    const { submissionId } = await world.decide(id, 'PASS');
    await world.pay(world.people.challenger, 5_000n);
    const url = `/v1/submissions/${submissionId}/challenges`;
    const challenge = await post('challenger', url, {
      kind: 'OVERTURN_PASS',
      evidence: 'It prints what is expected.',
    });
    const decision = { decision: 'UPHOLD_PASS', statement: 'It computes it.' };
    const early = await post('arbiter', `/v1/challenges/${challenge.id}/resolve`, decision);
    expect(early.code).toBe('SETTLEMENT_RESPONSE_RUNNING');
    await post('solver', url, { kind: 'UPHOLD_PASS', evidence: 'See line 3.' });
    const hats = await post('twoHats', `/v1/challenges/${challenge.id}/resolve`, decision);
    expect(hats).toMatchObject({ status: 403, code: 'API_ARBITER_NOT_APART' });
    expect(await outcomes(`/v1/challenges/${challenge.id}/resolve`, decision, 'arbiter')).toEqual(
      onlyRole('arbiter', 200),
    );
    const seen = await world.ask(world.people.solver, 'GET', `/v1/challenges/${challenge.id}`);
    expect(seen.fields).toMatchObject({
      state: 'UPHELD',
      resolutions: [{ decision: 'UPHOLD_PASS', statement: 'It computes it.' }],
    });
    const unknown = await post('arbiter', `/v1/challenges/chl_${UNKNOWN}/resolve`, decision);
    expect(unknown.code).toBe('API_NOT_FOUND');
  });

  it('books a deposit: the operator', async () => {
    const deposit = {
      principalId: world.people.solver.id,
      amountMinor: '1',
      currency: 'USD',
      reference: 'bank-1',
    };
    expect(await outcomes('/v1/deposits', deposit, 'operator')).toEqual(onlyRole('operator', 201));
    const stranger = { ...deposit, principalId: `prn_${UNKNOWN}`, reference: 'bank-2' };
    expect((await post('operator', '/v1/deposits', stranger)).code).toBe('API_NOT_FOUND');
  });

  it('makes a principal: the operator; the key works, and is in no later answer', async () => {
    const body = { name: 'newcomer', roles: ['solver'] };
    expect(await outcomes('/v1/principals', body, 'operator')).toEqual(onlyRole('operator', 201));
    const again = await post('operator', '/v1/principals', body);
    expect(again.code).toBe('DB_PRINCIPAL_DUPLICATE');
    const next = await post('operator', '/v1/principals', { name: 'next', roles: ['solver'] });
    const me = await world.ask({ id: next.id, key: String(next.fields.apiKey) }, 'GET', '/v1/me');
    expect(me.fields).toMatchObject({ id: next.id, name: 'next', roles: ['solver'] });
    expect(me.text).not.toContain('kvx_');
  });

  it('has a payout tried again: the operator, where one is held', async () => {
    expect(await outcomes(`/v1/payouts/pay_${UNKNOWN}/retry`, {}, 'operator')).toEqual(
      onlyRole('operator', 'DB_PAYOUT_NOT_HELD'),
    );
  });
});

describe('S18 money of others', () => {
  it('shows each the own balances and transfers, and all of them to the operator', async () => {
    await world.pay(world.people.challenger, 777n);
    const seen: Record<string, unknown> = {};
    for (const name of ['operator', 'challenger', 'otherRequester'] as const) {
      const { text } = await world.ask(world.people[name], 'GET', '/v1/ledger/transfers?limit=200');
      seen[name] = text.includes('"777"');
    }
    expect(seen).toEqual({ operator: true, challenger: true, otherRequester: false });
    const mine = await world.ask(world.people.otherRequester, 'GET', '/v1/accounts/me');
    expect(mine.fields).toEqual({ principalId: world.people.otherRequester.id, balances: [] });
  });

  it('adds up to zero, and tells so to the operator only', async () => {
    const check = await world.ask(world.people.operator, 'GET', '/v1/ledger/check');
    expect(check.fields).toMatchObject({
      problem: null,
      sums: [{ currency: 'USD', balanceMinor: '0' }],
    });
    const asked = await world.ask(world.people.arbiter, 'GET', '/v1/ledger/check');
    expect(asked).toMatchObject({ status: 403, code: 'API_ROLE_MISSING' });
  });

  it('BUG-62 funds without money: refused, and nothing is listed to others or can be claimed', async () => {
    const before = await world.ask(world.people.solver, 'GET', '/v1/contracts?limit=200');
    const id = await world.provedContract(world.people.otherRequester);
    const funded = await post('otherRequester', `/v1/contracts/${id}/fund`);
    expect(funded.code).toBe('SETTLEMENT_FUNDS_INSUFFICIENT');
    const after = await world.ask(world.people.solver, 'GET', '/v1/contracts?limit=200');
    expect(after.items.length).toBe(before.items.length);
    expect((await world.ask(world.people.solver, 'GET', `/v1/contracts/${id}`)).status).toBe(404);
    const claimed = await post('solver', `/v1/contracts/${id}/submissions`, COMMIT);
    expect(claimed).toMatchObject({ status: 404, code: 'API_NOT_FOUND' });
  });

  it('gives a solver a claim token of the own, always the same', async () => {
    const id = await world.openContract();
    const url = `/v1/contracts/${id}/claim-token`;
    const tokens = [];
    for (const name of ['solver', 'solver', 'otherSolver'] as const) {
      tokens.push((await world.ask(world.people[name], 'GET', url)).fields.token);
    }
    expect(tokens[0]).toBe(tokens[1]);
    expect(tokens[0]).not.toBe(tokens[2]);
    expect((await world.ask(world.people.requester, 'GET', url)).code).toBe('API_ROLE_MISSING');
  });
});

function post(name: keyof Cast, url: string, body?: unknown) {
  return world.ask(world.people[name], 'POST', url, body);
}
