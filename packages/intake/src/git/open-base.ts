import { lstat, readFile, stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { toPrintable, type CommitSha } from '@kervyxa/core';
import { createIntakeError } from '../errors.ts';
import type { BaseTree } from '../port.ts';
import { isFileMode } from '../tree/record.ts';
import { parseUrlOrThrow } from './address.ts';
import { readCommits } from './commit-object.ts';
import { obtain, type IntakeTools } from './fetch-commit.ts';
import { holdStores } from './hold.ts';
import { listTree } from './listing.ts';
import { collect, readObjects } from './objects.ts';
import { runGit } from './process.ts';
import { isNotFound } from './store.ts';

/** Opens the base tree of a contract, from a URL or the path of a repository. Throws INTAKE_BASE_UNAVAILABLE. */
export async function openBase(
  tools: IntakeTools,
  repository: string,
  commit: CommitSha,
  signal: AbortSignal,
): Promise<BaseTree> {
  const isUrl = /^[a-z][a-z0-9+.-]*:/i.test(repository);
  const { gitDir, release } = isUrl
    ? await openUrl(tools, repository, commit, signal)
    : { gitDir: await findGitDir(repository), release: () => undefined };
  const context = { gitDir, home: tools.stores.home, limits: tools.limits, remote: null };
  try {
    const present = await runGit(context, ['cat-file', '-e', commit], signal);
    const [facts] = present.exitCode === 0 ? await readCommits(context, [commit], signal) : [];
    if (!facts) throw baseUnavailable(`the repository has no commit ${commit}`);
    const listed = await listTree(context, facts.tree, tools.limits, signal);
    if (listed.kind === 'too_large') throw baseUnavailable(listed.message);
    const files = new Map(listed.records.map((record) => [record.path, record]));
    return {
      commit,
      tree: facts.tree,
      paths: listed.records.map(({ path }) => path),
      readFile: async (path, bytesMax) => {
        const record = files.get(path);
        if (record === undefined || !isFileMode(record.mode) || record.size > bytesMax) return null;
        for await (const object of readObjects(context, [record.oid], signal)) {
          return await collect(object, bytesMax);
        }
        return null;
      },
      close: () => {
        release();
        return Promise.resolve();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

async function openUrl(
  tools: IntakeTools,
  repository: string,
  commit: CommitSha,
  signal: AbortSignal,
): Promise<{ gitDir: string; release: () => void }> {
  const url = parseUrlOrThrow(repository, tools.allowedOrigins);
  const captured = await obtain(tools, url, commit, null, signal);
  if (captured.kind === 'failed') throw baseUnavailable(captured.message);
  const { release } = holdStores(tools.stores, [captured.store]);
  return { gitDir: captured.store.folder, release };
}

/** The git folder of a clone, a worktree or a bare repository. */
async function findGitDir(path: string): Promise<string> {
  const root = resolve(path);
  const inside = join(root, '.git');
  try {
    const facts = await lstat(inside);
    if (facts.isDirectory()) return inside;
    // A worktree or submodule has a file there that names the folder.
    const [, named] = /^gitdir: (.*)$/m.exec(await readFile(inside, 'utf8')) ?? [];
    if (named !== undefined) return isAbsolute(named) ? named : resolve(root, named);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  const isBare = await stat(join(root, 'objects')).then(
    (facts) => facts.isDirectory(),
    () => false,
  );
  if (isBare) return root;
  throw baseUnavailable(`there is no git repository at ${toPrintable(path, 300)}`);
}

function baseUnavailable(message: string): Error {
  return createIntakeError('INTAKE_BASE_UNAVAILABLE', {
    message: `expected the base commit, but ${message}`,
    fix: 'check the repository and the full 40-digit id of the base commit',
  });
}
