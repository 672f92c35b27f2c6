import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { reportBytes } from '@kervyxa/checker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ANSWER,
  createCheckerStory,
  inDays,
  LABELS,
  PROGRAM,
  SYSTEM,
  toContract,
} from '../testing/checker-story.ts';
import { createWorld, type Person, type World } from '../testing/world.ts';

const VERIFIED = {
  kind: 'verified',
  reason: 'SECRET-LABEL',
  score: null,
  evidence: { n: 1 },
} as const;
const SEALING = { sealed_until: inDays(10), submission_limit: 5 };

let world: World;
let story: ReturnType<typeof createCheckerStory>;
let contractId: string;
let implementationId: string;
beforeAll(async () => {
  world = await createWorld();
  story = createCheckerStory(world);
  const published = await story.publish();
  contractId = published.id;
  const [implementation] = published.fields['implementations'] as { id: string }[];
  implementationId = implementation?.id ?? '';
  await story.conform(implementationId);
});
afterAll(async () => world.close());

const get = (who: Person, url: string) => world.ask(who, 'GET', url);
const post = (who: Person, url: string, body?: unknown) => world.ask(who, 'POST', url, body);

/** Claims a seat and judges from it; answers the codes of refusals. */
async function judge(checkId: string, who: Person, judgment = 'accept') {
  const claimed = await post(who, `/v1/checks/${checkId}/seats`, { node: 'readers' });
  if (claimed.status !== 201) return claimed;
  return post(who, `/v1/checks/${checkId}/seats/${claimed.id}/judgment`, {
    judgment,
    statement: 'I have read it.',
  });
}

describe('a published checker', () => {
  it('is read by everybody, with its program byte for byte', async () => {
    const { people } = world;
    const found = await get(people.solver, `/v1/checkers/${contractId}`);
    expect(found.fields).toMatchObject({
      title: 'Labels of held-out rows',
      versionNumber: 1,
      document: { id: contractId, version_number: 1, yanked_at: null },
    });
    const programs = await get(people.solver, `/v1/checkers/${contractId}/implementations`);
    expect(programs.items).toMatchObject([{ state: 'CONFORMANT', isCurrent: true }]);
    const program = await get(people.solver, `/v1/implementations/${implementationId}/program`);
    expect(program.text).toBe(PROGRAM);
    const [, stage] = (found.fields['document'] as { stages: { review_protocol_id: string }[] })
      .stages;
    const protocol = await get(people.solver, `/v1/review-protocols/${stage?.review_protocol_id}`);
    expect(protocol.fields).toMatchObject({ title: 'Is it right?' });
  });

  it('is refused with every finding where it is none', async () => {
    const refused = await story.publish(toContract({ result_kind: 'score', title: '' }));
    expect(refused).toMatchObject({ status: 422, code: 'API_CHECKER_REFUSED' });
    const { details } = refused.fields as { details: { findings: { pointer: string }[] } };
    expect(details.findings.map(({ pointer }) => pointer)).toContain('/title');
  });

  it("is not published from another's folder: a digest is no right", async () => {
    const { requester, otherRequester } = world.people;
    const sha256 = await story.upload(requester, { a: 'b' });
    const stolen = await post(otherRequester, '/v1/checkers', { package: sha256, name: 'Mine' });
    expect(stolen).toMatchObject({ status: 422, code: 'API_PACKAGE_UNKNOWN' });
  });

  it('is withdrawn by its owner alone, and then for new problems only', async () => {
    const { id } = await story.publish();
    const problem = { contractId: id, title: 'Rows', statement: 'Label them.' };
    const { requester, otherRequester } = world.people;
    const kept = await post(requester, '/v1/problems', problem);
    expect(await post(otherRequester, `/v1/checkers/${id}/yank`)).toMatchObject({ status: 403 });
    expect(await post(requester, `/v1/checkers/${id}/yank`)).toMatchObject({ status: 200 });
    expect(await post(requester, '/v1/problems', problem)).toMatchObject({
      code: 'CHECKER_CONTRACT_YANKED',
    });
    expect(await get(requester, `/v1/problems/${kept.id}`)).toMatchObject({ status: 200 });
  });
});

