import { setJsonMembers, type JsonMember } from '@kervyxa/contract';
import { readContractDraft } from '../contract/draft.ts';
import { toPointer } from '../contract/pointer.ts';
import { CONTRACT_FILE } from './file-names.ts';
import {
  contentHashOf,
  findFixtureFile,
  type FolderFiles,
  type FolderView,
} from './folder-view.ts';
import { readJsonFile } from './json-file.ts';

export interface FixedFile {
  readonly path: string;
  readonly content: Uint8Array;
  /** JSON Pointers of what was written. */
  readonly written: readonly string[];
}

/**
 * Contracts whose fixtures say other hashes and sizes than their files have, as they should be. Nothing else in them is
 * touched; a contract that can't be read, and a file that is not there, are left to lint.
 */
export function fixFixtures(files: FolderFiles): FixedFile[] {
  return [...files].flatMap(([path, content]) => {
    const folder = /^(problems\/[^/]+\/)?verifier-contract\.json$/.test(path)
      ? path.slice(0, -CONTRACT_FILE.length)
      : null;
    if (folder === null) return [];
    const fixed = fixContract(path, content, { files, own: folder, shared: '' });
    return fixed === null ? [] : [fixed];
  });
}

function fixContract(file: string, content: Uint8Array, view: FolderView): FixedFile | null {
  const json = readJsonFile(file, content);
  if ('finding' in json) return null;
  const members = readContractDraft(json.document).fixtures.flatMap(({ files }) =>
    files.flatMap(({ path, filename, contentHash, sizeBytes }): JsonMember[] => {
      const found = filename === null ? null : findFixtureFile(view, filename);
      if (found === null) return [];
      const at = path.map((key) => (typeof key === 'number' ? key : String(key)));
      const hash = contentHashOf(found.content);
      const size = found.content.length;
      return [
        ...(contentHash === hash ? [] : [{ path: at, key: 'content_hash', value: hash }]),
        ...(sizeBytes === size ? [] : [{ path: at, key: 'size_bytes', value: size }]),
      ];
    }),
  );
  if (members.length === 0) return null;
  const text = setJsonMembers(new TextDecoder().decode(content), members);
  return {
    path: file,
    content: Buffer.from(text),
    written: members.map(({ path, key }) => toPointer([...path, key])),
  };
}
