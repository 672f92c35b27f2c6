import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { type Contract, contractDigest, ContractSchema } from '@kervyxa/contract';
import {
  canonicalJson,
  createIdSource,
  sha256Hex,
  Sha256HexSchema,
  systemClock,
  type TreeArchive,
} from '@kervyxa/core';
import { openDatabase, type Database } from '@kervyxa/db';
import { openTestDatabase } from '@kervyxa/db/testing';
import { createFakeIntake, fakeCommitId } from '@kervyxa/intake/fake';
import { DEFAULT_POLICY } from '@kervyxa/settlement';
import { ensureReady } from '@kervyxa/setup';
import { startWorker } from '@kervyxa/worker';
import type { FastifyInstance } from 'fastify';
import { expect, vi } from 'vitest';
import { createApi } from '../../apps/api/src/app.ts';
import { createPeople, type Cast, type Person } from '../../apps/api/src/testing/people.ts';
import {
  createCheckerStory,
  inDays,
  toContract,
} from '../../apps/api/src/testing/checker-story.ts';
import { createAsk } from '../../apps/api/src/testing/world.ts';
import { createTestSigning } from '../../apps/worker/src/testing/test-signing.ts';
import type { EngineBench } from '../../packages/sandbox/src/testing/engine.ts';
import {
  type Canary,
  checkerTree,
  HIDDEN_IDS,
  hiddenContract,
  hiddenTree,
} from './hidden-contract.ts';

const CHECK = { 'check.sh': 'sh hello.sh | grep -x hello\n' };
const COMMITS = {
  base: { ...CHECK, 'hello.sh': 'echo bye\n' },
  bad: { ...CHECK, 'hello.sh': 'echo hello; exit 1\n' },
  good: { ...CHECK, 'hello.sh': 'echo hello\n' },
} as const;
const SERVED = Object.fromEntries(
  Object.entries(COMMITS).map(([name, tree]) => [
    fakeCommitId(name),
    { tree, parents: name === 'base' ? [] : [fakeCommitId('base')] },
  ]),
);
export interface HiddenWorld {
  readonly app: FastifyInstance;
  /** `http://127.0.0.1:…`. */
  readonly origin: string;
  readonly people: Cast;
  /** Values for the parameters of paths, by the word of the path before them. */
  readonly ids: Readonly<Record<string, readonly string[]>>;
  /** Words and digests that only those may know who see hidden criteria. */
  readonly secrets: readonly string[];
  close(): Promise<void>;
}

/**
 * An API and a worker on a database of their own, with one contract that hides a criterion of each type. The solver has
 * submitted what fails all of them and then what passes, and a challenger had that run again; the worker is gone.
 */
export async function openHiddenWorld(engine: EngineBench, canary: Canary): Promise<HiddenWorld> {
  const tests = await openTestDatabase();
  const newId = createIdSource(randomBytes);
  const database = await openDatabase(tests.url, { policy: DEFAULT_POLICY, newId });
  const many = { requestsPerWindowMax: 1_000_000, strangerRequestsPerWindowMax: 1_000_000 };
  const settings = { ...many, keyTrustMs: 0, heartbeatMs: 500 };
  const app = await createApi({ database, newId, clock: systemClock, randomBytes, settings });
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  const people = await createPeople(database);
  const ask = (who: Person, url: string, body?: unknown) => post(origin, who, url, body);

  const digests = {
    package: await uploadTree(origin, people.requester, hiddenTree(canary)),
    checker: await uploadTree(origin, people.requester, checkerTree(canary)),
  };
  const contract = hiddenContract(canary, digests);
  const { id: contractId } = await ask(people.requester, '/v1/contracts', contract);
  await ask(people.requester, `/v1/contracts/${contractId}/approve`);
  const pinned = { ...contract, environment: { ...contract.environment, image: engine.image } };
  await approve(database, contractId, ContractSchema.parse(pinned));
  for (const who of [people.requester, people.challenger]) {
    const payment = {
      principalId: who.id,
      amountMinor: '50000',
      currency: 'USD',
      reference: who.id,
    };
    await ask(people.operator, '/v1/deposits', payment);
  }
  await ask(people.requester, `/v1/contracts/${contractId}/fund`);

  const worker = startWorker({
    database,
    intake: createFakeIntake({ commits: SERVED }),
    sandbox: engine.sandbox,
    runtimes: new Map([
      ['kervyxa-runtime/node:22', engine.image],
      ['kervyxa-runtime/python:1', await pythonImage()],
    ]),
    settings: { allowedOrigins: [], catalogue: null },
    signing: createTestSigning(),
    clock: systemClock,
    newId,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    stateFolder: tmpdir(),
    host: 'test',
    version: '0',
    coreCount: 2,
    beatMs: 1_000,
  });
  const submissions: string[] = [];
  try {
    for (const [name, state] of [
      ['bad', 'FAILED'],
      ['good', 'PASSED'],
    ] as const) {
      const body = { repositoryUrl: 'https://git.example.org/s.git', commit: fakeCommitId(name) };
      const { id } = await ask(people.solver, `/v1/contracts/${contractId}/submissions`, body);
      submissions.push(id);
      await becomes(async () => (await database.reads.submission(id))?.state, state);
    }
    await ask(people.challenger, `/v1/submissions/${submissions[1]}/challenges`, {
      kind: 'RERUN_VERIFICATION',
      evidence: 'It passed once.',
    });
    const challenges = async () => database.reads.listChallenges(submissions[1] ?? '');
    await becomes(async () => (await challenges())[0]?.state, 'UPHELD');
  } finally {
    await worker.stop();
  }

  const sealed = await openSealed(app, database, people, canary);
  const runs = (await Promise.all(submissions.map((id) => database.reads.listRuns(id)))).flat();
  const challenges = await database.reads.listChallenges(submissions[1] ?? '');
  const results = await Promise.all(runs.map(({ id }) => database.reads.run(id)));
  return {
    app,
    origin,
    people,
    ids: {
      contracts: [contractId],
      submissions,
      runs: runs.map(({ id }) => id),
      logs: ['says-hello', ...HIDDEN_IDS, 'nothing'],
      challenges: challenges.map(({ id }) => id),
      packages: Object.values(digests),
      payouts: [`pay_${'0'.repeat(26)}`],
      ...sealed.ids,
    },
    secrets: [
      canary.word,
      sealed.digest,
      ...Object.values(digests),
      ((await database.reads.contract(contractId))?.digest ?? '').slice('sha256:'.length),
      ...results.flatMap((run) => [
        (run?.resultDigest ?? '').slice('sha256:'.length),
        ...hiddenDigestsIn(run?.result ?? ''),
      ]),
    ],
    close: async () => {
      await app.close();
      await database.close();
      await tests.close();
    },
  };
}

