import { canonicalJson } from '@kervyxa/core';
import { describe, expect, it } from 'vitest';
import { parseContract } from './contract.ts';
import { PublicContractSchema, toPublicContract } from './public-contract.ts';
import { helloContract } from './testing/hello-contract.ts';

const whole = parseContract(helloContract('a'.repeat(40)));
const [first] = whole.criteria;
const contract = {
  ...whole,
  criteria: [...whole.criteria, { ...first, id: 'secret', visibility: 'hidden' as const }],
} as typeof whole;
const open = toPublicContract(contract, { withHidden: false });

describe('a contract as outsiders see it', () => {
  it('is read as it was told, to the byte', () => {
    const read = PublicContractSchema.parse(JSON.parse(canonicalJson(open)));
    expect(canonicalJson(read)).toBe(canonicalJson(open));
    expect(open.criteria.at(-1)).toEqual({ id: 'secret', type: first?.type, visibility: 'hidden' });
  });

  it.each([
    ['the key of a whole one', { ...open, verifierPackage: null }],
    ['proof commits', { ...open, proof: [] }],
    ['the invited', { ...open, submission: contract.submission }],
    ['words about what is hidden', { ...open, criteria: contract.criteria }],
    ['an image that is no text', { ...open, environment: { ...open.environment, image: 1 } }],
    ['no word on a package', { ...open, hasVerifierPackage: undefined }],
  ])('is refused with %s', (_what, value) => {
    expect(PublicContractSchema.safeParse(value).success).toBe(false);
  });
});
