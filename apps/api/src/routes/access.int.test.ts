import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SECRET, sampleContract } from '../testing/sample-contract.ts';
import { createWorld, PROVING_SECRET, type Cast, type World } from '../testing/world.ts';

let world: World;
/** One of each: a draft, an invite-only contract, one whose first submission failed and second passed. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  world = await createWorld();
  const { people, ask, openContract, decide } = world;
  ids.draft = (await ask(people.requester, 'POST', '/v1/contracts', sampleContract())).id;
  ids.invite = await openContract({
    submission: {
      ...sampleContract().submission,
      policy: 'INVITE_ONLY',
      invited: [people.solver.id],
    },
  });
  const invited = await world.begin(ids.invite);
  ids.invited = invited.submissionId;
  ids.invitedRun = invited.runId;
  ids.open = await openContract();
  const failed = await decide(ids.open, 'FAIL');
  const passed = await decide(ids.open, 'PASS', people.otherSolver);
  ids.failed = failed.submissionId;
  ids.failedRun = failed.runId;
  ids.failedCommit = failed.commit;
  ids.passed = passed.submissionId;
  ids.passedRun = passed.runId;
  ids.passedCommit = passed.commit;
  await world.pay(people.challenger, 5_000n);
  const challenge = await ask(
    people.challenger,
    'POST',
    `/v1/submissions/${ids.passed}/challenges`,
    {
      kind: 'OVERTURN_PASS',
      evidence: 'EVIDENCE it copies the expected output',
    },
  );
  ids.challenge = challenge.id;
});

afterAll(async () => world.close());

const EVERYBODY = [
  'operator',
  'requester',
  'otherRequester',
  'solver',
  'otherSolver',
  'challenger',
  'arbiter',
  'twoHats',
] as const satisfies readonly (keyof Cast)[];

/** The status of a GET for each person, in the order of EVERYBODY. */
async function statuses(url: string): Promise<number[]> {
  const found = [];
  for (const name of EVERYBODY) {
    found.push((await world.ask(world.people[name], 'GET', url)).status);
  }
  return found;
}

// operator, requester, other requester, solver, other solver, challenger, arbiter, arbiter who also solves
const ALL = [200, 200, 200, 200, 200, 200, 200, 200];
const NOBODY = Array<number>(8).fill(404);
const OWNERS = [200, 200, 404, 404, 404, 404, 404, 404];
const INVITED = [200, 200, 404, 200, 404, 404, 200, 404];
const PARTIES = [200, 200, 404, 200, 404, 404, 200, 404];
const HIDDEN = [200, 200, 404, 404, 404, 404, 200, 404];

