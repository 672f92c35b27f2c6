import { Sha256HexSchema } from '@kervyxa/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  checkerDigestsOf,
  contractDigest,
  parseContract,
  withCheckerDigests,
  withDependenciesDigest,
  withPackageDigest,
} from './contract.ts';
import { checker, editedContract, goodContract, REMOVE } from './testing/good-contract.ts';

/** The same JSON with the keys of every object in an order drawn from `order`. */
function shuffleKeys(value: unknown, order: { nextDouble: () => number }): unknown {
  if (Array.isArray(value)) return value.map((inner: unknown) => shuffleKeys(inner, order));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => ({
    rank: order.nextDouble(),
    pair: [key, shuffleKeys(inner, order)] as const,
  }));
  return Object.fromEntries(
    entries.toSorted((left, right) => left.rank - right.rank).map(({ pair }) => pair),
  );
}

describe('parseContract', () => {
  it('fills in what may be left out', () => {
    expect(parseContract(goodContract())).toMatchObject({
      inputs: [],
      environment: { dependencies: null },
      constraints: { editablePaths: [], notes: '' },
      criteria: [{ expectedExitCode: 0 }, { expectedExitCode: 0 }, {}],
      submission: { invited: [] },
      acknowledgements: [],
      proof: [],
    });
    const bare = editedContract([
      ['/environment/setup', REMOVE],
      ['/verifierPackage', REMOVE],
    ]);
    expect(parseContract(bare)).toMatchObject({
      environment: { setup: [] },
      verifierPackage: null,
    });
  });

  it('changes nothing when it parses its own answer', () => {
    const contract = parseContract(goodContract());
    expect(parseContract(contract)).toEqual(contract);
  });

  it('names the place of the first problem', () => {
    expect(() => parseContract(editedContract([['/environment/memoryMB', 'lots']]))).toThrow(
      expect.objectContaining({
        code: 'CONTRACT_SCHEMA_INVALID',
        message: expect.stringContaining('/environment/memoryMB'),
      }),
    );
  });

  it.each([null, undefined, 7, 'x', [], {}])('refuses %j', (input) => {
    expect(() => parseContract(input)).toThrow(
      expect.objectContaining({ code: 'CONTRACT_SCHEMA_INVALID' }),
    );
  });
});

// Keeps R-CONTRACT-STRICT.
describe('contractDigest', () => {
  const digest = contractDigest(parseContract(goodContract()));

  it('is the SHA-256 of the RFC 8785 text', async () => {
    const sorted = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(sorted);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .toSorted(([left], [right]) => (left < right ? -1 : 1))
          .map(([key, inner]) => [key, sorted(inner)]),
      );
    };
    // The contract is ASCII with whole numbers, for which sorted keys are all that RFC 8785 asks.
    const text = JSON.stringify(sorted(parseContract(goodContract())));
    const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
    expect(digest).toBe(`sha256:${Buffer.from(hash).toString('hex')}`);
  });

  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (stream) => {
        const order = { nextDouble: () => stream.next().value };
        expect(contractDigest(parseContract(shuffleKeys(goodContract(), order)))).toBe(digest);
      }),
    );
  });

  it('does not depend on whether optional fields are written out', () => {
    const optional = [
      ['/inputs', []],
      ['/environment/dependencies', null],
      ['/constraints/editablePaths', []],
      ['/constraints/notes', ''],
      ['/criteria/0/expectedExitCode', 0],
      ['/submission/invited', []],
      ['/acknowledgements', []],
      ['/proof', []],
    ] as const;
    fc.assert(
      fc.property(fc.subarray([...optional]), (edits) => {
        expect(contractDigest(parseContract(editedContract(edits)))).toBe(digest);
      }),
    );
  });

  it.each([
    ['/environment/memoryMB', 513],
    ['/constraints/notes', 'n'],
    ['/criteria/0/expectedExitCode', 1],
    ['/criteria/0/title', 'Another'],
    ['/settlement/reward/amountMinor', '50001'],
    ['/acknowledgements', [{ code: 'CLOCK_IN_HARNESS', reason: 'r' }]],
    ['/proof', [{ commit: 'b'.repeat(40), expected: 'PASS' }]],
  ])('changes with %s', (pointer, value) => {
    expect(contractDigest(parseContract(editedContract([[pointer, value]])))).not.toBe(digest);
  });
});

