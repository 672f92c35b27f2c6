import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openOwnFolder, writingTo, type OwnFolderKind } from './own-folder.ts';

const KIND: OwnFolderKind = {
  name: 'report',
  marker: '.kervyxa-report',
  markerText: 'kervyxa prove --report empties this folder before each run.\n',
  files: ['report.html', 'report.json'],
  logFolders: [],
};

/** Keeps the page and the same as JSON. Throws CLI_EVIDENCE_UNWRITABLE. */
export type SaveReport = (texts: { readonly html: string; readonly json: string }) => void;

/**
 * Makes the folder, or empties one that an earlier run left. Throws CLI_EVIDENCE_FOLDER_REFUSED,
 * CLI_EVIDENCE_UNWRITABLE.
 */
export function openReportFolder(folder: string): SaveReport {
  const path = openOwnFolder(folder, KIND);
  return ({ html, json }) =>
    writingTo(path, KIND, () => {
      writeFileSync(join(path, 'report.json'), json, { flag: 'wx' });
      writeFileSync(join(path, 'report.html'), html, { flag: 'wx' });
    });
}
