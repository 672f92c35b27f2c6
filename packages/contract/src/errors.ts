import { defineErrors } from '@kervyxa/core';

const CALLER = { fault: 'caller', retryable: false, httpStatus: 422, exitCode: 2 } as const;

const family = defineErrors({
  CONTRACT_SCHEMA_INVALID: {
    ...CALLER,
    meaning: 'The document is not a kervyxa.contract.v1 contract.',
  },
  CONTRACT_PACKAGE_MISMATCH: {
    ...CALLER,
    meaning: 'The hidden package given is not the one that the contract names.',
  },
  CONTRACT_DEPENDENCIES_MISMATCH: {
    ...CALLER,
    meaning: 'The dependency bundle given is not the one that the contract names.',
  },
  CONTRACT_CHECKER_MISMATCH: {
    ...CALLER,
    meaning: 'No criterion of the contract names a checker package that is given.',
  },
  CONTRACT_TEXT_TOO_LARGE: {
    ...CALLER,
    httpStatus: 413,
    meaning: 'The contract file is larger than 1 MiB.',
  },
  CONTRACT_TEXT_NOT_UTF8: { ...CALLER, meaning: 'The contract file is not UTF-8 text.' },
  CONTRACT_TEXT_SYNTAX: {
    ...CALLER,
    meaning: 'The contract is not valid JSON, or not valid YAML where that is taken.',
  },
  CONTRACT_TEXT_TOO_DEEP: {
    ...CALLER,
    meaning: 'The contract file nests more than 64 levels deep.',
  },
  CONTRACT_KEY_DUPLICATED: {
    ...CALLER,
    meaning: 'An object of the contract file has the same key twice.',
  },
  CONTRACT_VALUE_NOT_JSON: {
    ...CALLER,
    meaning: 'The contract file holds something that JSON can not: an alias, a tag, a date, NaN.',
  },
  CONTRACT_REGEX_REFUSED: {
    ...CALLER,
    meaning: 'A pattern is not a regular expression that RE2 accepts within the limits.',
  },
});

export type ContractErrorCode = keyof typeof CONTRACT_ERRORS;

export const CONTRACT_ERRORS = family.table;
export const contractError = family.create;