// Keeps R-SEALED-BYTES.
describe('a sealed problem', () => {
  it('is walked through all stages by worker, judges and a system outside', async () => {
    const { people } = world;
    const problemId = await story.open(contractId, { sealing: SEALING });
    const entry = await story.submit(problemId);
    expect(entry.status).toBe(201);
    const checkId = String(entry.fields['checkId']);
    await story.run(checkId, VERIFIED);
    expect(await get(people.solver, `/v1/checks/${checkId}`)).toMatchObject({
      fields: {
        state: 'WAITING_REVIEW',
        // It read the labels: its words could tell them, and so could how long it took.
        results: [
          {
            outcome: 'verified',
            reason: null,
            message: null,
            evidence: null,
            startedAt: null,
            decidedAt: null,
          },
        ],
      },
    });
    const { items: reviews } = await get(people.arbiter, '/v1/reviews');
    expect(reviews).toContainEqual(expect.objectContaining({ checkId, node: 'readers' }));
    await judge(checkId, people.arbiter);
    const judged = await judge(checkId, people.challenger);
    expect(judged.fields).toMatchObject({ state: 'WAITING_EXTERNAL' });
    const report = { stage: 'accepted', result: 'refuted', evidence: { status: 'accepted' } };
    const done = await post(people.operator, `/v1/checks/${checkId}/reports`, report);
    expect(done.fields).toEqual({ id: checkId, state: 'VERIFIED' });
    const seen = await get(people.solver, `/v1/checks/${checkId}`);
    expect(seen.fields).toMatchObject({
      state: 'VERIFIED',
      results: [
        { message: null },
        { judgments: [{ judgeId: null, judgment: 'accept' }, { statement: 'I have read it.' }] },
        { finding: 'refuted', decidedBy: { kind: 'contract', system: SYSTEM } },
      ],
      evaluation: null,
    });
    const own = await get(people.requester, `/v1/checks/${checkId}`);
    expect(own.fields).toMatchObject({
      results: [
        { message: 'SECRET-LABEL' },
        { judgments: [{ judgeId: people.arbiter.id }, {}] },
        {},
      ],
    });
  });

  it('shows its sealed bytes, their size and digest to the owner alone, until their early release', async () => {
    const { people } = world;
    const problemId = await story.open(contractId, { sealing: SEALING });
    const url = `/v1/problems/${problemId}/inputs/labels`;
    for (const who of [people.solver, people.otherRequester, people.arbiter]) {
      expect(await get(who, url)).toMatchObject({ status: 404, code: 'API_NOT_FOUND' });
      const { fields } = await get(who, `/v1/problems/${problemId}`);
      expect(fields).toMatchObject({
        isReleased: false,
        inputs: [{}, { isBound: true, binding: null }],
      });
    }
    expect(await get(people.requester, url)).toMatchObject({ status: 200, text: LABELS });

    const release = `/v1/problems/${problemId}/release`;
    expect(await get(people.solver, release)).toMatchObject({ status: 403 });
    const prepared = await get(people.requester, release);
    const { fingerprint } = prepared.fields as { fingerprint: string };
    // Another problem comes to be sealed with the same bytes: not what was looked at.
    await story.open(contractId, { sealing: SEALING });
    expect(await post(people.requester, release, { fingerprint })).toMatchObject({
      code: 'CHECKER_FINGERPRINT_STALE',
    });
    const again = (await get(people.requester, release)).fields as { fingerprint: string };
    const released = await post(people.requester, release, { fingerprint: again.fingerprint });
    expect(released.fields).toMatchObject({ isReleased: true });
    expect(await get(people.solver, url)).toMatchObject({ status: 200, text: LABELS });
  });

  it('hands in the digest of what is sealed: nobody has bytes by knowing what they are', async () => {
    const { people } = world;
    const problemId = await story.open(contractId, { sealing: SEALING });
    const sha256 = await story.upload(people.requester, { 'reference/labels.csv': LABELS });
    const stolen = await post(people.solver, `/v1/problems/${problemId}/entries`, {
      files: { package: sha256, artifacts: [{ role: 'answer', path: 'reference/labels.csv' }] },
    });
    expect(stolen).toMatchObject({ status: 422, code: 'API_PACKAGE_UNKNOWN' });
  });

  it('is not bound to a file that is not in the folder', async () => {
    const { requester } = world.people;
    const problemId = await story.draft(contractId, { sealing: SEALING });
    const sha256 = await story.upload(requester, { a: 'b' });
    const missing = { kind: 'file', package: sha256, path: '../a' };
    expect(
      await world.ask(requester, 'PUT', `/v1/problems/${problemId}/inputs/question`, missing),
    ).toMatchObject({ status: 422, code: 'API_FILE_UNKNOWN' });
  });
});

