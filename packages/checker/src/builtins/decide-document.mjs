import { compileAuthorSchema } from './author-schema.mjs';

const DOCUMENT_DEPTH_MAX = 256;
const TEXT_CHARACTERS_MAX = 300;

/**
 * @typedef {{ pointer: string, message: string }} Problem
 * @typedef {{ result: 'verified' | 'refuted' | 'inconclusive', reason: string, problems: Problem[] }} Answer
 */

/**
 * A schema that can't be used is no fault of the document's; a document that no reader reads is no document.
 *
 * @param {Uint8Array} schemaBytes
 * @param {Uint8Array} documentBytes
 * @param {Parameters<typeof compileAuthorSchema>[1]} libraries
 * @returns {Answer}
 */
export function decideDocument(schemaBytes, documentBytes, libraries) {
  let check;
  try {
    check = compileAuthorSchema(readJson(schemaBytes), libraries);
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
    const problems = found.map(({ pointer, message }) => ({
      pointer: cut(pointer),
      message: cut(message),
    }));
    return { ...toAnswer('refuted', 'the document does not satisfy the schema'), problems };
  } catch (error) {
    return toAnswer('inconclusive', `the schema can not be applied: ${messageOf(error)}`);
  }
}

/**
 * Strict JSON: UTF-8, no key twice in an object, numbers that a double can hold, a bounded depth. Two readers must not
 * be able to see two documents.
 *
 * @param {Uint8Array} bytes
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
  return cut(error instanceof Error ? error.message : String(error));
}

/**
 * Keys of a document are in it: they must not make an answer that is too long or that no reader of JSON takes.
 *
 * @param {string} text
 * @returns {string}
 */
function cut(text) {
  return text.slice(0, TEXT_CHARACTERS_MAX).toWellFormed();
}