// Keeps R-API-SIGHT.
describe('asks for somebody else’s things by their id', () => {
  it.each([
    ['a draft', () => `/v1/contracts/${ids.draft}`, OWNERS],
    ['the document of a draft', () => `/v1/contracts/${ids.draft}/document`, OWNERS],
    ['the proving report of a contract', () => `/v1/contracts/${ids.open}/proving`, OWNERS],
    ['the proving report of a draft', () => `/v1/contracts/${ids.draft}/proving`, NOBODY],
    ['the submissions of a draft', () => `/v1/contracts/${ids.draft}/submissions`, OWNERS],
    ['an invite-only contract', () => `/v1/contracts/${ids.invite}`, INVITED],
    ['its document', () => `/v1/contracts/${ids.invite}/document`, INVITED],
    ['its submissions', () => `/v1/contracts/${ids.invite}/submissions`, INVITED],
    ['an open contract', () => `/v1/contracts/${ids.open}`, ALL],
    ['a submission that failed', () => `/v1/submissions/${ids.failed}`, ALL],
    ['its run', () => `/v1/runs/${ids.failedRun}`, PARTIES],
    ['its public log', () => `/v1/runs/${ids.failedRun}/logs/tests-pass`, PARTIES],
    ['its hidden log', () => `/v1/runs/${ids.failedRun}/logs/unchanged`, HIDDEN],
    ['a run that passed', () => `/v1/runs/${ids.passedRun}`, ALL],
    ['its public log', () => `/v1/runs/${ids.passedRun}/logs/tests-pass`, ALL],
    ['its hidden log', () => `/v1/runs/${ids.passedRun}/logs/unchanged`, HIDDEN],
    ['a challenge', () => `/v1/challenges/${ids.challenge}`, ALL],
    ['the challenges of a submission', () => `/v1/submissions/${ids.passed}/challenges`, ALL],
    ['what nobody has', () => `/v1/runs/run_${'0'.repeat(26)}`, Array(8).fill(404)],
  ])('S18 asks by its id for %s', async (_what, url, expected) => {
    expect(await statuses(url())).toEqual(expected);
    expect((await world.ask(null, 'GET', url())).code).toBe('API_KEY_MISSING');
  });

  it('M22 prints sequences, markup and turned text: a file to keep, which no browser takes for a page', async () => {
    const url = `/v1/runs/${ids.failedRun}/logs/tests-pass`;
    const { headers, text } = await world.ask(world.people.requester, 'GET', url);
    expect(text).toBe('ok 1\n\u001b[31mred\n');
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-disposition': 'attachment; filename="log.txt"',
    });
    expect(String(headers['content-security-policy'])).toContain("default-src 'none'");
  });

  it('S18 finds out by the words that there is something: what it may not see is told as what there is not', async () => {
    const zeros = '0'.repeat(26);
    for (const [url, nothing] of [
      [`/v1/contracts/${ids.draft}`, `/v1/contracts/con_${zeros}`],
      [`/v1/submissions/${ids.invited}`, `/v1/submissions/sub_${zeros}`],
      [`/v1/submissions/${ids.invited}/challenges`, `/v1/submissions/sub_${zeros}/challenges`],
      [`/v1/runs/${ids.failedRun}`, `/v1/runs/run_${zeros}`],
      [`/v1/runs/${ids.invitedRun}/events`, `/v1/runs/run_${zeros}/events`],
      [`/v1/runs/${ids.passedRun}/logs/unchanged`, `/v1/runs/${ids.passedRun}/logs/nothing`],
    ] as const) {
      const answers = [];
      for (const each of [url, nothing]) {
        const { fields } = await world.ask(world.people.otherSolver, 'GET', each);
        answers.push({ ...fields, instance: '' });
      }
      expect(answers[0]).toEqual(answers[1]);
    }
  });

  it('S18 reads the hidden criterion off any answer: only owners and arbiters find its secret', async () => {
    const urls = [
      `/v1/contracts/${ids.open}`,
      `/v1/contracts/${ids.open}/document`,
      `/v1/contracts/${ids.open}/submissions`,
      `/v1/submissions/${ids.failed}`,
      `/v1/runs/${ids.failedRun}`,
      `/v1/runs/${ids.passedRun}`,
      `/v1/runs/${ids.failedRun}/logs/unchanged`,
      `/v1/challenges/${ids.challenge}`,
      '/v1/contracts',
    ];
    const knowing = [];
    for (const name of EVERYBODY) {
      const texts = [];
      for (const url of urls) texts.push((await world.ask(world.people[name], 'GET', url)).text);
      if (texts.some((text) => text.includes(SECRET))) knowing.push(name);
    }
    expect(knowing).toEqual(['operator', 'requester', 'arbiter']);
  });

  it('reads off any answer or stream what proving saw, to learn the cheats that it tried: owners only', async () => {
    const knowing = [];
    for (const name of EVERYBODY) {
      const texts = [];
      for (const url of [
        `/v1/contracts/${ids.open}`,
        `/v1/contracts/${ids.open}/document`,
        `/v1/contracts/${ids.open}/proving`,
        '/v1/contracts',
      ]) {
        texts.push((await world.ask(world.people[name], 'GET', url)).text);
      }
      if (texts.some((text) => text.includes(PROVING_SECRET))) knowing.push(name);
    }
    expect(knowing).toEqual(['operator', 'requester']);
  });

  it('asks for proof commits and the invited: requester and operator have them', async () => {
    for (const name of EVERYBODY) {
      const answer = await world.ask(
        world.people[name],
        'GET',
        `/v1/contracts/${ids.open}/document`,
      );
      const isOwner = name === 'operator' || name === 'requester';
      expect([name, 'proof' in answer.fields]).toEqual([name, isOwner]);
      expect([name, JSON.stringify(answer.fields.submission).includes('invited')]).toEqual([
        name,
        isOwner,
      ]);
    }
    const seen = await world.ask(
      world.people.solver,
      'GET',
      `/v1/contracts/${ids.invite}/document`,
    );
    expect(seen.text).not.toContain(world.people.solver.id);
  });

  it('S19 looks up the commit of a rival to hand it in first: only solver, arbiter and operator see it before it passed', async () => {
    const knowing: Record<string, string[]> = { failed: [], passed: [] };
    for (const [which, commit, run] of [
      ['failed', ids.failedCommit, ids.failedRun],
      ['passed', ids.passedCommit, ids.passedRun],
    ] as const) {
      for (const name of EVERYBODY) {
        const texts = [];
        for (const url of [
          `/v1/submissions/${ids[which]}`,
          `/v1/contracts/${ids.open}/submissions`,
          `/v1/runs/${run}`,
        ]) {
          texts.push((await world.ask(world.people[name], 'GET', url)).text);
        }
        if (texts.some((text) => text.includes(commit ?? ''))) knowing[which]?.push(name);
      }
    }
    expect(knowing).toEqual({
      failed: ['operator', 'solver', 'arbiter'],
      passed: [...EVERYBODY],
    });
  });

  it('S19 looks up who hands in what, and how it went, before anything passed: only those with its runs are told', async () => {
    const knowing = [];
    for (const name of EVERYBODY) {
      const { items } = await world.ask(
        world.people[name],
        'GET',
        `/v1/contracts/${ids.open}/submissions`,
      );
      const one = await world.ask(world.people[name], 'GET', `/v1/submissions/${ids.failed}`);
      const told = [one.fields, ...items.filter(({ id }) => id === ids.failed)].map(
        ({ solverId, verdict, reason }) => [solverId, verdict, reason],
      );
      const all = [world.people.solver.id, 'FAIL', 'EXIT_CODE_MISMATCH'];
      if (told.flat().some((each) => each !== null)) knowing.push(name);
      expect([name, told]).toEqual([
        name,
        knowing.includes(name) ? [all, all] : [Array(3).fill(null), Array(3).fill(null)],
      ]);
    }
    expect(knowing).toEqual(['operator', 'requester', 'solver', 'arbiter']);
  });

  it('shows evidence to the parties, to arbiters and owners', async () => {
    const knowing = [];
    for (const name of EVERYBODY) {
      const { text } = await world.ask(
        world.people[name],
        'GET',
        `/v1/challenges/${ids.challenge}`,
      );
      if (text.includes('EVIDENCE')) knowing.push(name);
    }
    expect(knowing).toEqual(['operator', 'requester', 'otherSolver', 'challenger', 'arbiter']);
  });

  it('asks who is owed what: payouts are listed to the operator only', async () => {
    expect(await statuses('/v1/payouts')).toEqual([200, ...Array(7).fill(403)]);
    expect((await world.ask(null, 'GET', '/v1/payouts')).code).toBe('API_KEY_MISSING');
  });

  it('lists to each what each may see', async () => {
    const counts: Record<string, number> = {};
    for (const name of EVERYBODY) {
      const { items } = await world.ask(world.people[name], 'GET', '/v1/contracts');
      counts[name] = items.length;
    }
    expect(counts).toEqual({
      operator: 3,
      requester: 3,
      otherRequester: 1,
      solver: 2,
      otherSolver: 1,
      challenger: 1,
      arbiter: 2,
      twoHats: 1,
    });
  });
});
