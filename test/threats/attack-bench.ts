import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Contract,
  contractDigest,
  type ContractInput,
  ContractSchema,
  withPackageDigest,
} from '@kervyxa/contract';
import { helloContract } from '@kervyxa/contract/testing';
import { CommitShaSchema, Sha256HexSchema, systemClock, type TreeArchive } from '@kervyxa/core';
import type { Intake } from '@kervyxa/intake';
import { createGitIntake, type IntakeLimits, type ResolveHost } from '@kervyxa/intake/git';
import {
  buildRepository,
  type CommitRecipe,
  gitProcessesOf,
  type GitServer,
  type GitServerOptions,
  startGitServer,
} from '@kervyxa/testing';
import { vi } from 'vitest';
import { verifyCommit, type VerificationResult, type VerifierDeps } from '@kervyxa/verifier';
import type { Sandbox } from '@kervyxa/sandbox';
import { type EngineBench, openEngineBench } from '../../packages/sandbox/src/testing/engine.ts';
import { testTree, type TestFile } from '../../packages/sandbox/src/testing/trees.ts';

/** One submission and what it is submitted to. */
export interface Attack {
  /** Name of a repository that `build` made, or a URL as the solver gives it. The contract's own unless given. */
  readonly repository?: string;
  readonly commit: string;
  /** The plain contract, on which this is laid. */
  readonly contract?: (contract: ContractInput) => void;
  readonly hidden?: Readonly<Record<string, TestFile>>;
  readonly claimToken?: string;
  /** Other bounds, or another resolver, than the intake's own: on a cache of its own. */
  readonly intake?: {
    readonly limits?: Partial<IntakeLimits>;
    readonly resolveHost?: ResolveHost;
  };
  /** In place of the bench's: an engine that can do less, or dies. */
  readonly sandbox?: Sandbox;
  /** A criterion or a set-up step has printed something. */
  readonly onOutput?: () => void;
  readonly signal?: AbortSignal;
}

export interface AttackEnd extends Pick<VerificationResult, 'verdict' | 'reasons' | 'criteria'> {
  /** `FAIL PROTECTED_PATH_CHANGED`; `PASS` alone. The primary reason first, the others after it. */
  readonly said: string;
  readonly result: VerificationResult;
  /** What a criterion or a set-up step printed, by step id, both streams in order of arrival. */
  readonly output: ReadonlyMap<string, string>;
}

/**
 * Where attacks are carried out: a git server over HTTP, the real intake and this machine's engine. The contract is
 * `helloContract`: check.sh is protected and must end with 0, two files may change, and any language that a story needs
 * is to be allowed by the story.
 */
export interface AttackBench {
  readonly engine: EngineBench;
  readonly server: GitServer;
  /** The folder of bare repositories that the server serves. */
  readonly served: string;
  readonly deps: VerifierDeps;
  /**
   * Makes a repository; returns name → 40 hex digits. Its commit `base` is the base of contracts on it, and the first
   * repository made is the contract's unless a story says otherwise.
   */
  build<const Name extends string>(
    name: string,
    commits: readonly CommitRecipe<Name>[],
  ): Promise<Record<Name, string>>;
  /** The contract before a story lays its own on it. */
  plainContract(base: string): ContractInput;
  attack(repository: string, base: string, attack: Attack): Promise<AttackEnd>;
  /** Another server for the same repositories, and leave for the intake to go there; closed with this bench. */
  startServer(options: Omit<GitServerOptions, 'root'>): Promise<GitServer>;
  /** Another worker's intake, on the cache of this bench. */
  newIntake(): Intake;
  /** Gives the intake leave to go to a server that a story starts itself, as an operator does. */
  allowOrigin(origin: string): void;
  /** Throws where there is a container, a volume, an unfinished fetch or a process of git. */
  assertNothingLeft(): Promise<void>;
  close(): Promise<void>;
}

