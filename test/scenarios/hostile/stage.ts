import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContractInput } from '@kervyxa/contract';
import { provableHelloContract } from '@kervyxa/contract/testing';
import { buildRepository, startGitServer } from '@kervyxa/testing';
import { z } from 'zod';
import { startCli } from '../../../apps/cli/src/testing/cli-process.ts';
import { type EngineProxy, startEngineProxy } from '../../../apps/cli/src/testing/engine-proxy.ts';
import { openTemporaryHome } from '../../../apps/cli/src/testing/temporary-home.ts';
import { type Client, createClient } from '../../../demo/life/client.ts';
import { HOSTILE_SCRIPTS } from './attacks.ts';

const NAME = 'hostile';
const POLL_MS = 100;
const LineSchema = z.looseObject({ operatorKey: z.string().optional(), url: z.string().nullish() });
const PrincipalSchema = z.looseObject({ id: z.string(), apiKey: z.string() });
const IdSchema = z.looseObject({ id: z.string() });
const AnythingSchema = z.looseObject({});
const ContractSchema = z.looseObject({ state: z.string(), approval: AnythingSchema });
const SubmissionSchema = z.looseObject({
  state: z.string(),
  verdict: z.string().nullable(),
  reason: z.string().nullable(),
});
type Submission = z.infer<typeof SubmissionSchema>;

/** A kervyxa as an operator starts it, with one open contract to which hostile commits can be handed in. */
export interface HostileStage {
  /** Of the daemon, which is API, worker and scheduler. */
  readonly pid: number;
  /** All that the daemon keeps, and its temporary files. */
  readonly home: string;
  readonly temporary: string;
  readonly proxy: EngineProxy;
  /** Hands in one of `HOSTILE_SCRIPTS` and waits for what becomes of it. */
  submit(name: string): Promise<Submission>;
  /** What a page that is looked at while others verify asks for. */
  look(): Promise<void>;
}

export async function openHostileStage(
  stack: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<HostileStage> {
  const home = await openTemporaryHome();
  stack.defer(() => home.close());
  const [served, temporary] = [join(home.folder, 'served'), join(home.folder, 'tmp')];
  await mkdir(temporary);
  const git = await startGitServer({ root: served });
  stack.defer(() => git.close());
  const ids = await buildRepository(join(served, `${NAME}.git`), { commits: toCommits() });
  const proxy = await startEngineProxy(join(home.folder, 'd.sock'), home.env['DOCKER_HOST'] ?? '');
  stack.defer(() => proxy.cut());
  const daemon = startCli(['up', '--port', '0', '--json'], {
    env: {
      ...home.env,
      DOCKER_HOST: proxy.dockerHost,
      TMPDIR: temporary,
      KERVYXA_GIT_ALLOW: git.origin,
      KERVYXA_WINDOW_MIN_SECONDS: '1',
      KERVYXA_PROVE_REPLAYS: '2',
    },
  });
  stack.defer(async () => {
    daemon.kill('SIGTERM');
    await daemon.ended;
  });
  await daemon.says('"ready; Ctrl-C stops it"', 'stdout');
  const said = daemon.stdout
    .trim()
    .split('\n')
    .map((line) => LineSchema.parse(JSON.parse(line)));
  const [origin, key] = [find(said, 'url'), find(said, 'operatorKey')];
  const clientOf = (apiKey: string): Client => createClient(origin, apiKey, signal);
  const url = git.url(`${NAME}.git`);
  const { contractId, solver } = await openContract(clientOf(key), clientOf, toContract(url, ids));
  return {
    pid: daemon.pid,
    home: home.folder,
    temporary,
    proxy,
    async submit(name) {
      const body = { repositoryUrl: url, commit: ids[name] };
      const { id } = await solver.post(`/contracts/${contractId}/submissions`, body, IdSchema);
      return untilDecided(() => solver.get(`/submissions/${id}`, SubmissionSchema));
    },
    async look() {
      await solver.get(`/contracts/${contractId}/submissions`, AnythingSchema);
    },
  };
}

function find(said: readonly z.infer<typeof LineSchema>[], name: 'url' | 'operatorKey'): string {
  return said.map((line) => line[name]).find((value) => typeof value === 'string') ?? '';
}

function toCommits() {
  return [
    { name: 'base', files: { 'check.sh': CHECK, ...filesOf('exit 1\n') } },
    { name: 'good', parents: ['base'], files: filesOf('echo hello\n') },
    ...HOSTILE_SCRIPTS.map(({ name, script }) => ({
      name,
      parents: ['base'],
      files: filesOf(script),
    })),
  ];
}

function filesOf(script: string) {
  return { 'hello.sh': script };
}

/** Ends as the script ends, but for a script that ends well and has not said hello. */
const CHECK = `if [ "$1" = runs ]; then exit 0; fi
sh hello.sh > said.txt || exit $?
grep -qx hello said.txt
`;

function toContract(url: string, ids: Readonly<Record<string, string>>): ContractInput {
  const { base = '', good = '', memory: bad = '' } = ids;
  const contract = provableHelloContract(base, { good, bad });
  contract.repository.url = url;
  // An empty file costs a kilobyte of the kernel's memory, and there may be sixty-five thousand.
  contract.environment.memoryMB = 512;
  for (const criterion of contract.criteria) criterion.timeoutSeconds = 5;
  return contract;
}

async function openContract(
  operator: Client,
  clientOf: (apiKey: string) => Client,
  contract: ContractInput,
) {
  const hire = (name: string, role: string) =>
    operator.post('/principals', { name, roles: [role] }, PrincipalSchema);
  const rita = await hire('rita', 'requester');
  const carl = await hire('carl', 'solver');
  const deposit = { principalId: rita.id, amountMinor: '50000', currency: 'USD' };
  await operator.post('/deposits', { ...deposit, reference: 'from-rita' }, AnythingSchema);
  const requester = clientOf(rita.apiKey);
  const { id } = await requester.post('/contracts', contract, IdSchema);
  await requester.post(`/contracts/${id}/approve`, {}, AnythingSchema);
  for (;;) {
    const { state, approval } = await requester.get(`/contracts/${id}`, ContractSchema);
    if (state === 'PROVED') break;
    if (!['QUEUED', 'RUNNING'].includes(String(approval['state']))) {
      throw new Error(`expected a proved contract, got ${JSON.stringify(approval)}`);
    }
    await new Promise((later) => setTimeout(later, POLL_MS));
  }
  await requester.post(`/contracts/${id}/fund`, {}, AnythingSchema);
  return { contractId: id, solver: clientOf(carl.apiKey) };
}

/** The deadline is the caller's. */
async function untilDecided(look: () => Promise<Submission>): Promise<Submission> {
  for (;;) {
    const submission = await look();
    if (!['RECEIVED', 'QUEUED', 'RUNNING', 'VERIFIED'].includes(submission.state))
      return submission;
    await new Promise((later) => setTimeout(later, POLL_MS));
  }
}
