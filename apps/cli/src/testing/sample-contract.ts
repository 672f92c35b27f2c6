import { parseContract, type Contract, type ContractInput } from '@kervyxa/contract';
import { Sha256HexSchema } from '@kervyxa/core';
import { helloContract } from '@kervyxa/contract/testing';

/** A contract for tests that approval has nothing against; its one criterion is also what protects behaviour. */
export function contractInput(): ContractInput {
  return helloContract('b'.repeat(40));
}

export function contractOf(): Contract {
  return parseContract(contractInput());
}

/** A checker package of the fixtures, with a stage `structure` and a role `document`. */
export const CHECKER_FOLDER = 'fixtures/checkers/required-keys/package';
export const TWO_CHECKERS = [CHECKER_FOLDER, 'fixtures/checkers/text-answer/package'];

/** The same contract with a criterion for that package more, other fields as given. */
export function withChecker(sha256: string | null, fields: object = {}): ContractInput {
  const contract = contractInput();
  const checker = {
    id: 'keys',
    title: 'The document has its keys',
    type: 'checker' as const,
    visibility: 'public' as const,
    checker: sha256 === null ? null : { sha256: Sha256HexSchema.parse(sha256) },
    stage: 'structure',
    artifacts: [{ role: 'document', path: 'hello.sh' }],
    timeoutSeconds: 60,
    ...fields,
  };
  return { ...contract, criteria: [...contract.criteria, checker] };
}
