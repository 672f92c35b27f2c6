import { deepEqual, ok } from 'node:assert/strict';
import {
  approveContract,
  contractDigest,
  ContractSchema,
  compileLinearRegex,
  FINDING_TABLE,
  parseContract,
} from '@kervyxa/contract';
import { helloContract } from '@kervyxa/contract/testing';
import { canonicalJson, sha256Hex } from '@kervyxa/core';
import * as fc from 'fast-check';
import { mutated, soup } from '../arbitraries.ts';
import { writeCanonically } from '../naive-json.ts';
import { answerOf, defineTarget } from '../target.ts';

const BASE = 'ab'.repeat(20);
const FACTS = {
  commit: BASE,
  paths: ['check.sh', 'hello.sh', 'package.json', 'check/judge.js'],
  files: new Map([
    ['check.sh', 'sh hello.sh\n'],
    ['package.json', '{"scripts":{"test":"node check/judge.js","pretest":"sh hello.sh"}}'],
  ]),
  lfsPointers: [],
};

export const documentTarget = defineTarget('contract document', {
  input: fc.oneof(mutated(helloContract(BASE)), fc.jsonValue()),
  async holds(document) {
    const { approved, contract, digest, findings } = approveContract(document, FACTS);
    for (const { code } of findings) ok(Object.hasOwn(FINDING_TABLE, code));
    if (contract === null) ok(!approved);
    const answer = await answerOf(() => parseContract(document));
    deepEqual('value' in answer ? answer.value : null, contract);
    if (contract === null) return;
    // What was accepted is named by its own text, which is accepted again and is the same.
    const text = writeCanonically(contract);
    deepEqual(digest, `sha256:${sha256Hex(text)}`);
    deepEqual(contractDigest(ContractSchema.parse(JSON.parse(text))), digest);
    deepEqual(holdsAll(contract, document), true);
  },
});

const WORDS = [
  'sh ',
  'check.sh',
  ' && ',
  ' || ',
  ' | ',
  '; ',
  '\n',
  '&',
  '(',
  ')',
  '{ ',
  ' }',
  '`',
  '$(',
  '${',
  '}',
  '$',
  '"',
  "'",
  '\\',
  '#',
  '<<E\n',
  'E\n',
  '>',
  '<',
  '2>&1',
  '!',
  'if ',
  'then ',
  'else ',
  'fi',
  'for x in ',
  'do ',
  'done',
  'case x in ',
  'esac',
  'eval ',
  'exec ',
  'node ',
  '-e ',
  'npm test',
  'env ',
  'A=1 ',
  '((',
  '))',
  '[ ',
  ' ]',
  '*',
  '\0',
  '\u00a0',
  'curl x',
  'KERVYXA_METRIC=1',
  '$KERVYXA_VERIFIER_PACKAGE',
];

export const commandTarget = defineTarget('command of a contract', {
  input: fc.tuple(
    soup(WORDS, 60),
    fc.constantFrom('exit_code' as const, 'regression' as const),
    fc.constantFrom('public' as const, 'hidden' as const),
  ),
  holds([command, type, visibility]) {
    const contract = helloContract(BASE);
    const shared = { title: 'x', visibility, command, timeoutSeconds: 20 };
    contract.criteria.push({ ...shared, id: 'x', type });
    contract.environment.setup = [{ command, timeoutSeconds: 20 }];
    const { findings } = approveContract(contract, FACTS);
    for (const { message, fix } of findings) ok(message !== '' && fix !== '');
  },
});

const REGEX = [
  'a',
  'b',
  '.',
  '*',
  '+',
  '?',
  '(',
  ')',
  '|',
  '[',
  ']',
  '^',
  '$',
  '{2}',
  '{1,3}',
  '\\d',
  '\\b',
  '(?:',
  '(?i)',
  '(?=',
  '(?<n>',
  '\\1',
  '[^a]',
  '-',
  'é',
  '\\p{L}',
  '{1000}',
];

export const regexTarget = defineTarget('pattern of an assertion', {
  input: fc.tuple(soup(REGEX, 12), soup(['a', 'b', 'é', '\n', '1', ' '], 12)),
  async holds([source, text]) {
    const answer = await answerOf(() => compileLinearRegex(source));
    if ('refused' in answer) return;
    const found = answer.value.test(text);
    // Letters, joined by what every engine reads alike.
    if (!/^[ab]+(?:[|.][ab]+)*$/.test(source)) return;
    deepEqual(found, new RegExp(source, 'u').test(text));
  },
});

/** Everything of the document is in the contract as it was; the contract may have more. */
function holdsAll(contract: unknown, document: unknown): boolean {
  if (typeof document !== 'object' || document === null) {
    return canonicalJson(contract) === canonicalJson(document);
  }
  if (typeof contract !== 'object' || contract === null) return false;
  return Object.entries(document).every(
    ([key, inside]) =>
      Object.hasOwn(contract, key) && holdsAll((contract as Record<string, unknown>)[key], inside),
  );
}
