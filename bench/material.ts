import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Contract, parseContract } from '@kervyxa/contract';
import { buildRepository, type FileRecipe } from '@kervyxa/testing';

/** A repository with a base commit and one on top, served or read by a benchmark. */
export interface BenchRepository {
  readonly name: string;
  readonly base: string;
  readonly head: string;
}

/** `fileCount` files of `fileBytes` bytes each; content differs from file to file and compresses by about a third. */
export async function buildTree(
  root: string,
  { name, fileCount, fileBytes }: { name: string; fileCount: number; fileBytes: number },
): Promise<BenchRepository> {
  const files: Record<string, FileRecipe> = {};
  for (let index = 0; index < fileCount; index += 1) {
    files[`src/d${index % 200}/f${index}.txt`] = fileContent(index, fileBytes);
  }
  const ids = await buildRepository(join(root, `${name}.git`), {
    commits: [
      { name: 'base', files },
      { name: 'head', parents: ['base'], files: { 'src/change.txt': 'changed\n' } },
    ],
  });
  return { name, base: ids.base, head: ids.head };
}

/** `commitCount` commits on `fileCount` files, three files changed by each; `fresh` more on top, for a warm fetch. */
export async function buildHistory(
  root: string,
  {
    name,
    commitCount,
    fileCount,
    fresh,
  }: { name: string; commitCount: number; fileCount: number; fresh: number },
): Promise<BenchRepository & { readonly heads: readonly string[] }> {
  const files: Record<string, FileRecipe> = {};
  for (let index = 0; index < fileCount; index += 1) {
    files[`src/d${index % 50}/f${index}.txt`] = fileContent(index, 400);
  }
  const commits = [{ name: 'c0', parents: [] as string[], files }];
  for (let index = 1; index <= commitCount + fresh * 5; index += 1) {
    const changed: Record<string, FileRecipe> = {};
    for (let file = 0; file < 3; file += 1) {
      const target = (index * 7 + file * 31) % fileCount;
      changed[`src/d${target % 50}/f${target}.txt`] = fileContent(index * 10_000 + target, 400);
    }
    commits.push({ name: `c${index}`, parents: [`c${index - 1}`], files: changed });
  }
  const ids = await buildRepository(join(root, `${name}.git`), {
    commits,
    branches: { main: `c${commitCount + fresh * 5}` },
  });
  const idOf = (index: number): string => ids[`c${index}`] ?? '';
  const heads = Array.from({ length: fresh }, (_, step) => idOf(commitCount + (step + 1) * 5));
  return { name, base: idOf(commitCount - 1), head: idOf(commitCount), heads };
}

/** A contract of `count` trivial criteria on a commit; never approved, only measured. */
export function trivialContract(url: string, base: string, count: number): Contract {
  return parseContract({
    schemaVersion: 'kervyxa.contract.v1',
    title: 'Trivial criteria',
    kind: 'custom',
    objective: 'Nothing; this contract is measured, not approved.',
    repository: { url, baseCommit: base },
    environment: {
      image: 'kervyxa-runtime/node:22',
      memoryMB: 1024,
      cpuCount: 1,
      pidsLimit: 128,
      workspaceMB: 256,
      outputKB: 256,
    },
    constraints: { protectedPaths: [], maxChangedFiles: 10, allowedLanguages: [] },
    criteria: Array.from({ length: count }, (_, index) => ({
      id: `c${index}`,
      title: `Trivial ${index}`,
      type: 'exit_code',
      visibility: 'public',
      command: 'true',
      timeoutSeconds: 30,
    })),
    submission: {
      policy: 'PUBLIC',
      privacy: 'PUBLIC',
      claim: 'none',
      closesAt: '2030-01-01T00:00:00.000Z',
    },
    settlement: {
      rule: 'FIRST_VERIFIED_PASS',
      reward: { amountMinor: '1', currency: 'USD' },
      feeBps: 0,
      challengeWindowSeconds: 3_600,
      challengeBondMinor: '1',
      responseWindowSeconds: 3_600,
    },
  });
}

/** Half of it repeats, half of it is hexadecimal noise: about what source code does under zlib. */
function fileContent(seed: number, bytes: number): string {
  let text = '';
  for (let block = 0; text.length < bytes; block += 1) {
    const noise = createHash('sha256').update(`${seed}:${block}`).digest('hex');
    text += `export const value${block} = '${noise}'; // a line of source code like many others\n`;
  }
  return text.slice(0, bytes);
}