/**
 * A problem whose labels are the canary, and an entry that was checked against them: what the stage said of it tells
 * the canary too.
 */
async function openSealed(
  app: FastifyInstance,
  database: Database,
  people: Cast,
  { word, metric }: Canary,
) {
  const story = createCheckerStory({ database, people, ask: createAsk(app) });
  const contract = toContract();
  const published = await story.publish({ ...contract, stages: contract.stages.slice(0, 1) });
  const [implementation] = published.fields['implementations'] as readonly { id: string }[];
  const implementationId = implementation?.id ?? '';
  await story.conform(implementationId);
  const sealing = { sealed_until: inDays(10), submission_limit: 5 };
  const problemId = await story.open(published.id, { sealing }, word);
  const entry = await story.submit(problemId);
  const checkId = String(entry.fields['checkId']);
  await story.run(checkId, {
    kind: 'verified',
    reason: word,
    score: null,
    evidence: { [word]: metric },
  });
  return {
    digest: sha256Hex(Buffer.from(word)),
    ids: {
      checkers: [published.id],
      implementations: [implementationId],
      'review-protocols': [`rpt_${'0'.repeat(26)}`],
      problems: [problemId],
      inputs: ['labels', 'question'],
      entries: [entry.id],
      artifacts: ['answer'],
      checks: [checkId],
      seats: [`sea_${'0'.repeat(26)}`],
      'partner-keys': ['0'.repeat(64)],
    },
  };
}

async function uploadTree(origin: string, who: Person, tree: TreeArchive): Promise<string> {
  const tar = Buffer.concat(await Array.fromAsync(tree.open(new AbortController().signal)));
  const response = await fetch(`${origin}/v1/packages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${who.key}`, 'content-type': 'application/x-tar' },
    body: tar,
  });
  const { sha256 } = (await response.json()) as { sha256: string };
  return Sha256HexSchema.parse(sha256);
}

/** Ends an approval as a worker does that has found nothing to refuse. */
async function approve(database: Database, id: string, contract: Contract): Promise<void> {
  const { signal } = new AbortController();
  const task = await database.work.approvalTask(id);
  const { url, baseCommit } = contract.repository;
  const base = await createFakeIntake({ commits: SERVED }).openBase(url, baseCommit, signal);
  const capture = await database.work.saveBlob(base.exportCapture(signal), { bytesMax: 1_000_000 });
  const report = await database.work.saveBlob(toBytes('{}'), { bytesMax: 2 });
  await database.work.finishApproval(id, task?.attempt ?? 0, {
    kind: 'proved',
    document: canonicalJson(contract),
    digest: contractDigest(contract),
    baseBlob: capture.sha256,
    provingBlob: report.sha256,
    findings: [],
  });
}

async function pythonImage(): Promise<string> {
  const { runtimes } = await ensureReady();
  const image = runtimes.get('kervyxa-runtime/python:1')?.imageId;
  if (image === undefined) throw new Error('expected the python runtime, got none');
  return image;
}

async function becomes(load: () => Promise<string | undefined>, wanted: string): Promise<void> {
  await vi.waitFor(async () => expect(await load()).toBe(wanted), {
    timeout: 60_000,
    interval: 50,
  });
}

async function* toBytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function post(origin: string, { key }: Person, url: string, body?: unknown) {
  const response = await fetch(`${origin}${url}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  expect([url, response.ok ? '' : text]).toEqual([url, '']);
  return JSON.parse(text) as { readonly id: string };
}

function hiddenDigestsIn(result: string): string[] {
  const { criteria } = JSON.parse(result) as {
    criteria: { visibility: string; outputSha256: string | null }[];
  };
  return criteria.flatMap(({ visibility, outputSha256 }) =>
    visibility === 'hidden' && outputSha256 !== null ? [outputSha256] : [],
  );
}
