import { interestingBaseFiles, type BaseFacts } from '@kervyxa/contract';
import type { BaseTree } from '@kervyxa/intake';

const TEXT_BYTES_MAX = 262_144;
/** Larger files are no Git LFS pointers: git-lfs itself reads no further. */
const POINTER_BYTES_MAX = 1_024;
/** Each reading starts a git; a base with LFS shows a pointer long before. */
const POINTER_READINGS_MAX = 500;

/** What the rules about the base tree want to know of it. */
export async function loadBaseFacts(base: BaseTree, document: unknown): Promise<BaseFacts> {
  const files = new Map<string, string>();
  for (const path of interestingBaseFiles(base.paths, document)) {
    const text = await readText(base, path);
    if (text !== null) files.set(path, text);
  }
  const { commit, paths } = base;
  return { commit, paths, files, lfsPointers: await findLfsPointer(base) };
}

async function readText(base: BaseTree, path: string): Promise<string | null> {
  const bytes = await base.readFile(path, TEXT_BYTES_MAX);
  return bytes === null ? null : Buffer.from(bytes).toString('utf8');
}

/** The first Git LFS pointer, if the tree's attributes say that it has any: one is enough to refuse it. */
async function findLfsPointer(base: BaseTree): Promise<string[]> {
  const attributes = base.paths.filter((path) => /(^|\/)\.gitattributes$/.test(path));
  let usesLfs = false;
  for (const path of attributes.slice(0, POINTER_READINGS_MAX)) {
    usesLfs ||= (await readText(base, path))?.includes('filter=lfs') === true;
  }
  if (!usesLfs) return [];
  for (const path of base.paths.slice(0, POINTER_READINGS_MAX)) {
    const bytes = await base.readFile(path, POINTER_BYTES_MAX);
    const isPointer =
      bytes !== null &&
      Buffer.from(bytes).toString('latin1').startsWith('version https://git-lfs.github.com/spec/');
    if (isPointer) return [path];
  }
  return [];
}
