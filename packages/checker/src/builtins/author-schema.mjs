// Runs here in a thread and in containers, so that authors' schemas mean the same in both.
import { EXACT_KEYWORDS } from './exact-keywords.mjs';

/** As deep as any JSON of an author's that is read. */
const SCHEMA_DEPTH_MAX = 64;
const PROBLEMS_MAX = 5;

/**
 * Makes a check of a JSON Schema 2020-12 of an author's: local references only, formats are annotations. The check
 * answers the first problems of a value, or null. Throws an Error that says what is wrong with the schema; a check
 * may throw one too, and may never end.
 *
 * @param {unknown} schema Of JSON.parse.
 * @param {object} libraries
 * @param {typeof import('ajv/dist/2020.js').Ajv2020} libraries.Ajv2020
 * @param {(source: string) => { test(text: string): boolean }} libraries.compileRegex In linear time.
 * @returns {(value: unknown) => { pointer: string, message: string }[] | null}
 */
export function compileAuthorSchema(schema, { Ajv2020, compileRegex }) {
  const isObject = typeof schema === 'object' && schema !== null && !Array.isArray(schema);
  if (typeof schema !== 'boolean' && !isObject)
    throw new Error('expected an object, true or false');
  assertFit(schema, 0);
  const ajv = new Ajv2020({
    // Words that it does not know are annotations, as the specification says.
    strict: false,
    validateFormats: false,
    // All of them: time without end for whoever wants it.
    allErrors: false,
    // Else {} has everything that objects inherit, such as "constructor".
    ownProperties: true,
    // A copy at each reference would make code that grows with the power of their depth.
    inlineRefs: false,
    logger: false,
    code: { regExp: Object.assign(toPattern, { code: 'toPattern' }) },
  });
  for (const definition of EXACT_KEYWORDS) {
    ajv.removeKeyword(String(definition.keyword));
    ajv.addKeyword(definition);
  }
  const check = ajv.compile(schema);
  return (value) => {
    if (during(true, () => check(value)) === true) return null;
    return (check.errors ?? []).slice(0, PROBLEMS_MAX).map(({ instancePath, message }) => ({
      pointer: instancePath,
      message: message ?? 'is refused',
    }));
  };

  /**
   * The library tells patterns apart by their text alone.
   *
   * @param {string} source
   */
  function toPattern(source) {
    const regex = compileRegex(source);
    return {
      test: (/** @type {string} */ text) => during(false, () => regex.test(text)),
      toString: () => source,
    };
  }
}

const ROOT = Object.prototype;
const INHERITED = Object.getOwnPropertyDescriptors(ROOT);
let isBare = false;

/**
 * The library remembers which keys it has looked at in an object, and finds there what every object inherits: a key
 * "constructor" would pass `unevaluatedProperties`. While work is bare nothing is inherited, in this thread.
 *
 * @template T
 * @param {boolean} asBare
 * @param {() => T} work
 * @returns {T}
 */
function during(asBare, work) {
  const before = isBare;
  setBare(asBare);
  try {
    return work();
  } finally {
    setBare(before);
  }
}

/**
 * @param {boolean} asBare
 * @returns {void}
 */
function setBare(asBare) {
  if (asBare === isBare) return;
  isBare = asBare;
  if (!asBare) Object.defineProperties(ROOT, INHERITED);
  else for (const name of Reflect.ownKeys(INHERITED)) Reflect.deleteProperty(ROOT, name);
}

/**
 * Refuses what the library would take otherwise than its author, or the specification, means it.
 *
 * @param {unknown} part
 * @param {number} depth
 * @returns {void}
 */
function assertFit(part, depth) {
  if (typeof part !== 'object' || part === null) return;
  if (depth > SCHEMA_DEPTH_MAX) {
    throw new Error(`expected at most ${SCHEMA_DEPTH_MAX} levels, got more`);
  }
  const parts = Object.entries(part);
  const own = new Map(parts);
  const type = own.get('type');
  if (own.get('$async') === true) throw new Error('expected no $async, got it');
  if (own.get('nullable') === true && (typeof type === 'string' || Array.isArray(type))) {
    throw new Error(
      'expected "null" among the types, got nullable, which is no word of JSON Schema',
    );
  }
  for (const [key, each] of parts) {
    if (key === '__proto__') throw new Error('expected no key __proto__, got one');
    assertFit(each, depth + 1);
  }
}
