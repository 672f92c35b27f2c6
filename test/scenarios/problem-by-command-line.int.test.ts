import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  ANSWER,
  createCheckerStory,
  inDays,
  LABELS,
  PROGRAM,
  PROTOCOL,
  SYSTEM,
  toContract,
} from '../../apps/api/src/testing/checker-story.ts';
import { createWorld, type Person, type World } from '../../apps/api/src/testing/world.ts';
import { runCli } from '../../apps/cli/src/cli.ts';
import { fakeHost } from '../../apps/cli/src/testing/fake-host.ts';

let world: World;
let url: string;
let root: string;
beforeAll(async () => {
  world = await createWorld();
  url = await world.app.listen({ host: '127.0.0.1', port: 0 });
  root = mkdtempSync(join(tmpdir(), 'kervyxa-problem-'));
  const contract = toContract();
  const files = {
    'problem.json': JSON.stringify({
      slug: 'rows',
      title: 'Label the rows',
      summary: 'Rows are to be labelled.',
      sealing: { sealed_until: inDays(10), submission_limit: 2 },
    }),
    'statement.md': 'Label the rows of `question`; `labels` are sealed.',
    'verifier-contract.json': JSON.stringify(contract),
    'review-protocol.json': JSON.stringify(PROTOCOL),
    'checker.py': PROGRAM,
    'fixtures/answer.json': ANSWER,
    'reference/labels.csv': LABELS,
  };
  for (const [name, text] of Object.entries({ ...files })) {
    mkdirSync(dirname(join(root, 'problem', name)), { recursive: true });
    writeFileSync(join(root, 'problem', name), text);
  }
  writeFileSync(join(root, 'answer.json'), ANSWER);
  writeFileSync(join(root, 'status.json'), '{"status": "accepted"}');
});
afterAll(async () => {
  rmSync(root, { recursive: true });
  await world.close();
});

const AnswerSchema = z.looseObject({
  id: z.string().default(''),
  items: z.array(z.looseObject({})).default([]),
});

async function run(who: Person, ...argv: readonly string[]) {
  const host = fakeHost({ env: { KERVYXA_URL: url, KERVYXA_KEY: who.key } });
  const exitCode = await runCli(argv, host);
  return { exitCode, stdout: host.stdout.text(), stderr: host.stderr.text() };
}

/** The JSON of an answer; fails where there is none. */
async function ask(who: Person, ...argv: readonly string[]) {
  const { exitCode, stdout, stderr } = await run(who, ...argv, '--json');
  expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('error')]);
  return AnswerSchema.parse(JSON.parse(stdout));
}

// Keeps R-SEALED-BYTES, R-REVIEW-PARTIES.
describe('by the command line alone', () => {
  it('a folder becomes a problem, is answered, judged, reported on and verified', async () => {
    const { requester, solver, arbiter, challenger, operator, otherSolver } = world.people;
    const problem = await ask(requester, 'problem', 'create', join(root, 'problem'));
    expect(problem).toMatchObject({ state: 'DRAFT', title: 'Label the rows' });
    const story = createCheckerStory(world);
    const { items } = await world.ask(
      requester,
      'GET',
      `/v1/checkers/${String(problem['contractId'])}/implementations`,
    );
    await story.conform(String(items[0]?.['id']));
    await ask(requester, 'problem', 'open', problem.id);

    const entry = await ask(
      solver,
      'entry',
      'submit',
      problem.id,
      '--file',
      `answer=${join(root, 'answer.json')}`,
    );
    const check = String(entry['checkId']);
    await story.run(check, { kind: 'verified', reason: null, score: null, evidence: null });

    expect(await ask(otherSolver, 'review', 'list')).toMatchObject({ items: [] });
    for (const who of [arbiter, challenger]) {
      expect(await ask(who, 'review', 'list')).toMatchObject({ items: [{ checkId: check }] });
      const seat = await ask(who, 'review', 'claim', check, '--node', 'readers');
      const word = ['--judgment', 'accept', '--statement', 'It is right.'];
      await ask(who, 'review', 'judge', check, seat.id, ...word);
    }
    const report = ['--stage', 'accepted', '--evidence', join(root, 'status.json')];
    expect(await ask(operator, 'check', 'report', check, ...report)).toMatchObject({
      state: 'VERIFIED',
    });
    const shown = await run(solver, 'check', 'show', check);
    expect(shown.stdout).toMatch(/^state +VERIFIED$/m);
    expect(shown.stdout).toContain(SYSTEM);
  });

  it('publishes the same terms once, and says so the next time', async () => {
    const { requester } = world.people;
    const argv = ['checker', 'publish', join(root, 'problem'), '--name', 'Labels'];
    const first = await ask(requester, ...argv);
    expect(first).toMatchObject({ isNew: true, versionNumber: 1 });
    const again = await ask(requester, ...argv, '--verifier', String(first['verifierId']));
    expect(again).toMatchObject({ id: first.id, isNew: false });
  });

  it('shows what an early release would do, and does it only with its fingerprint', async () => {
    const { requester } = world.people;
    const published = ['checker', 'publish', join(root, 'problem'), '--name', 'To be released'];
    const contract = await ask(requester, ...published);
    const create = ['problem', 'create', join(root, 'problem'), '--contract', contract.id];
    const { id } = await ask(requester, ...create);
    await ask(requester, 'problem', 'open', id);
    const prepared = await ask(requester, 'problem', 'release', id);
    expect(prepared).toMatchObject({ slots: [{ slot: 'labels' }] });
    const stale = await run(
      requester,
      'problem',
      'release',
      id,
      '--fingerprint',
      `sha256:${'0'.repeat(64)}`,
    );
    expect([stale.exitCode, stale.stderr]).toEqual([
      2,
      expect.stringContaining('CHECKER_FINGERPRINT_STALE'),
    ]);
    const fingerprint = String(prepared['fingerprint']);
    const released = await ask(requester, 'problem', 'release', id, '--fingerprint', fingerprint);
    expect(released).toMatchObject({ isReleased: true });
  });

  it('tells of what one may not see no more than that it is not there', async () => {
    const { exitCode, stderr } = await run(
      world.people.solver,
      'check',
      'show',
      `chk_${'0'.repeat(26)}`,
    );
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('API_NOT_FOUND')]);
  });
});
