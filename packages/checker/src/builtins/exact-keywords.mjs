// Keywords of JSON Schema that the library decides otherwise than the specification for values that somebody makes up
// for that: it asks objects for their own `valueOf`, keeps texts as keys of an object, and divides in binary.

/** @type {import('ajv').FuncKeywordDefinition[]} */
export const EXACT_KEYWORDS = [
  {
    keyword: 'const',
    errors: false,
    error: { message: 'must be equal to constant' },
    compile: (/** @type {unknown} */ constant) => {
      const text = toText(constant);
      return (value) => toText(value) === text;
    },
  },
  {
    keyword: 'enum',
    schemaType: 'array',
    errors: false,
    error: { message: 'must be equal to one of the allowed values' },
    compile: (/** @type {unknown[]} */ values) => {
      const texts = new Set(values.map(toText));
      return (value) => texts.has(toText(value));
    },
  },
  {
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: false,
    error: { message: 'must NOT have duplicate items' },
    compile: (/** @type {boolean} */ isOn) => (/** @type {unknown[]} */ items) =>
      !isOn || new Set(items.map(toText)).size === items.length,
  },
  {
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    errors: false,
    error: { message: 'must be a multiple of a number' },
    compile: (/** @type {number} */ divisor) => (/** @type {number} */ value) =>
      isMultiple(value, divisor),
  },
];

/**
 * One text for each JSON value: equal values have equal ones.
 *
 * @param {unknown} value
 * @returns {string}
 */
function toText(value) {
  if (Array.isArray(value)) return `[${value.map(toText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const parts = Object.entries(value).map(
    ([key, each]) => `${JSON.stringify(key)}:${toText(each)}`,
  );
  return `{${parts.toSorted().join(',')}}`;
}

/**
 * By the decimal numbers that stand in the texts: 19.99 is a multiple of 0.01.
 *
 * @param {number} value
 * @param {number} divisor
 * @returns {boolean}
 */
function isMultiple(value, divisor) {
  const [digits, exponent] = toDecimal(value);
  const [unit, unitExponent] = toDecimal(divisor);
  const least = Math.min(exponent, unitExponent);
  const scale = (/** @type {number} */ more) => 10n ** BigInt(more - least);
  return (digits * scale(exponent)) % (unit * scale(unitExponent)) === 0n;
}

/**
 * @param {number} value
 * @returns {[digits: bigint, exponent: number]}
 */
function toDecimal(value) {
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}
