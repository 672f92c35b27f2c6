import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';

/** One entry of a raw tree object, written exactly as given: any mode, any name, any order. */
export interface RawTreeEntry {
  readonly mode: string;
  readonly name: string | Uint8Array;
  /** 40 hex digits. */
  readonly id: string;
}

/**
 * Writes one object into a repository without any of git's checks and returns its id: histories that git itself would
 * not make.
 */
export async function writeObject(
  repository: string,
  type: 'blob' | 'tree' | 'commit' | 'tag',
  content: string | Uint8Array,
): Promise<string> {
  const bytes = Buffer.from(content);
  const whole = Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes]);
  const id = createHash('sha1').update(whole).digest('hex');
  const folder = join(repository, 'objects', id.slice(0, 2));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, id.slice(2)), deflateSync(whole));
  return id;
}

/** The content of a tree object. */
export function rawTree(entries: readonly RawTreeEntry[]): Buffer {
  return Buffer.concat(
    entries.flatMap(({ mode, name, id }) => [
      Buffer.from(`${mode} `),
      Buffer.from(name),
      Buffer.from([0]),
      Buffer.from(id, 'hex'),
    ]),
  );
}

/** The content of a commit object with fixed people and dates. */
export function rawCommit(tree: string, parents: readonly string[], message = 'raw\n'): string {
  const person = 'Kervyxa Fixtures <fixtures@example.invalid> 1704067200 +0000';
  const lines = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`)];
  return [...lines, `author ${person}`, `committer ${person}`, '', message].join('\n');
}

/** Points a branch at an object that is already there. */
export async function writeBranch(repository: string, branch: string, id: string): Promise<void> {
  await mkdir(join(repository, 'refs/heads'), { recursive: true });
  await writeFile(join(repository, 'refs/heads', branch), `${id}\n`);
}
