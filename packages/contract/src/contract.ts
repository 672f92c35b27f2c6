import { canonicalDigest, toPrintable, type Sha256Hex } from '@kervyxa/core';

import { contractError } from './errors.ts';
import { toPointer } from './pointer.ts';
import { ContractSchema, type Contract } from './schema.ts';

/**
 * The contract in canonical form: every optional field is filled in. Only the schema is checked here; whether the
 * contract may open is what `approveContract` answers.
 *
 * Throws CONTRACT_SCHEMA_INVALID, which names the first problem; `lintContract` gives all of them.
 */
export function parseContract(input: unknown): Contract {
  const parsed = ContractSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  const pointer = toPointer(first?.path ?? []);
  throw contractError('CONTRACT_SCHEMA_INVALID', {
    message: `expected a contract, got a problem at "${toPrintable(pointer)}": ${toPrintable(first?.message ?? '')}`,
    fix: 'Run kervyxa lint on the file: it lists every problem with its place.',
    details: { pointer, problemCount: parsed.error.issues.length },
  });
}

/** Names the contract: `sha256:` and the SHA-256 of the RFC 8785 text of its canonical form. */
export function contractDigest(contract: Contract): `sha256:${string}` {
  return canonicalDigest(contract);
}

/**
 * The contract with the digest of the hidden package that was handed over beside it.
 *
 * Throws CONTRACT_PACKAGE_MISMATCH where the contract already names another.
 */
export function withPackageDigest(contract: Contract, sha256: Sha256Hex): Contract {
  const named = contract.verifierPackage?.sha256 ?? sha256;
  if (named !== sha256) {
    throw contractError('CONTRACT_PACKAGE_MISMATCH', {
      message: `expected the hidden package with sha256 ${named}, got ${sha256}`,
      fix: 'Give the package that the contract was approved with, or approve the contract again.',
    });
  }
  return { ...contract, verifierPackage: { sha256 } };
}

/**
 * The contract with the digest of the dependency bundle that was handed over beside it.
 *
 * Throws CONTRACT_DEPENDENCIES_MISMATCH where the contract already names another.
 */
export function withDependenciesDigest(contract: Contract, sha256: Sha256Hex): Contract {
  const { environment } = contract;
  const named = environment.dependencies?.sha256 ?? sha256;
  if (named !== sha256) {
    throw contractError('CONTRACT_DEPENDENCIES_MISMATCH', {
      message: `expected the dependency bundle with sha256 ${named}, got ${sha256}`,
      fix: 'Give the bundle that the contract was approved with, or approve the contract again.',
    });
  }
  return { ...contract, environment: { ...environment, dependencies: { sha256 } } };
}

/**
 * The contract with the digest of the one checker package that was handed over beside it, in each criterion that names
 * none. Where several were handed over, or none, criteria stay as they are.
 *
 * Throws CONTRACT_CHECKER_MISMATCH for a package that no criterion names in the end, where all name one.
 */
export function withCheckerDigests(contract: Contract, digests: readonly Sha256Hex[]): Contract {
  const [only] = new Set(digests).size === 1 ? digests : [];
  const criteria = contract.criteria.map((criterion) =>
    criterion.type === 'checker' && criterion.checker === null && only !== undefined
      ? { ...criterion, checker: { sha256: only, runtime: null } }
      : criterion,
  );
  const named = checkerDigestsOf({ criteria });
  const idle = digests.find((sha256) => !named.includes(sha256));
  const isOpen = criteria.some((each) => each.type === 'checker' && each.checker === null);
  if (idle === undefined || isOpen) return { ...contract, criteria };
  throw contractError('CONTRACT_CHECKER_MISMATCH', {
    message: `expected checker packages that criteria name (${named.join(', ') || 'none does'}), got ${idle}`,
    fix: 'Give the folders that the criteria name in checker.sha256; of one folder only it may be left out.',
  });
}

/** Every checker package that the contract names, each once. */
export function checkerDigestsOf({ criteria }: Pick<Contract, 'criteria'>): Sha256Hex[] {
  return [
    ...new Set(
      criteria.flatMap((criterion) =>
        criterion.type === 'checker' && criterion.checker !== null
          ? [criterion.checker.sha256]
          : [],
      ),
    ),
  ];
}