describe('withPackageDigest', () => {
  const named = parseContract(goodContract());
  const unnamed = parseContract(editedContract([['/verifierPackage', REMOVE]]));
  const { sha256 } = named.verifierPackage ?? {};
  if (sha256 === undefined) throw new TypeError('expected the good contract to name a package');

  it('fills in the digest where the contract names none', () => {
    expect(withPackageDigest(unnamed, sha256)).toEqual(named);
  });

  it('accepts the package that the contract names', () => {
    expect(withPackageDigest(named, sha256)).toEqual(named);
  });

  it('refuses a package beside the one that the contract names', () => {
    const other = editedContract([['/verifierPackage', { sha256: '6'.repeat(64) }]]);
    expect(() => withPackageDigest(parseContract(other), sha256)).toThrow(
      expect.objectContaining({ code: 'CONTRACT_PACKAGE_MISMATCH' }),
    );
  });
});

describe('withDependenciesDigest', () => {
  const unnamed = parseContract(goodContract());
  const sha256 = Sha256HexSchema.parse('5'.repeat(64));
  const dependencies = { sha256 };
  const named = parseContract(editedContract([['/environment/dependencies', dependencies]]));

  it('fills in the digest where the contract names none, and accepts the one that it names', () => {
    expect(withDependenciesDigest(unnamed, sha256)).toEqual(named);
    expect(withDependenciesDigest(named, sha256)).toEqual(named);
  });

  it('refuses a bundle beside the one that the contract names', () => {
    const other = Sha256HexSchema.parse('6'.repeat(64));
    expect(() => withDependenciesDigest(named, other)).toThrow(
      expect.objectContaining({ code: 'CONTRACT_DEPENDENCIES_MISMATCH' }),
    );
  });
});

describe('withCheckerDigests', () => {
  const [first, second] = ['5', '6'].map((digit) => Sha256HexSchema.parse(digit.repeat(64)));
  if (first === undefined || second === undefined) throw new TypeError('expected two digests');
  const withCheckers = (...named: (string | null)[]) =>
    parseContract({
      ...goodContract(),
      criteria: named.map((sha256, index) =>
        checker({ id: `c${index}`, checker: sha256 === null ? null : { sha256 } }),
      ),
    });

  it('fills in the digest of one folder where criteria name none', () => {
    const filled = withCheckerDigests(withCheckers(null, second, null), [first]);
    expect(filled).toEqual(withCheckers(first, second, first));
  });

  it('guesses nothing where several folders are given', () => {
    const named = withCheckers(first, second, null);
    expect(withCheckerDigests(named, [first, second])).toEqual(named);
    expect(withCheckerDigests(withCheckers(null), [first, second])).toEqual(withCheckers(null));
  });

  it('refuses a folder that no criterion names', () => {
    expect(() => withCheckerDigests(withCheckers(first), [second])).toThrow(
      expect.objectContaining({ code: 'CONTRACT_CHECKER_MISMATCH' }),
    );
  });

  it('lists each package once that criteria name', () => {
    expect(checkerDigestsOf(withCheckers(second, null, first, second))).toEqual([second, first]);
  });

  it('leaves a criterion that was written before artifacts were known as it was', () => {
    const { artifacts, ...old } = checker() as { artifacts?: unknown };
    expect(artifacts).toHaveLength(1);
    expect(parseContract({ ...goodContract(), criteria: [old] }).criteria).toEqual([
      { ...old, checker: { sha256: first, runtime: null }, artifacts: [], summary: null },
    ]);
  });
});
