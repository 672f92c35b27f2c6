import type { Clock } from '@kervyxa/core';
import type { BaseRequest, Intake } from '../port.ts';
import { parseUrlOrThrow, resolveWithSystem, type ResolveHost } from './address.ts';
import { fetchCommit } from './fetch-commit.ts';
import type { IntakeTools } from './obtain.ts';
import { importCapture } from './import.ts';
import { DEFAULT_LIMITS, type IntakeLimits } from './limits.ts';
import { openBase } from './open-base.ts';
import { StoreFolder, type Store } from './store.ts';
import { createTurns } from './turns.ts';
import { gitVersion as readGitVersion, type GitVersion } from './version.ts';

export { DEFAULT_LIMITS } from './limits.ts';
export type { IntakeLimits } from './limits.ts';
export type { ResolveHost } from './address.ts';
export type { GitVersion } from './version.ts';

export interface GitIntakeOptions {
  /** Holds captured repositories from run to run; several processes may share it. Absolute. */
  readonly cacheFolder: string;
  /** Exact origins, like `http://127.0.0.1:8080`, whose addresses are not checked: an operator's test servers. */
  readonly allowedOrigins: readonly string[];
  readonly clock: Clock;
  readonly limits?: Partial<IntakeLimits>;
  /** The system's resolver unless given. */
  readonly resolveHost?: ResolveHost;
}

/** The intake that fetches with git. See the port for what its calls promise and throw. */
export function createGitIntake(options: GitIntakeOptions): Intake & {
  /** Throws INTAKE_GIT_UNAVAILABLE. */
  gitVersion(signal: AbortSignal): Promise<GitVersion>;
} {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const stores = new StoreFolder(options.cacheFolder);
  const tools: IntakeTools = {
    stores,
    limits,
    clock: options.clock,
    allowedOrigins: options.allowedOrigins,
    resolveHost: options.resolveHost ?? resolveWithSystem,
    inTurn: createTurns(),
  };
  const parse = (url: string) => parseUrlOrThrow(url, options.allowedOrigins);
  const findBase = ({ baseRepositoryUrl, baseCommit }: BaseRequest): Promise<Store | null> =>
    stores.find(parse(baseRepositoryUrl).href, baseCommit);
  return {
    fetchCommit: async (request, signal) => {
      await stores.prepare();
      return fetchCommit(tools, request, signal);
    },
    openBase: async (repository, baseCommit, signal) => {
      await stores.prepare();
      return openBase(tools, repository, baseCommit, signal);
    },
    holdsBase: async (request) => (await findBase(request)) !== null,
    holdsCommit: async ({ repositoryUrl, commit }) =>
      (await stores.find(parse(repositoryUrl).href, commit)) !== null,
    importBase: async ({ baseRepositoryUrl, baseCommit }, capture, signal) => {
      await stores.prepare();
      const target = { url: parse(baseRepositoryUrl), commit: baseCommit, base: null };
      await importCapture(tools, target, capture, signal);
    },
    importCommit: async (request, capture, signal) => {
      await stores.prepare();
      const { repositoryUrl, commit } = request;
      const target = { url: parse(repositoryUrl), commit, base: await findBase(request) };
      await importCapture(tools, target, capture, signal);
    },
    gitVersion: async (signal) => {
      await stores.prepare();
      const context = { gitDir: stores.home, home: stores.home, limits, remote: null };
      return readGitVersion(context, signal);
    },
  };
}