// Keeps R-SEALED-ENTRIES.
describe('independent entries', () => {
  it('are nobody else’s to know before the cutoff: neither entry, nor artifact, nor check, nor how many', async () => {
    const { people } = world;
    const sealing = { ...SEALING, entries: 'independent', cutoff: inDays(5) };
    const problemId = await story.open(contractId, { sealing });
    await story.submit(problemId);
    const entry = await story.submit(problemId);
    const checkId = String(entry.fields['checkId']);
    const urls = [
      `/v1/entries/${entry.id}`,
      `/v1/entries/${entry.id}/artifacts/answer`,
      `/v1/checks/${checkId}`,
    ];
    for (const url of urls) {
      expect(await get(people.otherSolver, url)).toMatchObject({ status: 404 });
      expect(await get(people.solver, url)).toMatchObject({ status: 200 });
      expect(await get(people.requester, url)).toMatchObject({ status: 200 });
    }
    expect(await get(people.solver, urls[1] ?? '')).toMatchObject({ text: ANSWER });
    for (const list of ['entries', 'checks']) {
      const { fields } = await get(people.otherSolver, `/v1/problems/${problemId}/${list}?limit=1`);
      expect(fields).toEqual({ items: [], next: null });
      const own = await get(people.solver, `/v1/problems/${problemId}/${list}`);
      expect(own.items).toHaveLength(2);
    }
    const nominated = await post(people.solver, `/v1/entries/${entry.id}/nominate`);
    expect(nominated.fields).toMatchObject({ own: { entries: 2, nominated: entry.id } });
    expect(await post(people.otherSolver, `/v1/entries/${entry.id}/nominate`)).toMatchObject({
      status: 404,
    });
  });
});

describe('a problem', () => {
  it('is nobody else’s to know while it is a draft, and of the invited afterwards', async () => {
    const { people } = world;
    const id = await story.draft(contractId, { sealing: SEALING, invited: [people.solver.id] });
    const statusOf = async (who: Person) => (await get(who, `/v1/problems/${id}`)).status;
    expect(await statusOf(people.solver)).toBe(404);
    expect(await statusOf(people.operator)).toBe(200);
    await post(people.requester, `/v1/problems/${id}/open`);
    expect(await statusOf(people.solver)).toBe(200);
    expect(await statusOf(people.otherSolver)).toBe(404);
    expect((await story.submit(id, people.otherSolver)).status).toBe(404);
    const listed = async (who: Person) =>
      (await get(who, '/v1/problems')).items.map((each) => each['id']);
    expect(await listed(people.solver)).toContain(id);
    expect(await listed(people.otherSolver)).not.toContain(id);
    // Who may judge it, too.
    expect(await statusOf(people.arbiter)).toBe(200);
    expect(await listed(people.arbiter)).toContain(id);
  });

  it('is acted on by its owner, and by nobody else who sees it', async () => {
    const { people } = world;
    const id = await story.open(contractId, { sealing: SEALING });
    expect(await post(people.otherRequester, `/v1/problems/${id}/close`)).toMatchObject({
      status: 403,
      code: 'API_NOT_OWNER',
    });
    expect(await post(people.requester, `/v1/problems/${id}/close`)).toMatchObject({
      fields: { state: 'CLOSED' },
    });
    expect(await story.submit(id)).toMatchObject({ code: 'CHECKER_PROBLEM_STATE_REFUSED' });
  });

  it('takes no file of a media type that the database can not hold', async () => {
    const problemId = await story.open(contractId, { sealing: SEALING });
    const files = (mediaType: string) => ({
      package: 'a'.repeat(64),
      artifacts: [{ role: 'rows', path: 'rows.csv', mediaType }],
    });
    for (const mediaType of ['\0', '\ud800', ' ']) {
      const entry = { files: files(mediaType) };
      expect(
        await post(world.people.solver, `/v1/problems/${problemId}/entries`, entry),
      ).toMatchObject({ status: 422, code: 'API_REQUEST_INVALID' });
    }
  });

  // Keeps R-API-ONCE.
  it('takes one entry under one key, however often it is handed in', async () => {
    const { people, ask } = world;
    const id = await story.open(contractId, { sealing: SEALING });
    const sha256 = await story.upload(people.solver, { 'a.json': ANSWER });
    const body = { files: { package: sha256, artifacts: [{ role: 'answer', path: 'a.json' }] } };
    const key = { 'idempotency-key': 'once' };
    const url = `/v1/problems/${id}/entries`;
    const first = await ask(people.solver, 'POST', url, body, key);
    const second = await ask(people.solver, 'POST', url, body, key);
    expect(second.text).toBe(first.text);
    expect((await get(people.solver, url)).items).toHaveLength(1);
  });
});

