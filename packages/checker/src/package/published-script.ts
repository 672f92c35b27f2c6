import { CAMPAIGN_FILE, CONTRACT_FILE } from './file-names.ts';
import { contractFolderOf, findFile, type FolderFiles } from './folder-view.ts';
import { findProgram, SCRIPT_BYTES_MAX } from './implementation.ts';
import { createContractReader } from './read-contract.ts';
import { viewsOf } from './read-folder.ts';

/** Whether `findScript` needs a file of a folder: the rest may be large, and need not be held. */
export function isForScript({ path, size }: { readonly path: string; readonly size: number }) {
  return (
    path === CAMPAIGN_FILE ||
    /(?:^|\/)verifier-contract\.json$/.test(path) ||
    (path.endsWith('.py') && size <= SCRIPT_BYTES_MAX)
  );
}

/** The script that a stage of a folder runs which lint has let through; null where it runs none. */
export function findScript(files: FolderFiles, stageKey: string): Uint8Array | null {
  const root = { files, own: '', shared: '' };
  // One problem of a campaign is published at most; where all is shared, none of its files is here.
  const [view = root] = files.has(CAMPAIGN_FILE) ? viewsOf(files) : [];
  const found = findFile(view, CONTRACT_FILE);
  if (found === null) return null;
  const { authored } = createContractReader()(found);
  const stage = authored?.stages.find(({ key }) => key === stageKey);
  if (stage?.kind !== 'sandbox') return null;
  const folder = contractFolderOf(view);
  const program = findProgram(
    stage.implementation,
    (path) => files.get(`${folder}${path}`) ?? null,
  );
  return 'kind' in program && program.kind === 'script' ? program.content : null;
}
