import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CommitShaSchema, systemClock, type CommitSha } from '@kervyxa/core';
import {
  buildRepository,
  startGitServer,
  type GitServer,
  type GitServerOptions,
} from '@kervyxa/testing';
import type { Scenario } from '../../shared-suite.ts';
import type { Intake } from '../../port.ts';
import { createGitIntake, type GitIntakeOptions } from '../index.ts';

/** A folder of repositories, a server for them, and an intake with a cache of its own. */
export interface World {
  readonly root: string;
  /** Where the server's repositories lie. */
  readonly repositories: string;
  readonly cacheFolder: string;
  readonly server: GitServer;
  readonly intake: Intake;
  /** Another intake on the same server; on the same cache unless told otherwise. */
  newIntake(options?: Partial<GitIntakeOptions>): Intake;
  /** Another server for the same repositories, closed with this world. */
  startServer(options: Omit<GitServerOptions, 'root'>): Promise<GitServer>;
  /** Names of unfinished attempts in the cache. */
  attempts(): Promise<string[]>;
  close(): Promise<void>;
}

export async function createWorld(options: Partial<GitIntakeOptions> = {}): Promise<World> {
  const root = await mkdtemp(join(tmpdir(), 'kervyxa-intake-'));
  const repositories = join(root, 'repositories');
  const cacheFolder = join(root, 'cache');
  const servers: GitServer[] = [];
  const startServer = async (knobs: Omit<GitServerOptions, 'root'>): Promise<GitServer> => {
    const started = await startGitServer({ root: repositories, ...knobs });
    servers.push(started);
    return started;
  };
  const server = await startServer({});
  const newIntake = (more: Partial<GitIntakeOptions> = {}): Intake =>
    createGitIntake({
      cacheFolder,
      allowedOrigins: servers.map(({ origin }) => origin),
      clock: systemClock,
      ...options,
      ...more,
    });
  return {
    root,
    repositories,
    cacheFolder,
    server,
    intake: newIntake(),
    newIntake,
    startServer,
    attempts: () => readdir(join(cacheFolder, 'v1/tmp')),
    close: async () => {
      for (const each of servers) await each.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

export function sha(text: string | undefined): CommitSha {
  return CommitShaSchema.parse(text);
}

/** Builds the suite's commits, each with exactly its tree, into a bare repository. Returns name → id. */
export async function buildScenario(
  folder: string,
  scenario: Scenario,
): Promise<Record<string, string>> {
  return buildRepository(folder, {
    commits: Object.entries(scenario).map(([name, { tree, parents = [], message }]) => ({
      name,
      parents,
      delete: Object.keys(scenario[parents[0] ?? '']?.tree ?? {}),
      files: tree,
      message: message ?? '',
    })),
    branches: { main: 'base' },
  });
}

/** Runs git outside of the intake, to prepare a repository. */
export async function runPlainGit(...argv: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', argv);
  return stdout;
}
