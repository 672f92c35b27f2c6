import { Sha256HexSchema } from '@kervyxa/core';
import { describe, expect, it } from 'vitest';
import {
  type CriterionResult,
  type VerificationResult,
  VOLATILE_FIELDS,
  withoutVolatile,
} from './result.ts';

const criterion: CriterionResult = {
  id: 'fast',
  type: 'benchmark',
  visibility: 'public',
  status: 'pass',
  reason: null,
  message: null,
  exitCode: 0,
  metric: 5,
  peakMemoryBytes: 1_000,
  durationMs: 7,
  outputSha256: Sha256HexSchema.parse('a'.repeat(64)),
};
const result: VerificationResult = {
  verdict: 'PASS',
  contractDigest: 'sha256:c',
  commit: 'c',
  tree: 't',
  imageDigest: 'i',
  changedFiles: [],
  inputs: null,
  criteria: [criterion],
  reasons: [],
};

const isKept = (changed: object): boolean =>
  JSON.stringify(withoutVolatile({ ...result, ...changed })) !==
  JSON.stringify(withoutVolatile(result));

// Keeps R-SAME-RESULT.
describe('what is the same each time', () => {
  it('is everything of a criterion but the fields of the list', () => {
    const fields = Object.keys(criterion);
    const dropped = fields.filter(
      (field) => !isKept({ criteria: [{ ...criterion, [field]: 'x' }] }),
    );
    expect(dropped.toSorted()).toEqual([...VOLATILE_FIELDS].toSorted());
  });

  it('is everything of a result', () => {
    const { criteria: _criteria, ...others } = result;
    expect(Object.keys(others).filter((field) => !isKept({ [field]: 'x' }))).toEqual([]);
  });
});
