import { describe, expect, it } from 'vitest';
import type { CheckerPackage, StageProgram } from '../package/checker-package.ts';
import { publishedContract } from '../testing/published-contract.ts';
import type { VerifierContract } from './schema.ts';
import { VerifierContractSchema } from './verifier-contract.ts';
import { planPublication, termsDigest, termsOf, type PublishedFamily } from './versions.ts';

// Keeps R-CHECKER-LINT.

const FIRST = VerifierContractSchema.parse(publishedContract());
const VERIFIER = FIRST.verifier_id;
const LATER = '2026-10-01T00:00:00Z';

function version(number: number, changed: Partial<VerifierContract> = {}): VerifierContract {
  return { ...FIRST, id: `vct_version00000${number}`, version_number: number, ...changed };
}

function programsOf(digests: Readonly<Record<string, string>>): ReadonlyMap<string, StageProgram> {
  const limits = { vcpu: 1, memoryMb: 512, diskMb: 64, timeoutSeconds: 60 };
  return new Map(
    Object.entries(digests).map(([key, digest]) => [
      key,
      { kind: 'builtin', name: 'json-schema-check:1', digest, limits },
    ]),
  );
}

function candidate(changed: Partial<Candidate> = {}): Candidate {
  return {
    contract: termsOf(FIRST),
    contractId: null,
    verifierId: null,
    versionNumber: null,
    programs: programsOf({ form: 'sha256:f1', measure: 'sha256:m1' }),
    ...changed,
  };
}
type Candidate = Pick<
  CheckerPackage,
  'contract' | 'contractId' | 'verifierId' | 'versionNumber' | 'programs'
>;

function family(contracts: VerifierContract[]): PublishedFamily {
  return {
    verifierId: VERIFIER,
    contracts,
    programs: contracts.flatMap(({ id }) => [
      { contractId: id, stageKey: 'form', programDigest: 'sha256:f1' },
      { contractId: id, stageKey: 'measure', programDigest: 'sha256:m1' },
    ]),
  };
}

const OTHER_TERMS = { ...termsOf(FIRST), statement_md: 'Verified when one row is predicted.' };

describe('a publication', () => {
  it('makes the first contract of a family version 1, with all its programs', () => {
    const nothing = { verifierId: null, contracts: [], programs: [] };
    expect(planPublication(nothing, candidate())).toEqual({
      kind: 'new_contract',
      versionNumber: 1,
      newPrograms: ['form', 'measure'],
    });
  });

  it('of the same terms with a corrected program stays under the same contract', () => {
    const corrected = candidate({
      programs: programsOf({ form: 'sha256:f1', measure: 'sha256:m2' }),
    });
    expect(planPublication(family([version(1)]), corrected)).toEqual({
      kind: 'same_contract',
      contractId: version(1).id,
      newPrograms: ['measure'],
    });
  });

  it('of what is published already changes nothing', () => {
    expect(planPublication(family([version(1)]), candidate())).toMatchObject({ newPrograms: [] });
  });

  it('goes by the program of a stage: the same program for another stage is another implementation', () => {
    const swapped = candidate({
      programs: programsOf({ form: 'sha256:m1', measure: 'sha256:f1' }),
    });
    expect(planPublication(family([version(1)]), swapped)).toMatchObject({
      newPrograms: ['form', 'measure'],
    });
  });

  it('of the terms of an older or withdrawn version goes to that version', () => {
    const versions = [
      version(1, { yanked_at: LATER }),
      version(2, { statement_md: 'Something else.' }),
    ];
    expect(planPublication(family(versions), candidate())).toMatchObject({
      kind: 'same_contract',
      contractId: version(1).id,
    });
  });

  const changes: [string, Partial<VerifierContract>][] = [
    ['its title', { title: 'Another title' }],
    ['its statement', { statement_md: 'Verified when one row is predicted.' }],
    ['a stage', { stages: FIRST.stages.slice(1) }],
    [
      'a slot',
      { reference_inputs: FIRST.reference_inputs.map((slot) => ({ ...slot, max_bytes: 1 })) },
    ],
    ['the scale', { score: { unit: 'F1', direction: 'higher_is_better', description: 'F1.' } }],
    ['a fixture', { conformance_fixtures: FIRST.conformance_fixtures.slice(1) }],
    [
      'what is to be submitted',
      { submission_requirements: { ...FIRST.submission_requirements, required_artifacts: [] } },
    ],
  ];
  it.each(changes)(
    'that changes %s needs a contract of its own, the next in line',
    (_what, change) => {
      const contract = { ...termsOf(FIRST), ...termsOf({ ...FIRST, ...change }) };
      const versions = [version(1), version(2, { title: 'Second', yanked_at: LATER })];
      expect(planPublication(family(versions), candidate({ contract }))).toEqual({
        kind: 'new_contract',
        versionNumber: 3,
        newPrograms: ['form', 'measure'],
      });
    },
  );

  it('is the same where only what publication gives differs', () => {
    const republished = version(9, {
      created_by_user_id: 'usr_somebodyelse',
      created_at: LATER,
      yanked_at: LATER,
    });
    expect(termsDigest(termsOf(republished))).toBe(termsDigest(termsOf(FIRST)));
  });

  it.each([
    ['another number than the next', { versionNumber: 3 }, 'CHECKER_VERSION_NOT_NEXT'],
    ['the number of one that is there', { versionNumber: 1 }, 'CHECKER_VERSION_NOT_NEXT'],
    ['the id of one that is there', { contractId: version(1).id }, 'CHECKER_CONTRACT_IMMUTABLE'],
    ['another family', { verifierId: 'vfr_anotherone00' }, 'CHECKER_VERIFIER_MISMATCH'],
  ])('of new terms that claims %s is refused', (_what, claim, code) => {
    const claimed = candidate({ contract: OTHER_TERMS, ...claim });
    expect(() => planPublication(family([version(1)]), claimed)).toThrow(
      expect.objectContaining({ code }),
    );
  });

  it('that claims what it comes to is taken at its word', () => {
    const claims = { verifierId: VERIFIER, versionNumber: 2 };
    const next = planPublication(
      family([version(1)]),
      candidate({ contract: OTHER_TERMS, ...claims }),
    );
    expect(next).toMatchObject({ kind: 'new_contract', versionNumber: 2 });
    const same = { verifierId: VERIFIER, versionNumber: 1, contractId: version(1).id };
    expect(planPublication(family([version(1)]), candidate(same))).toMatchObject({
      kind: 'same_contract',
    });
  });

  it('of terms that are there, under another id or number, is refused', () => {
    for (const claim of [{ versionNumber: 2 }, { contractId: 'vct_anotherone00' }]) {
      expect(() => planPublication(family([version(1)]), candidate(claim))).toThrow(
        expect.objectContaining({ code: 'CHECKER_VERSION_NOT_NEXT' }),
      );
    }
  });
});
