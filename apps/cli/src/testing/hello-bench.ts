import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContractInput } from '@kervyxa/contract';
import { ensureReady } from '@kervyxa/setup';
import { buildRepository, startGitServer, type GitServer } from '@kervyxa/testing';
import { runCliProcess, startCli, type CliEnd, type CliProcess } from './cli-process.ts';
import { startEngineProxy, type EngineProxy } from './engine-proxy.ts';
import { contractInput } from './sample-contract.ts';

// Each commit's hello.sh; check.sh, which is protected, runs it and looks at what it left.
const CHECK = 'sh hello.sh && grep -qx hello greeting\n';
const SCRIPTS = {
  base: 'echo bye > greeting\n',
  good: 'echo hello > greeting\n',
  bad: 'echo hallo > greeting\n',
  flood: 'yes; echo hello > greeting\n',
  bomb: 'bomb() { bomb | bomb & }\nbomb; sleep 1; exit 1\n',
  full: 'head -c 200000000 /dev/zero > big && echo hello > greeting\n',
  endless: 'trap "" TERM; while :; do :; done\n',
  slow: 'echo started >&2; sleep 300\n',
} as const;
export type HelloCommit = keyof typeof SCRIPTS | 'cheat';

export interface HelloBench {
  /** A new folder for this test file; removed by `close`. */
  readonly root: string;
  readonly server: GitServer;
  readonly proxy: EngineProxy;
  readonly shas: Readonly<Record<HelloCommit, string>>;
  /** The id of an annotated tag, which is not a commit's. */
  readonly tagId: string;
  /** The id of a commit's tree (`^{tree}`) or of a file in it (`:hello.sh`). */
  objectId(commit: HelloCommit, suffix: string): string;
  /** Writes a contract and answers its path; `change` may edit it first. */
  writeContract(change?: (contract: ContractInput) => void): string;
  /** `commit` may also be an id; the contract is the plain one unless `more` names another. */
  startVerify(commit: string, ...more: string[]): CliProcess;
  verify(commit: string, ...more: string[]): Promise<CliEnd>;
  /** Starts any command line. */
  start(argv: readonly string[]): CliProcess;
  /** Runs any command line; `env` adds to the environment or replaces parts of it. */
  run(argv: readonly string[], env?: Readonly<Record<string, string>>): Promise<CliEnd>;
  /** Throws where the engine still has something that was made for this bench. */
  assertNothingLeft(): Promise<void>;
  close(): Promise<void>;
}

/** A repository behind a git server, a contract for it, and the real engine behind a proxy that sees what is made. */
export async function openHelloBench(): Promise<HelloBench> {
  const root = mkdtempSync(join(tmpdir(), 'kervyxa-cli-'));
  const shas = await buildRepository(join(root, 'hello.git'), {
    commits: [
      { name: 'base', files: { 'check.sh': CHECK, 'hello.sh': SCRIPTS.base } },
      ...(Object.keys(SCRIPTS) as (keyof typeof SCRIPTS)[])
        .filter((name) => name !== 'base')
        .map((name) => ({
          name,
          parents: ['base'] as const,
          files: { 'hello.sh': SCRIPTS[name] },
        })),
      { name: 'cheat', parents: ['base'], files: { 'check.sh': 'exit 0\n' } },
    ],
    tags: { v1: 'good' },
  });
  const server = await startGitServer({ root });
  const { dockerHost } = await ensureReady();
  const proxy = await startEngineProxy(join(root, 'engine.sock'), dockerHost);
  const env = { DOCKER_HOST: proxy.dockerHost, KERVYXA_GIT_ALLOW: server.origin };
  let contracts = 0;
  const idOf = (commit: string) => (isName(commit) ? shas[commit] : commit);

  const bench: HelloBench = {
    root,
    server,
    proxy,
    shas,
    tagId: shas['tag:v1'] ?? '',
    objectId: (commit, suffix) =>
      execFileSync('git', ['rev-parse', `${shas[commit]}${suffix}`], {
        cwd: join(root, 'hello.git'),
        encoding: 'utf8',
      }).trim(),
    writeContract(change = () => undefined) {
      const contract = contractInput();
      contract.repository = { url: server.url('hello.git'), baseCommit: shas.base };
      change(contract);
      contracts += 1;
      const path = join(root, `contract-${contracts}.json`);
      writeFileSync(path, JSON.stringify(contract));
      return path;
    },
    startVerify: (commit, ...more) =>
      startCli(
        [
          'verify',
          '--repo',
          server.url('hello.git'),
          '--commit',
          idOf(commit),
          ...(more.includes('--contract') ? more : ['--contract', bench.writeContract(), ...more]),
        ],
        { env },
      ),
    verify: (commit, ...more) => bench.startVerify(commit, ...more).ended,
    start: (argv) => startCli(argv, { env }),
    run: (argv, more) => runCliProcess(argv, { env: { ...env, ...more } }),
    async assertNothingLeft() {
      const leftovers = await proxy.leftovers();
      if (leftovers.length > 0) throw new Error(`left in the engine: ${leftovers.join(', ')}`);
    },
    async close() {
      await proxy.cut();
      await server.close();
      rmSync(root, { recursive: true });
    },
  };
  return bench;
}

function isName(commit: string): commit is HelloCommit {
  return commit === 'cheat' || Object.hasOwn(SCRIPTS, commit);
}
