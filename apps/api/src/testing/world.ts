import { randomBytes } from 'node:crypto';
import { canonicalJson, createIdSource, systemClock } from '@kervyxa/core';
import { contractDigest, type Contract, type Finding } from '@kervyxa/contract';
import { openDatabase, type Database } from '@kervyxa/db';
import { openTestDatabase } from '@kervyxa/db/testing';
import { DEFAULT_POLICY } from '@kervyxa/settlement';
import type { FastifyBaseLogger, FastifyInstance, InjectOptions } from 'fastify';
import { expect } from 'vitest';
import { createApi } from '../app.ts';
import type { ApiSettings } from '../settings.ts';
import { createPeople, type Cast, type Person } from './people.ts';
import { checkAnswer, type Answered } from './documented.ts';
import { signRun } from './sign-run.ts';
import { sampleContract, SECRET } from './sample-contract.ts';

/** For tests: what only requester and operator are told of a proving. */
export const PROVING_SECRET = 'SECRET-cheat';
/** What proving may find and yet not refuse. */
const FINDING: Finding = {
  code: 'SAME_CONTAINER_SECRET',
  severity: 'advise',
  pointer: '/criteria/0',
  message: 'expected a judge of its own',
  fix: 'Use judge_probe.',
  evidence: PROVING_SECRET,
  acknowledgement: null,
};

const TREE = 'e'.repeat(40);

export type { Cast, Person };

export interface Begun {
  readonly submissionId: string;
  readonly runId: string;
  readonly commit: string;
}

/** For tests: an API on a PostgreSQL database of its own, with people who have keys. */
export interface World {
  readonly app: FastifyInstance;
  readonly database: Database;
  readonly people: Cast;
  /** A request with somebody's key (null: none). Every answer is held against its documentation. */
  ask(
    who: Person | null,
    method: 'GET' | 'POST' | 'PUT',
    url: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answered>;
  /** Books money, in USD. */
  pay(who: Person, amountMinor: bigint): Promise<void>;
  /** A contract that was approved and waits for its funding. */
  provedContract(who: Person, overrides?: Record<string, unknown>): Promise<string>;
  /** A contract of the requester that is open for submissions. */
  openContract(overrides?: Record<string, unknown>): Promise<string>;
  /** A submission of the solver, captured, with a run that waits for a worker. */
  begin(contractId: string, who?: Person, source?: string): Promise<Begun>;
  /** Seals the run that was begun. */
  seal(begun: Begun, verdict: 'PASS' | 'FAIL'): Promise<void>;
  /** Both. */
  decide(contractId: string, verdict: 'PASS' | 'FAIL', who?: Person): Promise<Begun>;
  revoke(who: Person): Promise<void>;
  /** Takes a table away, so that the next look at it fails. */
  breakTable(name: 'api_keys' | 'submissions'): Promise<void>;
  close(): Promise<void>;
}

export async function createWorld(
  options: {
    readonly settings?: Partial<ApiSettings>;
    readonly logger?: FastifyBaseLogger;
  } = {},
): Promise<World> {
  const tests = await openTestDatabase();
  const newId = createIdSource(randomBytes);
  const database = await openDatabase(tests.url, { policy: DEFAULT_POLICY, newId });
  const app = await createApi({
    database,
    newId,
    clock: systemClock,
    randomBytes,
    logger: options.logger,
    settings: {
      keyTrustMs: 0,
      requestsPerWindowMax: 1_000_000,
      strangerRequestsPerWindowMax: 1_000_000,
      ...options.settings,
    },
  });
  const people = await createPeople(database);
  let commits = 0;

  const ask = createAsk(app);

  async function provedContract(
    who: Person,
    overrides: Record<string, unknown> = {},
  ): Promise<string> {
    const contract = sampleContract({ title: `Contract ${(commits += 1)}`, ...overrides });
    const { id } = await ask(who, 'POST', '/v1/contracts', contract);
    await ask(who, 'POST', `/v1/contracts/${id}/approve`);
    await prove(database, id, contract);
    return id;
  }

  async function openContract(overrides: Record<string, unknown> = {}): Promise<string> {
    const id = await provedContract(people.requester, overrides);
    await pay(people.requester, 50_000n);
    const funded = await ask(people.requester, 'POST', `/v1/contracts/${id}/fund`);
    expect(funded.fields).toEqual({ id, state: 'OPEN' });
    return id;
  }

  async function pay({ id: principalId }: Person, amountMinor: bigint): Promise<void> {
    const deposit = await ask(people.operator, 'POST', '/v1/deposits', {
      principalId,
      amountMinor: amountMinor.toString(),
      currency: 'USD',
      reference: `payment-${(commits += 1)}`,
    });
    expect(deposit.status).toBe(201);
  }

  async function begin(contractId: string, who = people.solver, source = 'source'): Promise<Begun> {
    const commit = (commits += 1).toString(16).padStart(40, 'c');
    const answer = await ask(who, 'POST', `/v1/contracts/${contractId}/submissions`, {
      repositoryUrl: 'https://git.example.org/solver/parse-numbers.git',
      commit,
    });
    expect(answer.status).toBe(201);
    const { id: submissionId } = answer;
    const sourceBlob = await saveBlob(database, source);
    await database.work.saveCapture(submissionId, { sourceBlob, tree: TREE });
    await execute(database, contractId, { kind: 'capture', submissionId });
    const [run] = await database.reads.listRuns(submissionId);
    if (run === undefined) throw new Error('expected a run of the submission');
    return { submissionId, runId: run.id, commit };
  }

  async function decide(contractId: string, verdict: 'PASS' | 'FAIL', who = people.solver) {
    const begun = await begin(contractId, who);
    await seal(database, begun.runId, { verdict, commit: begun.commit });
    return begun;
  }

  return {
    app,
    database,
    people,
    ask,
    pay,
    provedContract,
    openContract,
    begin,
    seal: ({ runId, commit }, verdict) => seal(database, runId, { verdict, commit }),
    decide,
    revoke: async ({ id }) => {
      await tests.pool.query('UPDATE api_keys SET revoked_at = now() WHERE principal_id = $1', [
        id,
      ]);
    },
    breakTable: async (name) => {
      await tests.pool.query(`ALTER TABLE ${name} RENAME TO ${name}_gone`);
    },
    close: async () => {
      await app.close();
      await database.close();
      await tests.close();
    },
  };
}

/** For tests: requests to an API with somebody's key. */
export function createAsk(app: FastifyInstance): World['ask'] {
  return async (who, method, url, body, headers = {}) => {
    const request: InjectOptions = {
      method,
      url,
      headers: { ...(who !== null && { authorization: `Bearer ${who.key}` }), ...headers },
    };
    if (Buffer.isBuffer(body) || typeof body === 'string') request.payload = body;
    else if (body !== undefined) request.payload = body as object;
    return checkAnswer(app, await app.inject(request), { method, url });
  };
}

/** What a worker does when it has found nothing to refuse. */
async function prove(database: Database, id: string, contract: Contract): Promise<void> {
  const task = await database.work.approvalTask(id);
  if (task === null) throw new Error('expected an approval to do');
  await database.work.addApprovalProgress(id, task.attempt, { title: PROVING_SECRET });
  const isOurs = await database.work.finishApproval(id, task.attempt, {
    kind: 'proved',
    document: canonicalJson(contract),
    digest: contractDigest(contract),
    baseBlob: await saveBlob(database, 'base'),
    provingBlob: await saveBlob(database, JSON.stringify({ findings: [], saw: PROVING_SECRET })),
    findings: [FINDING],
  });
  if (!isOurs) throw new Error('expected the approval to be ours');
}

async function saveBlob(database: Database, text: string): Promise<string> {
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from(text);
  };
  return (await database.work.saveBlob(chunks(), { bytesMax: text.length })).sha256;
}

