import { expect, it } from 'vitest';
import * as surface from './index.ts';

it('exports these values and no others', () => {
  expect(Object.keys(surface).toSorted()).toEqual([
    'EVIDENCE_ERRORS',
    'EvaluationRecordSchema',
    'PublicKeysSchema',
    'believing',
    'bundleRefused',
    'compareResults',
    'isTellable',
    'listedBlobs',
    'packBundle',
    'parsePublicKeys',
    'parseSigningKey',
    'planReplay',
    'readBundle',
    'signStatement',
    'toBothViews',
    'toPublicKeysDocument',
    'toPublicPem',
    'toPublicResult',
    'toRunEvidence',
    'toStagesEvaluation',
    'toStatement',
    'verifyEnvelope',
  ]);
});
