import * as fc from 'fast-check';

/** One change of some bytes: what a broken disk, a bad transfer or a curious solver would do. */
type Edit =
  | { readonly kind: 'flip'; readonly at: number; readonly to: number }
  | { readonly kind: 'cut'; readonly at: number; readonly length: number }
  | { readonly kind: 'insert'; readonly at: number; readonly bytes: Uint8Array };

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ kind: fc.constant('flip'), at: fc.nat(), to: fc.nat(255) }),
  fc.record({ kind: fc.constant('cut'), at: fc.nat(), length: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ kind: fc.constant('insert'), at: fc.nat(), bytes: fc.uint8Array({ maxLength: 4 }) }),
);

/** Bytes as they are, or with a few changes. */
export function edited(bytes: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  return fc.tuple(bytes, fc.array(edit, { maxLength: 3 })).map(([whole, edits]) => {
    let current = Buffer.from(whole);
    for (const each of edits) current = carryOut(current, each);
    return current;
  });
}

function carryOut(bytes: Buffer<ArrayBuffer>, change: Edit): Buffer<ArrayBuffer> {
  const at = change.at % (bytes.length + 1);
  if (change.kind === 'cut') {
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + change.length)]);
  }
  if (change.kind === 'insert') {
    return Buffer.concat([bytes.subarray(0, at), change.bytes, bytes.subarray(at)]);
  }
  const flipped = Buffer.from(bytes);
  if (at < flipped.length) flipped[at] = change.to;
  return flipped;
}

/** Words of a language, one after the other. */
export function soup(words: readonly string[], lengthMax = 40): fc.Arbitrary<string> {
  return fc.array(fc.constantFrom(...words), { maxLength: lengthMax }).map((all) => all.join(''));
}

/** A JSON document with one of its values, at any depth, taken away or replaced. */
export function mutated(document: unknown): fc.Arbitrary<unknown> {
  const places = placesOf(document);
  const change = fc.tuple(
    fc.constantFrom(...places),
    fc.oneof(fc.constant(undefined), fc.jsonValue(), fc.constantFrom(...ODD_VALUES)),
  );
  return fc
    .array(change, { minLength: 1, maxLength: 2 })
    .map((changes) =>
      changes.reduce(
        (current: unknown, [place, value]) => replaced(current, place, value),
        document,
      ),
    );
}

const ODD_VALUES = [
  null,
  true,
  0,
  -1,
  1e308,
  0.5,
  '',
  ' ',
  '0',
  '__proto__',
  [],
  {},
  [[]],
  '\ud800',
];

type Place = readonly (string | number)[];

function placesOf(value: unknown, above: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [above];
  const keys = Array.isArray(value) ? [...value.keys()] : [...Object.keys(value), '__proto__'];
  return [above, ...keys.flatMap((key) => placesOf(ownValue(value, key), [...above, key]))];
}

/** Undefined takes the value away. */
function replaced(value: unknown, [key, ...below]: Place, to: unknown): unknown {
  if (key === undefined) return to;
  if (typeof value !== 'object' || value === null) return value;
  const inside = replaced(ownValue(value, key), below, to);
  if (Array.isArray(value)) {
    return value.flatMap((each: unknown, index) => {
      if (index !== key) return [each];
      return inside === undefined ? [] : [inside];
    });
  }
  const others = Object.entries(value).filter(([name]) => name !== key);
  return Object.fromEntries(inside === undefined ? others : [...others, [key, inside]]);
}

function ownValue(value: object, key: string | number): unknown {
  return Object.hasOwn(value, key) ? (value as Record<string | number, unknown>)[key] : undefined;
}
