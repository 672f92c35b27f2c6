// The builtin json-schema-check:1. Runs in a container, never in a program of ours.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileAuthorSchema } from './author-schema.mjs';

const require = createRequire(import.meta.url);
const { Ajv2020 } = require('ajv/dist/2020.js');
const { RE2JS } = require('re2js');

const DOCUMENT_DEPTH_MAX = 256;
const REGEX_LENGTH_MAX = 1_024;
const REGEX_PROGRAM_MAX = 4_096;

/**
 * @typedef {{ pointer: string, message: string }} Problem
 * @typedef {{ result: 'verified' | 'refuted' | 'inconclusive', reason: string, problems: Problem[] }} Answer
 */

const manifest = JSON.parse(readFileSync('/input/manifest.json', 'utf8'));
const answer = decide(
  fileOf(manifest.reference, 'key', 'document_schema'),
  fileOf(manifest.artifacts, 'role', 'document'),
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
 * A schema that can't be used is no fault of the document's; a document that no reader reads is no document.
 *
 * @param {Buffer} schemaBytes
 * @param {Buffer} documentBytes
 * @returns {Answer}
 */
function decide(schemaBytes, documentBytes) {
  let check;
  try {
    check = compileAuthorSchema(readJson(schemaBytes), { Ajv2020, compileRegex });
  } catch (error) {
    return toAnswer('inconclusive', `the schema can not be used: ${messageOf(error)}`);
  }
  let document;
  try {
    document = readJson(documentBytes);
  } catch (error) {
    return toAnswer('refuted', `the document must be JSON: ${messageOf(error)}`);
  }
  try {
    const found = check(document);
    if (found === null) return toAnswer('verified', 'the document satisfies the schema');
    return { ...toAnswer('refuted', 'the document does not satisfy the schema'), problems: found };
  } catch (error) {
    return toAnswer('inconclusive', `the schema can not be applied: ${messageOf(error)}`);
  }
}

/**
 * Strict JSON: UTF-8, no key twice in an object, numbers that a double can hold, a bounded depth. Two readers must not
 * be able to see two documents.
 *
 * @param {Buffer} bytes
 * @returns {unknown}
 */
function readJson(bytes) {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  const value = JSON.parse(text);
  assertPlain(text);
  return value;
}

/**
 * @param {string} text Known to be JSON.
 * @returns {void}
 */
function assertPlain(text) {
  /** @type {(Set<string> | null)[]} The keys of each object that is open; null for a list. */
  const open = [];
  const number = /[-+.eE0-9]+/y;
  for (let at = 0; at < text.length; at += 1) {
    const first = text[at];
    if (first === '{' || first === '[') open.push(first === '{' ? new Set() : null);
    if (first === '}' || first === ']') open.pop();
    if (open.length > DOCUMENT_DEPTH_MAX) throw new Error(`more than ${DOCUMENT_DEPTH_MAX} levels`);
    if (first === '"') {
      const start = at;
      at = endOfString(text, at);
      if (isBeforeColon(text, at + 1)) addKey(open.at(-1), JSON.parse(text.slice(start, at + 1)));
    } else if (first === '-' || (first !== undefined && first >= '0' && first <= '9')) {
      number.lastIndex = at;
      const digits = number.exec(text)?.[0] ?? '';
      if (!Number.isFinite(Number(digits))) throw new Error('a number is too large');
      at += digits.length - 1;
    }
  }
}

/**
 * @param {string} text
 * @param {number} start Of the first quote.
 * @returns {number} Where the last quote is.
 */
function endOfString(text, start) {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

/**
 * @param {string} text
 * @param {number} start
 * @returns {boolean}
 */
function isBeforeColon(text, start) {
  const next = /[^ \t\r\n]/g;
  next.lastIndex = start;
  return next.exec(text)?.[0] === ':';
}

/**
 * @param {Set<string> | null | undefined} keys
 * @param {string} key
 * @returns {void}
 */
function addKey(keys, key) {
  if (keys?.has(key))
    throw new Error(`the key ${JSON.stringify(key.slice(0, 100))} stands twice in one object`);
  keys?.add(key);
}

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

/**
 * @param {Answer['result']} result
 * @param {string} reason
 * @returns {Answer}
 */
function toAnswer(result, reason) {
  return { result, reason, problems: [] };
}

/**
 * @param {unknown} error
 * @returns {string}
 */
function messageOf(error) {
  return error instanceof Error ? error.message.slice(0, 300) : String(error);
}
