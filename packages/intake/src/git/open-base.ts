import { lstat, readFile, stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { isAppError, toPrintable, type CommitSha } from '@kervyxa/core';
import { createIntakeError } from '../errors.ts';
import type { BaseTree } from '../port.ts';
import { layoutProblem } from '../tree/layout.ts';
import { parseUrlOrThrow } from './address.ts';
import { readCommits } from './commit-object.ts';
import { damaged, obtain, type IntakeTools } from './obtain.ts';
import { exportBundle } from './export.ts';
import { holdStores } from './hold.ts';
import { findLfsPointers, readLinks } from './inspect.ts';
import { listTree } from './listing.ts';
import { readFileOf } from './objects.ts';
import { isMakersFault } from './intact.ts';
import { runGit, type GitContext } from './process.ts';
import type { Store } from './store.ts';

/**
 * Opens the base tree of a contract, from a URL or the path of a repository.
 *
 * Throws INTAKE_BASE_UNAVAILABLE, INTAKE_STORE_DAMAGED, and what `obtain` throws.
 */
export async function openBase(
  tools: IntakeTools,
  repository: string,
  commit: CommitSha,
  signal: AbortSignal,
): Promise<BaseTree> {
  const isUrl = /^[a-z][a-z0-9+.-]*:/i.test(repository);
  const opened = isUrl
    ? await openUrl(tools, repository, commit, signal)
    : { gitDir: await findGitDir(repository), store: null, release: () => undefined };
  const { gitDir, store, release } = opened;
  const context = { gitDir, home: tools.stores.home, limits: tools.limits, remote: null };
  const reading: Reading = async (task, until = signal) => {
    try {
      return await task();
    } catch (error) {
      until.throwIfAborted();
      if (isAppError(error)) throw error;
      if (store !== null && !(await isMakersFault(error, [store]))) {
        throw await damaged(tools, [store], error);
      }
      if (store !== null) throw baseUnavailable('git can not read it within its limits', error);
      throw baseUnavailable('the repository lacks objects of it or is damaged', error);
    }
  };
  try {
    return await reading(() => readBase(context, { commit, reading, release }, signal));
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * Runs a task that reads the repository and says whose fault it is that it can't be read. `until`: the signal of the
 * task, where it is another than that of the opening.
 */
type Reading = <T>(task: () => Promise<T>, until?: AbortSignal) => Promise<T>;

async function readBase(
  context: GitContext,
  {
    commit,
    reading,
    release,
  }: { readonly commit: CommitSha; readonly reading: Reading; readonly release: () => void },
  signal: AbortSignal,
): Promise<BaseTree> {
  const present = await runGit(context, ['cat-file', '-e', commit], signal);
  const [facts] = present.exitCode === 0 ? await readCommits(context, [commit], signal) : [];
  if (!facts) throw baseUnavailable(`the repository has no commit ${commit}`);
  const listed = await listTree(context, facts.tree, context.limits, signal);
  if (listed.kind === 'too_large') throw baseUnavailable(listed.message);
  const { records } = listed;
  const files = new Map(records.map((record) => [record.path, record]));
  const links = await readLinks(context, records, signal);
  return {
    commit,
    tree: facts.tree,
    paths: records.map(({ path }) => path),
    links: new Map(
      [...links].flatMap(([path, target]) => (target === null ? [] : [[path, target]])),
    ),
    layoutProblem: layoutProblem(records, links),
    readFile: async (path, bytesMax) =>
      reading(async () => readFileOf(context, files.get(path), bytesMax, signal)),
    exportCapture: (to) => exportBase({ context, commit, reading }, to),
    lfsPointers: async () => reading(async () => findLfsPointers(context, records, signal)),
    close: () => {
      release();
      return Promise.resolve();
    },
  };
}

async function* exportBase(
  { context, commit, reading }: { context: GitContext; commit: CommitSha; reading: Reading },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const pieces = exportBundle(context, { commit, base: null }, signal);
  try {
    for (;;) {
      const next = await reading(() => pieces.next(), signal);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await pieces.return(undefined);
  }
}

async function openUrl(
  tools: IntakeTools,
  repository: string,
  commit: CommitSha,
  signal: AbortSignal,
): Promise<{ gitDir: string; store: Store; release: () => void }> {
  const url = parseUrlOrThrow(repository, tools.allowedOrigins);
  const captured = await obtain(tools, url, commit, null, signal);
  if (captured.kind === 'failed') throw baseUnavailable(captured.message);
  const { store } = captured;
  const { release } = holdStores(tools.stores, [store]);
  return { gitDir: store.folder, store, release };
}

/** The git folder of a clone, a worktree or a bare repository. */
async function findGitDir(path: string): Promise<string> {
  const root = resolve(path);
  const inside = join(root, '.git');
  const facts = await lstat(inside).catch(() => null);
  if (facts?.isDirectory() === true) return inside;
  // A worktree or submodule has a file there that names the folder.
  const link = facts === null ? '' : await readFile(inside, 'utf8').catch(() => '');
  const [, named] = /^gitdir: (.*)$/m.exec(link) ?? [];
  if (named !== undefined) return isAbsolute(named) ? named : resolve(root, named);
  const isBare = await stat(join(root, 'objects')).then(
    (objects) => objects.isDirectory(),
    () => false,
  );
  if (isBare) return root;
  throw baseUnavailable(`there is no git repository at ${toPrintable(path, 300)}`);
}

function baseUnavailable(message: string, cause?: unknown): Error {
  return createIntakeError('INTAKE_BASE_UNAVAILABLE', {
    message: `expected the base commit, but ${message}`,
    fix: 'check the repository and the full 40-digit id of the base commit',
    cause,
  });
}