async function execute(
  database: Database,
  contractId: string,
  command: Parameters<Database['cases']['execute']>[1],
): Promise<void> {
  const decision = await database.cases.execute(contractId, command);
  if (decision.kind === 'refused') throw decision.error;
}

/** What a worker does at the end of a run; the log and the message of the hidden criterion tell its secret. */
async function seal(
  database: Database,
  runId: string,
  { verdict, commit }: { verdict: 'PASS' | 'FAIL'; commit: string },
): Promise<void> {
  const attempt = await database.work.startRun(runId, 'wrk_test');
  if (attempt === null) throw new Error('expected a run that is wanted');
  const reason = verdict === 'PASS' ? null : ('EXIT_CODE_MISMATCH' as const);
  const criterion = {
    status: verdict === 'PASS' ? ('pass' as const) : ('fail' as const),
    reason,
    message: verdict === 'PASS' ? null : SECRET,
    exitCode: 1,
    metric: null,
    peakMemoryBytes: 4_242_424,
    durationMs: 12,
    outputSha256: 'a'.repeat(64),
  };
  const task = await database.work.runTask(runId);
  if (task === null) throw new Error('expected a run that is wanted');
  const result = {
    verdict,
    contractDigest: task.contract.digest,
    commit,
    tree: TREE,
    imageDigest: null,
    changedFiles: [{ path: 'parseNumbers.js', status: 'modified' }],
    inputs: { checkout: 'b'.repeat(64), package: null, dependencies: null },
    criteria: [
      { id: 'tests-pass', type: 'exit_code', visibility: 'public', ...criterion, message: 'plain' },
      { id: 'unchanged', type: 'judge_probe', visibility: 'hidden', ...criterion },
    ],
    reasons: reason === null ? [] : [{ code: reason, message: SECRET, subject: 'unchanged' }],
  } satisfies Parameters<typeof signRun>[2];
  await database.work.addRunEvents(runId, [
    {
      name: 'step_finished',
      audience: 'PARTIES',
      data: { kind: 'criterion', criterionId: 'tests-pass', status: 'pass' },
    },
    {
      name: 'step_finished',
      audience: 'PARTIES',
      data: {
        kind: 'criterion',
        criterionId: 'unchanged',
        visibility: 'hidden',
        status: 'fail',
        message: SECRET,
      },
    },
    { name: 'note', audience: 'OWNER', data: { kind: 'criterion', message: SECRET } },
  ]);
  const isSealed = await database.work.sealRun(runId, attempt, {
    ...(await signRun(database.work, task, result)),
    logs: [
      {
        criterionId: 'tests-pass',
        visibility: 'public',
        bytes: Buffer.from('ok 1\n\u001b[31mred\n'),
        truncated: true,
      },
      {
        criterionId: 'unchanged',
        visibility: 'hidden',
        bytes: Buffer.from(SECRET),
        truncated: false,
      },
    ],
  });
  if (!isSealed) throw new Error('expected the run to be ours');
}
