import { expect, it } from 'vitest';
import * as surface from './index.ts';

it('exports these values and no others', () => {
  expect(Object.keys(surface).toSorted()).toEqual([
    'CHECK_STATUSES',
    'EVALUATION_REFUSALS',
    'EVIDENCE_ERRORS',
    'EvaluationRecordSchema',
    'PURPOSES',
    'PublicKeysSchema',
    'RecordedResultSchema',
    'StatementSchema',
    'VIEWS',
    'compareResults',
    'evaluate',
    'isTellable',
    'listedBlobs',
    'packBundle',
    'parsePublicKeys',
    'parseSigningKey',
    'planReplay',
    'readBundle',
    'signStatement',
    'toBothViews',
    'toEvaluation',
    'toGitSubjects',
    'toPublicKeysDocument',
    'toPublicPem',
    'toPublicResult',
    'toRecordedResult',
    'toRunEvidence',
    'toStatement',
    'verifyEnvelope',
  ]);
});
