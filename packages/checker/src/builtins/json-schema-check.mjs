// The builtin json-schema-check:1. Runs in a container, never in a program of ours.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { decideDocument } from './decide-document.mjs';

const require = createRequire(import.meta.url);
const { Ajv2020 } = require('ajv/dist/2020.js');
const { RE2JS } = require('re2js');

const REGEX_LENGTH_MAX = 1_024;
const REGEX_PROGRAM_MAX = 4_096;

const manifest = JSON.parse(readFileSync('/input/manifest.json', 'utf8'));
const answer = decideDocument(
  fileOf(manifest.reference, 'key', 'document_schema'),
  fileOf(manifest.artifacts, 'role', 'document'),
  { Ajv2020, compileRegex },
);
mkdirSync('/output/evidence', { recursive: true });
writeFileSync(
  '/output/evidence/summary.json',
  JSON.stringify({
    valid: answer.result === 'inconclusive' ? null : answer.result === 'verified',
    problems: answer.problems,
  }),
);
writeFileSync(
  '/output/result.json',
  JSON.stringify({ result: answer.result, reason: answer.reason }),
);

/**
 * @param {string} source
 * @returns {{ test(text: string): boolean }}
 */
function compileRegex(source) {
  if (source.length > REGEX_LENGTH_MAX) throw new Error('a pattern is too long');
  const compiled = RE2JS.compile(source);
  if (compiled.programSize() > REGEX_PROGRAM_MAX) throw new Error('a pattern is too large');
  return { test: (text) => compiled.test(text) };
}

/**
 * @param {{ path: string, role?: string, key?: string }[]} files
 * @param {'role' | 'key'} field
 * @param {string} name
 * @returns {Buffer}
 */
function fileOf(files, field, name) {
  const file = files.find((each) => each[field] === name);
  if (file === undefined) throw new Error(`expected a file with ${field} ${name}, got none`);
  return readFileSync(file.path);
}
