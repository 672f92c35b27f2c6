import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { isolatedGitEnvironment } from './git-environment.ts';

/** A file's content, or the kind of entry that stands in its place. `mode` is six octal digits, `100644` unless given. */
export type FileRecipe =
  | string
  | Uint8Array
  | { readonly content: string | Uint8Array; readonly mode?: '100644' | '100755' }
  | { readonly symlink: string }
  | { readonly gitlink: string };

/** One commit: its first parent's tree, changed in this order: deletions, renames, overlay, files. */
export interface CommitRecipe<Name extends string = string> {
  readonly name: Name;
  /** Names of earlier commits; none for a root commit. */
  readonly parents?: readonly Name[];
  /** Paths of files or folders to take away. */
  readonly delete?: readonly string[];
  /** From → to, of files or folders. */
  readonly rename?: Readonly<Record<string, string>>;
  /** A folder on this machine whose files, links and execute bits are laid over the tree. */
  readonly overlay?: string;
  readonly files?: Readonly<Record<string, FileRecipe>>;
  /** The commit's name unless given. */
  readonly message?: string | Uint8Array;
}

export interface RepositoryRecipe<Name extends string = string> {
  readonly commits: readonly CommitRecipe<Name>[];
  /** Branch → commit. Unless given, `main` is the first commit and each commit has a branch of its name. */
  readonly branches?: Readonly<Record<string, Name>>;
  /** Annotated tags: tag → commit. Their own ids come back under `tag:<tag>`. */
  readonly tags?: Readonly<Record<string, Name>>;
}

const PERSON = 'Kervyxa Fixtures <fixtures@example.invalid>';
const SCRATCH_REF = 'refs/scratch';
const FIRST_SECOND = 1_704_067_200; // 2024-01-01T00:00:00Z

/**
 * Makes a bare repository from a recipe through one `git fast-import`. Authors and dates are fixed (a minute for each
 * generation), so equal recipes give equal ids everywhere, and a new commit does not change those of its siblings.
 * Returns name → 40 hex digits. `folder` must not exist yet or be empty.
 */
export async function buildRepository<const Name extends string>(
  folder: string,
  recipe: RepositoryRecipe<Name>,
): Promise<Record<Name | `tag:${string}`, string>> {
  const path = resolve(folder);
  await runGit(['init', '-q', '--bare', '--template=', '--initial-branch=main', path]);
  const marks = new Map<string, number>();
  const listing = await runGit(
    [`--git-dir=${path}`, '-c', 'fastimport.unpackLimit=0', 'fast-import', '--quiet', '--force'],
    Readable.from(toImportStream(recipe, marks)),
  );
  // A server without the smart protocol needs these lists, and some tests serve the folder that way.
  await runGit([`--git-dir=${path}`, 'update-server-info']);
  const ids = listing.trim().split('\n');
  const named = [...marks.keys()].map((name, index) => [name, ids[index]]);
  return Object.fromEntries(named) as Record<Name | `tag:${string}`, string>; // The stream asks for the id of every mark, in order.
}

async function* toImportStream(
  recipe: RepositoryRecipe,
  marks: Map<string, number>,
): AsyncGenerator<string | Uint8Array> {
  const markOf = (name: string): string => {
    const mark = marks.get(name);
    if (mark === undefined) throw new Error(`expected the name of an earlier commit, got ${name}`);
    return `:${mark}`;
  };
  const generations = new Map<string, number>();
  for (const commit of recipe.commits) {
    if (marks.has(commit.name))
      throw new Error(`expected distinct names, got ${commit.name} twice`);
    const parents = commit.parents ?? [];
    const parentMarks = parents.map(markOf);
    const generation = Math.max(0, ...parents.map((name) => (generations.get(name) ?? 0) + 1));
    generations.set(commit.name, generation);
    marks.set(commit.name, marks.size + 1);
    const when = `${FIRST_SECOND + 60 * generation} +0000`;
    yield `reset ${SCRATCH_REF}\ncommit ${SCRATCH_REF}\nmark :${marks.size}\n`;
    yield `author ${PERSON} ${when}\ncommitter ${PERSON} ${when}\n`;
    yield* toData(commit.message ?? `${commit.name}\n`);
    if (parentMarks[0] !== undefined) yield `from ${parentMarks[0]}\n`;
    for (const other of parentMarks.slice(1)) yield `merge ${other}\n`;
    yield* toChanges(commit);
  }
  for (const [branch, name] of branchesOf(recipe)) {
    yield `reset refs/heads/${branch}\nfrom ${markOf(name)}\n`;
  }
  for (const [tag, name] of Object.entries(recipe.tags ?? {})) {
    marks.set(`tag:${tag}`, marks.size + 1);
    yield `tag ${tag}\nmark :${marks.size}\nfrom ${markOf(name)}\n`;
    yield `tagger ${PERSON} ${FIRST_SECOND} +0000\n`;
    yield* toData(`${tag}\n`);
  }
  yield `reset ${SCRATCH_REF}\nfrom ${'0'.repeat(40)}\n`;
  for (const mark of marks.values()) yield `get-mark :${mark}\n`;
}

