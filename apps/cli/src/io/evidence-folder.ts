import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Contract } from '@kervyxa/contract';
import { canonicalJson } from '@kervyxa/core';
import type { VerificationEvent, VerificationResult } from '@kervyxa/verifier';
import { toJsonText } from '../present/json.ts';
import { BUNDLE_FILES } from './evidence-bundle.ts';
import { openOwnFolder, writingTo, type OwnFolderKind } from './own-folder.ts';
import { StepLogs } from './step-logs.ts';

const KIND: OwnFolderKind = {
  name: 'evidence',
  marker: '.kervyxa-evidence',
  markerText: 'kervyxa verify --evidence empties this folder before each run.\n',
  files: ['contract.json', 'result.json', ...BUNDLE_FILES],
  logFolders: ['setup', 'criteria'],
};

/**
 * What a run leaves for people: `contract.json` in canonical form, so that its SHA-256 is the contract digest; a log
 * of each stream of each step, written while it comes; what `leaveBundle` leaves; and `result.json` last, so that a
 * folder without it is a run that was stopped.
 */
export interface EvidenceFolder {
  /** Absolute. */
  readonly path: string;
  /** Keeps output. Never throws: a full disk must not end the run, and `finish` tells of it. */
  onEvent(event: VerificationEvent): void;
  /** Throws CLI_EVIDENCE_UNWRITABLE where anything of the run could not be written. */
  finish(result: VerificationResult): void;
}

/**
 * Makes the folder, or empties one that an earlier run left. Every file is created anew (O_EXCL), so nothing is ever
 * written through a link or over a file of somebody else's.
 *
 * Throws CLI_EVIDENCE_FOLDER_REFUSED, CLI_EVIDENCE_UNWRITABLE.
 */
export function openEvidenceFolder(folder: string, contract: Contract): EvidenceFolder {
  const path = openOwnFolder(folder, KIND);
  const logs = new StepLogs(path);
  writingTo(path, KIND, () => {
    writeFileSync(join(path, 'contract.json'), canonicalJson(contract), { flag: 'wx' });
  });
  return {
    path,
    onEvent: (event) => {
      if (event.kind === 'output') logs.append(event);
    },
    finish: (result) =>
      writingTo(path, KIND, () => {
        logs.close();
        writeFileSync(join(path, 'result.json'), toJsonText(result), { flag: 'wx' });
      }),
  };
}
