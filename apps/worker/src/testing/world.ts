import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { contractDigest, parseContract, type ContractInput } from '@kervyxa/contract';
import { canonicalJson, createIdSource, sha256Hex, systemClock } from '@kervyxa/core';
import {
  openDatabase,
  toContractDraft,
  type Answer,
  type Call,
  type ContractRow,
  type Database,
  type Role,
  type RunRow,
  type SubmissionRow,
} from '@kervyxa/db';
import { openTestDatabase } from '@kervyxa/db/testing';
import { createFakeIntake, type FakeIntakeOptions } from '@kervyxa/intake/fake';
import { createFakeSandbox, type FakeSandboxOptions } from '@kervyxa/sandbox/fake';
import { DEFAULT_POLICY, type Command, type SettlementPolicy } from '@kervyxa/settlement';
import { vi } from 'vitest';
import { pinImage } from '../images.ts';
import type { Log } from '../scheduler/nudge.ts';
import { startWorker, type Worker, type WorkerOptions } from '../start-worker.ts';
import { createTestSigning } from './test-signing.ts';
import { checking, helloContract, SERVED } from './hello.ts';

export const IMAGE = `sha256:${'1'.repeat(64)}`;
export const RUNTIMES: ReadonlyMap<string, string> = new Map([['kervyxa-runtime/node:22', IMAGE]]);
const REWARD_MINOR = 50_000n;

/** For tests: a database of its own with people in it, and workers that run nothing but what is scripted. */
export interface World {
  readonly url: string;
  readonly database: Database;
  /** What workers said, `level: message`. */
  readonly lines: string[];
  /** A machine with a fake engine and git; it is stopped with the world. */
  startWorker(machine?: Machine): Worker;
  newPerson(role: Role): Promise<string>;
  /** A contract on the served base that is open, as if a worker that is gone had approved it. */
  openContract(change?: ChangeContract): Promise<string>;
  /** A draft whose approval waits for a worker. */
  draftContract(change?: ChangeContract): Promise<string>;
  startApproval(contractId: string): Promise<void>;
  editDraft(contractId: string, change: ChangeContract): Promise<void>;
  /** Waits until a worker has approved the draft, and funds it. */
  fundApproved(contractId: string): Promise<void>;
  /** Of a new solver. */
  submit(contractId: string, commit: string, repositoryUrl?: string): Promise<string>;
  /** Asks for a rerun, with a bond of a new challenger. */
  askForRerun(contractId: string, submissionId: string): Promise<void>;
  /** Waits until the contract, submission or run is as wanted, and fails with what it is. */
  contractIs(id: string, wanted: Partial<ContractRow>): Promise<ContractRow>;
  submissionIs(id: string, wanted: Partial<SubmissionRow>): Promise<SubmissionRow>;
  runIs(submissionId: string, wanted: Partial<RunRow>): Promise<RunRow>;
  /** Jobs that wait for a later time are ready now. */
  hurry(): Promise<void>;
  /** As if nobody had heard of the workers of these jobs for longer than a lease. */
  endLeases(): Promise<void>;
  sql(text: string, ...values: unknown[]): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** Changes the plain contract before it is drafted. */
type ChangeContract = (contract: ContractInput, requesterId: string) => void | Promise<void>;

export interface Machine extends Partial<WorkerOptions> {
  readonly commands?: FakeSandboxOptions['commands'];
  readonly outcomes?: FakeIntakeOptions['outcomes'];
  /** Whether git servers answer: all of the fixture's commits, or none. */
  readonly isOnline?: boolean;
}

const call = (actorId: string): Call => ({ actorId, idempotency: null });
const WAIT = { timeout: 30_000, interval: 20 };

export async function createWorld(policy: Partial<SettlementPolicy> = {}): Promise<World> {
  const tests = await openTestDatabase();
  const newId = createIdSource(randomBytes);
  const database = await openDatabase(tests.url, {
    policy: { ...DEFAULT_POLICY, ...policy },
    newId,
    leaseSeconds: 10,
    reapSeconds: 1,
  });
  const { commands, reads } = database;
  const lines: string[] = [];
  const workers: Worker[] = [];
  let counter = 0;

  const newPerson = async (role: Role): Promise<string> => {
    counter += 1;
    const input = {
      name: `${role} ${counter}`,
      roles: [role],
      keyHash: sha256Hex(`key ${counter}`),
    };
    return idOf(await commands.createPrincipal(call(newId('principal')), input, toIdAnswer));
  };
  const deposit = async (principalId: string): Promise<void> => {
    counter += 1;
    const payment = { principalId, currency: 'USD', reference: `payment ${counter}` };
    const input = { ...payment, amountMinor: REWARD_MINOR };
    await commands.deposit(call(await newPerson('operator')), input, toIdAnswer);
  };
  const execute = async (actorId: string, contractId: string, command: Command): Promise<void> => {
    const input = { contractId, command, statement: 'as the test says' };
    await commands.execute(call(actorId), input, () => ({ status: 200, body: '{}' }));
  };
  const postContract = async (change: ChangeContract): Promise<string> => {
    counter += 1;
    const requesterId = await newPerson('requester');
    const input = { ...helloContract(), title: `Say hello, number ${counter}` };
    await change(input, requesterId);
    const draft = toContractDraft(parseContract(input));
    return idOf(await commands.createContract(call(requesterId), draft, toIdAnswer));
  };
  const startApproval = async (id: string): Promise<void> => {
    const { requesterId } = await contractIs(id, { state: 'DRAFT' });
    await commands.startApproval(call(requesterId), id, toIdAnswer);
  };
  const fund = async (id: string): Promise<void> => {
    const { requesterId } = await contractIs(id, { state: 'PROVED' });
    await deposit(requesterId);
    await execute(requesterId, id, { kind: 'fund' });
  };

  return {
    url: tests.url,
    database,
    lines,
    newPerson,
    draftContract: async (change = () => undefined) => {
      const id = await postContract(change);
      await startApproval(id);
      return id;
    },
    startApproval,
    editDraft: async (id, change) => {
      const { requesterId, document } = await contractIs(id, { state: 'DRAFT' });
      const input = parseContract(JSON.parse(document));
      await change(input, requesterId);
      const edit = { contractId: id, draft: toContractDraft(input) };
      await commands.reviseContract(call(requesterId), edit, toIdAnswer);
    },
    fundApproved: fund,
    startWorker: ({ commands: scripted, outcomes, isOnline = true, ...options } = {}) => {
      const worker = startWorker({
        database,
        intake: createFakeIntake({
          commits: isOnline ? SERVED : {},
          ...(outcomes !== undefined && { outcomes }),
        }),
        sandbox: createFakeSandbox({ commands: scripted ?? checking() }),
        runtimes: RUNTIMES,
        settings: { allowedOrigins: [], catalogue: [...RUNTIMES.keys()] },
        signing: createTestSigning(),
        clock: systemClock,
        newId,
        log: recordTo(lines),
        stateFolder: tmpdir(),
        host: 'test',
        version: '0',
        coreCount: 2,
        ...options,
      });
      workers.push(worker);
      return worker;
    },
    openContract: async (change = () => undefined) => {
      const id = await postContract(change);
      await tests.pool.query(
        `UPDATE contracts SET approval_state = 'RUNNING', approval_attempt = 1 WHERE id = $1`,
        [id],
      );
      await approve(database, await contractIs(id, { state: 'DRAFT' }));
      await fund(id);
      return id;
    },
    askForRerun: async (contractId, submissionId) => {
      const challengerId = await newPerson('challenger');
      await deposit(challengerId);
      await execute(challengerId, contractId, {
        kind: 'challenge',
        challengeId: newId('challenge'),
        submissionId,
        challengerId,
        challenge: 'RERUN_VERIFICATION',
      });
    },
    submit: async (contractId, commit, repositoryUrl = 'https://git.example.org/solver.git') => {
      const input = { contractId, repositoryUrl, commit };
      return idOf(await commands.submit(call(await newPerson('solver')), input, toIdAnswer));
    },
    contractIs,
    submissionIs: (id, wanted) => becomes(`submission ${id}`, () => reads.submission(id), wanted),
    runIs: (submissionId, wanted) => {
      const last = async () => {
        const run = (await reads.listRuns(submissionId)).at(-1);
        return run === undefined ? null : reads.run(run.id);
      };
      return becomes(`the last run of ${submissionId}`, last, wanted);
    },
    hurry: async () => {
      await tests.pool.query(`UPDATE queue.job SET start_after = now() WHERE state < 'active'`);
    },
    endLeases: async () => {
      await tests.pool.query(
        `UPDATE queue.job SET heartbeat_on = now() - interval '1 hour' WHERE state = 'active'`,
      );
    },
    sql: async (text, ...values) => (await tests.pool.query(text, values)).rows,
    close: async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
      await database.close();
      await tests.close();
    },
  };

