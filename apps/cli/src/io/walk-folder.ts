import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckerPackage, WalkReport } from '@kervyxa/checker';
import { canonicalDigest, canonicalJson, createIdSource } from '@kervyxa/core';
import { toStagesEvaluation } from '@kervyxa/evidence';
import { openOwnFolder, writingTo, type OwnFolderKind } from './own-folder.ts';

const KIND: OwnFolderKind = {
  name: 'evidence',
  marker: '.kervyxa-check',
  markerText: 'kervyxa checker verify --evidence empties this folder before each run.\n',
  files: ['result.json', 'evaluation.json'],
  logFolders: [],
};

/** Keeps `result.json` in canonical form and `evaluation.json`, which names its digest. Throws CLI_EVIDENCE_UNWRITABLE. */
export type SaveWalk = (checker: CheckerPackage, report: WalkReport) => void;

/**
 * Makes the folder, or empties one that an earlier run left. Throws CLI_EVIDENCE_FOLDER_REFUSED,
 * CLI_EVIDENCE_UNWRITABLE.
 */
export function openWalkFolder(folder: string): SaveWalk {
  const path = openOwnFolder(folder, KIND);
  return (checker, report) =>
    writingTo(path, KIND, () => {
      const evaluation = canonicalJson(toWalkEvaluation(checker, report));
      writeFileSync(join(path, 'evaluation.json'), evaluation, { flag: 'wx' });
      writeFileSync(join(path, 'result.json'), canonicalJson(report), { flag: 'wx' });
    });
}

/** Declared are all stages of the contract: what of them alone was asked for proves nothing of the others. */
function toWalkEvaluation({ digest, contractId, contract }: CheckerPackage, report: WalkReport) {
  return toStagesEvaluation({
    runRef: `urn:kervyxa:run:${createIdSource(randomBytes)('run')}`,
    verifier: {
      ref:
        contractId === null
          ? `urn:kervyxa:checker:${digest}`
          : `urn:kervyxa:contract:${contractId}`,
      digest: `sha256:${digest}`,
    },
    result: { ref: 'result.json', digest: canonicalDigest(report) },
    stages: contract.stages.map(
      ({ key }) =>
        report.stages.find((stage) => stage.key === key) ??
        ({ key, result: 'not_run', problem: null } as const),
    ),
  });
}
