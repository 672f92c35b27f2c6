import { sha256Hex } from '@kervyxa/core';
import {
  parsePublicKeys,
  readBundle,
  verifyEnvelope,
  type PublicKeys,
  type ReadOptions,
} from '@kervyxa/evidence';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { SECRET } from '../testing/sample-contract.ts';
import { VERIFIER } from '../testing/sign-run.ts';
import { createWorld, type Begun, type Person, type World } from '../testing/world.ts';

/** More than any buffer on its way holds. */
const LARGE = 'x'.repeat(30_000_000);

let world: World;
let contractId: string;
let failed: Begun;
let passed: Begun;
let keys: PublicKeys;
beforeAll(async () => {
  world = await createWorld();
  contractId = await world.openContract();
  failed = await world.decide(contractId, 'FAIL', world.people.otherSolver);
  passed = await world.begin(contractId, world.people.solver, LARGE);
  await world.seal(passed, 'PASS');
  keys = parsePublicKeys((await world.ask(null, 'GET', '/.well-known/kervyxa-keys.json')).text);
});
afterAll(() => world.close());

const PARTS = ['evaluation', 'attestation', 'evidence'] as const;

async function statusesOf(who: Person, { runId }: Begun): Promise<number[]> {
  const answers = [];
  for (const part of PARTS) {
    answers.push(await world.app.inject({ url: `/v1/runs/${runId}/${part}`, headers: as(who) }));
  }
  return answers.map(({ statusCode }) => statusCode);
}

function as({ key }: Person) {
  return { authorization: `Bearer ${key}` };
}

async function bundleOf(who: Person, { runId }: Begun, options: Partial<ReadOptions> = {}) {
  const answer = await world.app.inject({ url: `/v1/runs/${runId}/evidence`, headers: as(who) });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers).toMatchObject({
    'content-type': 'application/x-tar',
    'content-disposition': `attachment; filename="${runId}.evidence.tar"`,
  });
  const bytes = answer.rawPayload;
  const stream = async function* () {
    yield bytes;
  };
  return { bytes, bundle: await readBundle(stream(), { keys, ...options }) };
}

// Keeps R-EVIDENCE-SIGHT.
describe('the evidence of a run', () => {
  it('is for those who see the run, and names the commit to nobody who must not know it', async () => {
    const { people } = world;
    const { requester, operator, arbiter, solver, otherSolver, challenger } = people;
    // The requester knows what the run came to, but not yet of which commit.
    expect(await statusesOf(requester, failed)).toEqual([200, 404, 404]);
    for (const who of [operator, arbiter, otherSolver]) {
      expect(await statusesOf(who, failed)).toEqual([200, 200, 200]);
    }
    for (const who of [solver, challenger]) {
      expect(await statusesOf(who, failed)).toEqual([404, 404, 404]);
    }
    for (const who of [requester, solver, challenger]) {
      expect(await statusesOf(who, passed)).toEqual([200, 200, 200]);
    }
  });

  it('of which there is none yet, or that is nobody’s, is not found', async () => {
    const other = await world.openContract();
    const begun = await world.begin(other);
    const nobody = { ...begun, runId: `run_${'0'.repeat(26)}` };
    for (const each of [begun, nobody]) {
      expect(await statusesOf(world.people.operator, each)).toEqual([404, 404, 404]);
    }
  });

  it.each(['evaluation', 'attestation'] as const)(
    'S18 reads a hidden answer off the %s: solvers get another one than those who see it',
    async (part) => {
      const url = `/v1/runs/${passed.runId}/${part}`;
      const full = await world.ask(world.people.requester, 'GET', url);
      const open = await world.ask(world.people.solver, 'GET', url);
      expect(open.text).not.toBe(full.text);
      const digest = (await world.database.reads.contract(contractId))?.digest;
      const told = part === 'evaluation' ? open.text : decoded(open.text);
      expect(told).not.toContain(digest?.slice('sha256:'.length));
    },
  );

  it('comes as a bundle that anybody can verify with the listed keys, and that holds no secret for a solver', async () => {
    const full = await bundleOf(world.people.requester, passed);
    const open = await bundleOf(world.people.solver, passed);
    expect([full.bundle.view, open.bundle.view]).toEqual(['full', 'public']);
    expect(open.bundle.blobs.map(({ path, size }) => [path, size])).toEqual([
      ['base.bundle', 4],
      ['source.bundle', LARGE.length],
    ]);
    expect(full.bytes.includes(SECRET)).toBe(true);
    expect(open.bytes.includes(SECRET)).toBe(false);
    const run = await world.database.reads.run(passed.runId);
    for (const { bundle } of [full, open]) {
      expect(bundle.statement.predicate).toMatchObject({
        verificationResult: 'PASSED',
        timeVerified: run?.finishedAt?.toISOString(),
        verifier: { id: VERIFIER },
      });
    }
  });

  it('names the document that its reader sees as its policy', async () => {
    const url = `/v1/contracts/${contractId}/document`;
    for (const who of [world.people.requester, world.people.challenger]) {
      const document = await world.ask(who, 'GET', url);
      const { bundle } = await bundleOf(who, passed);
      expect(bundle.policyDigest).toBe(`sha256:${sha256Hex(document.text)}`);
    }
  });

  it.each([
    ['subject', { subject: 'a'.repeat(40) }, 'EVIDENCE_SUBJECT_MISMATCH'],
    ['contract', { policyDigest: `sha256:${'a'.repeat(64)}` }, 'EVIDENCE_POLICY_MISMATCH'],
    ['verifier', { verifierId: 'https://other.example.org' }, 'EVIDENCE_VERIFIER_MISMATCH'],
  ])(
    'is refused as that of another %s, though its signature is good',
    async (_, expected, code) => {
      const url = `/v1/runs/${passed.runId}/attestation`;
      const { text } = await world.ask(world.people.solver, 'GET', url);
      const right = { subject: passed.commit, verifierId: VERIFIER };
      expect(verifyEnvelope(Buffer.from(text), keys, right).key.keyid).toBe(keys[0]?.keyid);
      expect(() => verifyEnvelope(Buffer.from(text), keys, expected)).toThrow(
        expect.objectContaining({ code }),
      );
    },
  );

  it('is sent one at a time to each reader, and the place is free again when the reader goes away', async () => {
    const origin = await world.app.listen({ host: '127.0.0.1', port: 0 });
    const url = `${origin}/v1/runs/${passed.runId}/evidence`;
    const leaving = new AbortController();
    const first = await fetch(url, {
      headers: as(world.people.solver),
      signal: leaving.signal,
    });
    const reader = first.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    const second = await fetch(url, { headers: as(world.people.solver) });
    expect(await second.json()).toMatchObject({ status: 503, code: 'API_BUSY' });
    // Somebody else’s place is another one.
    const others = await fetch(url, { headers: as(world.people.requester) });
    expect(others.status).toBe(200);
    await others.body?.cancel();
    leaving.abort();
    await vi.waitFor(async () => {
      const again = await fetch(url, { headers: as(world.people.solver) });
      expect(again.status).toBe(200);
      await again.body?.cancel();
    });
  });
});

