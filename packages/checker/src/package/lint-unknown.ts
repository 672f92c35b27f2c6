import { lintFindingOf, type LintFinding } from '../contract/finding.ts';
import {
  CAMPAIGN_FILE,
  CONTRACT_FILE,
  PROBLEM_FILE,
  PROTOCOL_FILE,
  SKILL_FILE,
  STATEMENT_FILE,
} from './file-names.ts';
import type { FolderFiles, FoundFile } from './folder-view.ts';
import { scriptPathOf } from './implementation.ts';
import type { ContractReading } from './read-contract.ts';

const SHARED_FILES: ReadonlySet<string> = new Set([CONTRACT_FILE, PROTOCOL_FILE]);
const PROBLEM_FILES: ReadonlySet<string> = new Set([...SHARED_FILES, PROBLEM_FILE, STATEMENT_FILE]);
const UNPUBLISHED = new Set(['context.md', 'changelog.md']);

/** Files that the format has no use for, and skills that are none. */
export function lintUnknownFiles(
  files: FolderFiles,
  readContract: (found: FoundFile) => ContractReading,
): LintFinding[] {
  const isCampaign = files.has(CAMPAIGN_FILE);
  const mayBeScript = (folder: string, name: string): boolean => {
    const path = `${folder}${CONTRACT_FILE}`;
    const content = files.get(path);
    if (content === undefined) return false;
    const { draft } = readContract({ path, content });
    // Which scripts a contract names that is no JSON, nobody knows yet.
    if (draft === null) return scriptPathOf(`./${name}`) !== null;
    return draft.stages.some(({ implementation }) => scriptPathOf(implementation ?? '') === name);
  };
  const ofFiles = [...files.keys()].flatMap((path) => {
    const folder = isCampaign ? (/^problems\/[^/]+\//.exec(path)?.[0] ?? '') : '';
    const name = path.slice(folder.length);
    const isShared = isCampaign && folder === '';
    if (isShared ? name === CAMPAIGN_FILE || SHARED_FILES.has(name) : PROBLEM_FILES.has(name)) {
      return [];
    }
    if (/^(fixtures\/.|skills\/[^/]+\/.)/.test(name)) return [];
    if (!isShared && /^reference\/[^/.][^/]*$/.test(name)) return [];
    if (mayBeScript(folder, name)) return [];
    return [UNPUBLISHED.has(name) ? unpublished(path) : unknown(path)];
  });
  return [...ofFiles, ...emptySkills(files)];
}

function unknown(file: string): LintFinding {
  const words = {
    message: 'expected only files of the format, got another',
    fix: 'Remove it, or put it under skills/ or fixtures/ if it belongs there; a stage names its script.',
  };
  return lintFindingOf('file_unknown', { file }, words);
}

function unpublished(file: string): LintFinding {
  const words = {
    message: 'expected no background and no history in files of their own, got such a file',
    fix: 'Put background into a reference input or a skill; what changed is told by versions.',
  };
  return lintFindingOf('file_unpublished', { file }, words);
}

function emptySkills(files: FolderFiles): LintFinding[] {
  const folders = [...files.keys()].flatMap(
    (path) => /^(?:problems\/[^/]+\/)?skills\/[^/]+\//.exec(path)?.[0] ?? [],
  );
  return [...new Set(folders)]
    .filter((folder) => !files.has(`${folder}${SKILL_FILE}`))
    .map((folder) => {
      const words = {
        message: `expected ${SKILL_FILE} in the folder of a skill, got none`,
        fix: 'Write it, or remove the folder.',
      };
      return lintFindingOf('skill_missing', { file: `${folder}${SKILL_FILE}` }, words);
    });
}
