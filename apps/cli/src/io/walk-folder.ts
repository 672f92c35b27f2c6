import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckerPackage, WalkReport } from '@kervyxa/checker';
import { canonicalDigest, canonicalJson, createIdSource } from '@kervyxa/core';
import { evaluate, type EvaluationRecord } from '@kervyxa/evidence';
import { openOwnFolder, writingTo, type OwnFolderKind } from './own-folder.ts';

const KIND: OwnFolderKind = {
  name: 'evidence',
  marker: '.kervyxa-check',
  markerText: 'kervyxa checker verify --evidence empties this folder before each run.\n',
  files: ['result.json', 'evaluation.json'],
  logFolders: [],
};

const STATUSES = {
  verified: 'passed',
  refuted: 'failed',
  inconclusive: 'inconclusive',
  not_run: 'not_run',
} as const;

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
      const evaluation = canonicalJson(toWalkEvaluation(checker, report, newRunRef()));
      writeFileSync(join(path, 'evaluation.json'), evaluation, { flag: 'wx' });
      writeFileSync(join(path, 'result.json'), canonicalJson(report), { flag: 'wx' });
    });
}

/** Exported for its test. Each stage that was to be walked is a declared check. */
export function toWalkEvaluation(
  { digest, contractId }: CheckerPackage,
  report: WalkReport,
  runRef: string,
): EvaluationRecord {
  const { stages } = report;
  const isLate = stages.some(({ problem }) => problem === 'TIME_LIMIT');
  const isMalformed = stages.some(({ problem }) => /^(RESULT|EVIDENCE)_/.test(problem ?? ''));
  return evaluate({
    runRef,
    verifier: {
      ref:
        contractId === null
          ? `urn:kervyxa:checker:${digest}`
          : `urn:kervyxa:contract:${contractId}`,
      digest: `sha256:${digest}`,
    },
    result: { ref: 'result.json', digest: canonicalDigest(report) },
    declared: stages.map(({ key }) => key),
    reported: stages.map(({ key, result }) => ({ ref: key, status: STATUSES[result] })),
    refusals: [
      ...(isMalformed ? (['result_malformed'] as const) : []),
      ...(isLate ? (['timed_out'] as const) : []),
    ],
  });
}

function newRunRef(): string {
  return `urn:kervyxa:run:${createIdSource(randomBytes)('run')}`;
}