  function contractIs(id: string, wanted: Partial<ContractRow>): Promise<ContractRow> {
    return becomes(`contract ${id}`, () => reads.contract(id), wanted);
  }
}

/** Ends an approval whose attempt is the first as a worker does that has found nothing to refuse. */
async function approve(database: Database, { id, document }: ContractRow): Promise<void> {
  const { signal } = new AbortController();
  const intake = createFakeIntake({ commits: SERVED });
  const contract = pinImage(parseContract(JSON.parse(document)), IMAGE);
  const { url, baseCommit } = contract.repository;
  const base = await intake.openBase(url, baseCommit, signal);
  const capture = await database.work.saveBlob(base.exportCapture(signal), { bytesMax: 1_000_000 });
  const report = await database.work.saveBlob(toBytes('{}'), { bytesMax: 2 });
  const isStored = await database.work.finishApproval(id, 1, {
    kind: 'proved',
    document: canonicalJson(contract),
    digest: contractDigest(contract),
    baseBlob: capture.sha256,
    provingBlob: report.sha256,
    findings: [],
  });
  if (!isStored) throw new Error('expected the approval to be ours');
}

async function* toBytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function becomes<Row extends object>(
  name: string,
  load: () => Promise<Row | null>,
  wanted: Partial<Row>,
): Promise<Row> {
  const names = Object.keys(wanted) as (keyof Row)[];
  return vi.waitFor(async () => {
    const row = await load();
    const got = names.map((each) => `${String(each)} ${String(row?.[each])}`).join(', ');
    if (row === null || names.some((each) => row[each] !== wanted[each])) {
      throw new Error(`expected ${name} to become ${JSON.stringify(wanted)}, got ${got}`);
    }
    return row;
  }, WAIT);
}

const toIdAnswer = ({ id }: { readonly id: string }): Answer => ({ status: 200, body: id });

function idOf({ body }: Answer): string {
  return body;
}

function recordTo(lines: string[]): Log {
  const at = (level: string) => (_facts: object, message: string) => {
    lines.push(`${level}: ${message}`);
  };
  return { info: at('info'), warn: at('warn'), error: at('error') };
}
