import { interestingBaseFiles, type BaseFacts } from '@kervyxa/contract';
import type { BaseTree } from '@kervyxa/intake';

const TEXT_BYTES_MAX = 262_144;

/** What the rules about the base tree want to know of it. */
export async function loadBaseFacts(base: BaseTree, document: unknown): Promise<BaseFacts> {
  const files = new Map<string, string>();
  for (const path of interestingBaseFiles(base.paths, document)) {
    const text = await readText(base, path);
    if (text !== null) files.set(path, text);
  }
  const { commit, paths, links, layoutProblem } = base;
  return { commit, paths, files, links, layoutProblem, lfsPointers: await base.lfsPointers() };
}

async function readText(base: BaseTree, path: string): Promise<string | null> {
  const bytes = await base.readFile(path, TEXT_BYTES_MAX);
  return bytes === null ? null : Buffer.from(bytes).toString('utf8');
}