function decoded(envelope: string): string {
  const { payload } = JSON.parse(envelope) as { payload: string };
  return Buffer.from(payload, 'base64').toString();
}

describe('the keys of the workers', () => {
  it('are for anybody, may be kept for a while, and have no private half', async () => {
    const answer = await world.ask(null, 'GET', '/.well-known/kervyxa-keys.json');
    expect(answer.headers['cache-control']).toBe('public, max-age=300');
    expect(answer.text).not.toMatch(/"d"|PRIVATE/);
    expect(keys).toMatchObject([{ retiredAt: null, createdAt: expect.any(Date) }]);
  });
});

describe('the audit log', () => {
  it('is the operator’s to read, to walk and to keep the head of', async () => {
    const { operator, requester } = world.people;
    const all = await world.ask(operator, 'GET', '/v1/audit?limit=200');
    const kinds = all.items.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'contract_proved')).toHaveLength(2);
    expect(kinds.filter((kind) => kind === 'verdict_sealed')).toHaveLength(2);
    const last = all.items.at(-1);
    expect(all.fields['head']).toEqual({ seq: last?.['seq'], hash: last?.['hash'] });
    const page = await world.ask(operator, 'GET', '/v1/audit?limit=1&after=2');
    expect(page.items).toEqual([all.items[2]]);
    expect((await world.ask(operator, 'GET', '/v1/audit/check')).fields).toEqual({
      entryCount: last?.['seq'],
      problem: null,
    });
    for (const url of ['/v1/audit', '/v1/audit/check']) {
      expect((await world.ask(requester, 'GET', url)).status).toBe(403);
    }
  });

  it('says in each attestation how far it was: the entry before that of the run', async () => {
    const { text } = await world.ask(
      world.people.solver,
      'GET',
      `/v1/runs/${passed.runId}/attestation`,
    );
    const { items } = await world.ask(world.people.operator, 'GET', '/v1/audit?limit=200');
    const entry = items.find(({ subject }) => subject === passed.runId);
    expect(decoded(text)).toContain(`"audit":{"head":"${entry?.['prevHash']}","seq":`);
    expect(entry?.['facts']).toMatchObject({ publicAttestation: `sha256:${sha256Hex(text)}` });
  });
});