// Keeps R-REVIEW-PARTIES.
describe('a review', () => {
  async function waiting(): Promise<string> {
    const problemId = await story.open(contractId, { sealing: SEALING });
    const checkId = String((await story.submit(problemId)).fields['checkId']);
    await story.run(checkId, VERIFIED);
    return checkId;
  }

  it('gives no seat to solver, owner, or whom the protocol does not call', async () => {
    const checkId = await waiting();
    const { solver, requester, otherSolver, operator } = world.people;
    const refusals = [];
    for (const who of [solver, requester, otherSolver, operator]) {
      refusals.push((await judge(checkId, who)).code);
      expect((await get(who, '/v1/reviews')).items).toEqual([]);
    }
    expect(new Set(refusals)).toEqual(new Set(['CHECKER_JUDGE_NOT_CALLED']));
    // The same person as a judge and as a participant of the problem.
    const row = await world.database.checkers.reads.check(checkId);
    await story.submit(row?.facts.problemId ?? '', world.people.twoHats);
    expect((await judge(checkId, world.people.twoHats)).code).toBe('CHECKER_JUDGE_PARTIAL');
    // A judge whom the solver brought in.
    const made = await post(operator, '/v1/principals', {
      name: 'friend',
      roles: ['arbiter'],
      invitedBy: solver.id,
    });
    const friend = { id: made.id, key: String(made.fields['apiKey']) };
    expect((await judge(checkId, friend)).code).toBe('CHECKER_JUDGE_PARTIAL');
    expect((await get(friend, '/v1/reviews')).items).toEqual([]);
  });

  it('has a seat for one, who gives it back or judges from it, and nobody else does', async () => {
    const checkId = await waiting();
    const { arbiter, challenger } = world.people;
    const seats = `/v1/checks/${checkId}/seats`;
    const { id: seatId } = await post(arbiter, seats, { node: 'readers' });
    expect(await post(arbiter, seats, { node: 'readers' })).toMatchObject({
      code: 'CHECKER_SEAT_DUPLICATE',
    });
    const word = { judgment: 'reject', statement: 'Not mine to judge.' };
    expect(await post(challenger, `${seats}/${seatId}/judgment`, word)).toMatchObject({
      status: 404,
      code: 'CHECKER_SEAT_UNKNOWN',
    });
    // Nobody sees who sits where before the end.
    expect((await get(challenger, `/v1/checks/${checkId}`)).fields).toMatchObject({
      review: { seats: [] },
    });
    const released = await post(arbiter, `${seats}/${seatId}/release`);
    expect(released.fields).toMatchObject({ review: { seats: [] } });
    const refuted = await judge(checkId, challenger, 'reject');
    expect(refuted.fields).toMatchObject({ state: 'REFUTED' });
  });
});

