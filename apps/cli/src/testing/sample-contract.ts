import { parseContract, type Contract, type ContractInput } from '@kervyxa/contract';
import { helloContract } from '@kervyxa/contract/testing';

/** A contract for tests that approval has nothing against; its one criterion is also what protects behaviour. */
export function contractInput(): ContractInput {
  return helloContract('b'.repeat(40));
}

export function contractOf(): Contract {
  return parseContract(contractInput());
}