function branchesOf(recipe: RepositoryRecipe): [branch: string, commit: string][] {
  if (recipe.branches !== undefined) return Object.entries(recipe.branches);
  const own = recipe.commits.map(({ name }): [string, string] => [name, name]);
  const first = recipe.commits[0];
  if (first === undefined || own.some(([name]) => name === 'main')) return own;
  return [['main', first.name], ...own];
}

async function* toChanges(commit: CommitRecipe): AsyncGenerator<string | Uint8Array> {
  for (const path of commit.delete ?? []) yield `D ${quote(path)}\n`;
  for (const [from, to] of Object.entries(commit.rename ?? {})) {
    yield `R ${quote(from)} ${quote(to)}\n`;
  }
  if (commit.overlay !== undefined) yield* toOverlay(commit.overlay, '');
  for (const [path, file] of Object.entries(commit.files ?? {})) yield* toFile(path, file);
}

async function* toOverlay(folder: string, below: string): AsyncGenerator<string | Uint8Array> {
  for (const name of (await readdir(join(folder, below))).toSorted()) {
    const path = below === '' ? name : `${below}/${name}`;
    const full = join(folder, path);
    const stat = await lstat(full);
    if (stat.isDirectory()) yield* toOverlay(folder, path);
    else if (stat.isSymbolicLink()) yield* toFile(path, { symlink: await readlink(full) });
    else {
      const mode = (stat.mode & 0o100) === 0 ? '100644' : '100755';
      yield* toFile(path, { content: await readFile(full), mode });
    }
  }
}

function* toFile(path: string, file: FileRecipe): Generator<string | Uint8Array> {
  if (typeof file === 'string' || file instanceof Uint8Array) {
    yield `M 100644 inline ${quote(path)}\n`;
    yield* toData(file);
  } else if ('content' in file) {
    yield `M ${file.mode ?? '100644'} inline ${quote(path)}\n`;
    yield* toData(file.content);
  } else if ('symlink' in file) {
    yield `M 120000 inline ${quote(path)}\n`;
    yield* toData(file.symlink);
  } else {
    yield `M 160000 ${file.gitlink} ${quote(path)}\n`;
  }
}

function* toData(content: string | Uint8Array): Generator<string | Uint8Array> {
  const bytes = Buffer.from(content);
  yield `data ${bytes.length}\n`;
  yield bytes;
  yield '\n';
}

/** The quoted form of fast-import's paths: any byte is allowed in it. */
function quote(path: string): string {
  return `"${path.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}

async function runGit(
  argv: readonly string[],
  input: Readable = Readable.from([]),
): Promise<string> {
  const child = spawn('git', argv, { env: isolatedGitEnvironment });
  const closed = once(child, 'close');
  const [out, complaint] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    feed(input, child.stdin),
    closed,
  ]);
  if (child.exitCode !== 0) throw new Error(`git ${argv.join(' ')} failed: ${complaint}`);
  return out;
}

/** A git that dies early closes its input; its own message, read by the caller, says why. */
async function feed(input: Readable, stdin: Writable): Promise<void> {
  try {
    await pipeline(input, stdin);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}