// Keeps R-REPORT-SIGNED.
describe('a report of a system outside', () => {
  const keys = generateKeyPairSync('ed25519');
  const publicKey = keys.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const privatePem = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

  it('counts with the signature of a registered key, until the key is retired', async () => {
    const { people } = world;
    const contract = toContract();
    const accepted = contract.stages.filter(({ key }) => key === 'accepted');
    const partner = { rule_owner: 'partner', acceptance: null, evidence_schema: null };
    const { id } = await story.publish({
      ...contract,
      reference_inputs: [],
      stages: accepted.map((stage) => ({ ...stage, ...partner })),
      conformance_fixtures: [],
    });
    const problem = await post(people.requester, '/v1/problems', {
      contractId: id,
      title: 'Deposit',
      statement: 'Have it accepted.',
    });
    await post(people.requester, `/v1/problems/${problem.id}/open`);
    const registered = await post(people.operator, '/v1/partner-keys', {
      externalSystem: SYSTEM,
      publicKey,
    });
    const fingerprint = String(registered.fields['fingerprint']);
    expect(registered.status).toBe(201);
    const checks: string[] = [];
    for (let count = 0; count < 2; count += 1)
      checks.push(String((await story.submit(problem.id)).fields['checkId']));
    const [checkId = '', other = ''] = checks;

    const report = { result: 'verified', statement: 'ord-1', evidence: null } as const;
    const bytes = reportBytes({ checkId, stage: 'accepted', system: SYSTEM, report });
    const value = sign(null, bytes, createPrivateKey(privatePem)).toString('base64');
    const signed = { ...report, stage: 'accepted', signature: { key: fingerprint, value } };
    const url = (each: string) => `/v1/checks/${each}/reports`;
    expect(await post(people.operator, url(checkId), { ...signed, signature: null })).toMatchObject(
      { code: 'CHECKER_REPORT_UNSIGNED' },
    );
    expect(await post(people.solver, url(checkId), { ...signed, signature: null })).toMatchObject({
      status: 404,
    });
    expect(await post(people.solver, url(other), signed)).toMatchObject({
      code: 'API_SIGNATURE_REFUSED',
    });
    expect(await post(people.solver, url(checkId), { ...signed, result: 'refuted' })).toMatchObject(
      { code: 'API_SIGNATURE_REFUSED' },
    );
    expect((await post(people.solver, url(checkId), signed)).fields).toEqual({
      id: checkId,
      state: 'VERIFIED',
    });
    await post(people.operator, `/v1/partner-keys/${fingerprint}/retire`);
    const late = reportBytes({ checkId: other, stage: 'accepted', system: SYSTEM, report });
    const lateValue = sign(null, late, createPrivateKey(privatePem)).toString('base64');
    expect(
      await post(people.solver, url(other), {
        ...signed,
        signature: { key: fingerprint, value: lateValue },
      }),
    ).toMatchObject({ code: 'API_SIGNATURE_REFUSED' });
  });

  it('is refused where its evidence breaks the schema of the stage', async () => {
    const { people } = world;
    const contract = toContract();
    const { id } = await story.publish({
      ...contract,
      reference_inputs: [],
      stages: contract.stages.slice(2),
      conformance_fixtures: [],
    });
    const problem = await post(people.requester, '/v1/problems', {
      contractId: id,
      title: 'Deposit',
      statement: 'Have it accepted.',
    });
    await post(people.requester, `/v1/problems/${problem.id}/open`);
    const checkId = String((await story.submit(problem.id)).fields['checkId']);
    const url = `/v1/checks/${checkId}/reports`;
    expect(await post(people.operator, url, { stage: 'accepted', evidence: {} })).toMatchObject({
      status: 422,
      code: 'CHECKER_EVIDENCE_REFUSED',
    });
    expect(
      await post(people.operator, url, { stage: 'accepted', evidence: { status: 1 } }),
    ).toMatchObject({ fields: { state: 'INCONCLUSIVE' } });
  });
});