export async function openAttackBench(): Promise<AttackBench> {
  const folder = await mkdtemp(join(tmpdir(), 'kervyxa-threats-'));
  const served = join(folder, 'served');
  const engine = await openEngineBench();
  const server = await startGitServer({ root: served });
  const servers = [server];
  const origins = [server.origin];
  const caches = [join(folder, 'cache')];
  const newIntake = (cacheFolder: string, options: Attack['intake'] = {}) =>
    createGitIntake({ cacheFolder, allowedOrigins: origins, clock: systemClock, ...options });
  const deps: VerifierDeps = {
    clock: systemClock,
    sandbox: engine.sandbox,
    runtimes: new Map([['kervyxa-runtime/node:22', engine.image]]),
    intake: newIntake(join(folder, 'cache')),
    coreCount: availableParallelism(),
  };
  const urlOf = (repository: string): string =>
    repository.includes(':') ? repository : server.url(`${repository}.git`);
  return {
    engine,
    server,
    served,
    deps,
    plainContract: helloContract,
    build: (name, commits) => buildRepository(join(served, `${name}.git`), { commits }),
    async attack(repository, base, attack) {
      const { commit, hidden, claimToken, intake, signal = new AbortController().signal } = attack;
      const { sandbox = engine.sandbox } = attack;
      const verifierPackage = hidden === undefined ? null : testTree(hidden);
      const contract = toContract(urlOf(repository), base, attack, verifierPackage);
      const output = new Map<string, string>();
      const ownCache = join(folder, `cache-${randomUUID()}`);
      if (intake !== undefined) caches.push(ownCache);
      const result = await verifyCommit(
        { ...deps, sandbox, ...(intake !== undefined && { intake: newIntake(ownCache, intake) }) },
        {
          contract,
          contractDigest: contractDigest(contract),
          verifierPackage,
          repositoryUrl: urlOf(attack.repository ?? repository),
          commit: CommitShaSchema.parse(commit),
          ...(claimToken !== undefined && { claimToken }),
        },
        {
          signal,
          onEvent: (event) => {
            if (event.kind !== 'output') return;
            const before = output.get(event.stepId) ?? '';
            output.set(event.stepId, before + Buffer.from(event.chunk).toString());
            attack.onOutput?.();
          },
        },
      );
      const { verdict, reasons, criteria } = result;
      const said = [verdict, ...reasons.map(({ code }) => code)].join(' ');
      return { verdict, reasons, criteria, said, result, output };
    },
    startServer: async (options) => {
      const started = await startGitServer({ root: served, ...options });
      servers.push(started);
      origins.push(started.origin);
      return started;
    },
    newIntake: () => newIntake(join(folder, 'cache')),
    allowOrigin: (origin) => void origins.push(origin),
    async assertNothingLeft() {
      await engine.assertNothingLeft();
      // A process that has been killed is there until the kernel has taken it down.
      await vi.waitFor(() => assertNoFetchLeft(caches), { timeout: 10_000 });
    },
    async close() {
      for (const each of servers) await each.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A cache that no fetch has come to has no folder. */
async function assertNoFetchLeft(caches: readonly string[]): Promise<void> {
  const left = await Promise.all(
    caches.map(async (cache) => [
      ...(await namesIn(join(cache, 'v1/tmp'))),
      ...(await gitProcessesOf(cache)),
    ]),
  );
  if (left.flat().length > 0) {
    throw new Error(`expected no fetch to be left, got ${left.flat().join(', ')}`);
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

function toContract(
  url: string,
  base: string,
  { contract: change }: Attack,
  verifierPackage: TreeArchive | null,
): Contract {
  const input = helloContract(base);
  input.repository.url = url;
  change?.(input);
  const contract = ContractSchema.parse(input);
  if (verifierPackage === null) return contract;
  return withPackageDigest(contract, Sha256HexSchema.parse(verifierPackage.digest));
}
