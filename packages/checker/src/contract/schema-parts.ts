import { z } from 'zod';

/** How many elements each list of a contract may have, by its name. */
export const LIST_LENGTHS = {
  reference_inputs: 10,
  stages: 100,
  reference_input_slots: 10,
  required_artifacts: 10,
  media_types: 10,
  conformance_fixtures: 100,
  artifacts: 10,
  /** Of an acceptance. */
  value: 1_000,
} as const;

const KEY = /^[a-z0-9]+(_[a-z0-9]+)*$/;

/** A machine-readable name: `clause_check`. */
export function keyOf(lengthMax: number) {
  return z.string().regex(KEY, 'expected lower-case letters, digits and single _').max(lengthMax);
}

/** Text of so many characters; characters as JSON Schema counts them, which are not UTF-16 units. */
export function textOf(max: number, { min = 1 }: { min?: number } = {}) {
  return z.string().refine(hasLength(min, max), lengthProblem(min, max)).meta({
    minLength: min,
    maxLength: max,
  });
}

/** The same for text of one form. */
export function patternOf(pattern: RegExp, problem: string, max: number) {
  return z
    .string()
    .regex(pattern, problem)
    .refine(hasLength(1, max), lengthProblem(1, max))
    .meta({ minLength: 1, maxLength: max });
}

function hasLength(min: number, max: number): (text: string) => boolean {
  return (text) => {
    const length = lengthOf(text, max);
    return length >= min && length <= max;
  };
}

function lengthProblem(min: number, max: number): string {
  return `expected ${min} to ${max} characters`;
}

/** Counts no further than just beyond `max`. */
function lengthOf(text: string, max: number): number {
  // A character has at most two units.
  if (text.length > 2 * max) return max + 1;
  return [...text].length;
}

/** A list of which no two elements are equal; the elements are strings. */
export function uniqueListOf<Item extends z.ZodType<string>>(item: Item, lengthMax: number) {
  return z
    .array(item)
    .max(lengthMax)
    .refine((list) => new Set(list).size === list.length, 'expected every element once')
    .meta({ uniqueItems: true });
}

/** Media types that are let in; empty: any. */
export function mediaTypesOf() {
  return uniqueListOf(textOf(120), LIST_LENGTHS.media_types);
}

/** A JSON Schema of an author, kept exactly as it came: what is in it is judged where it is used. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function jsonObjectOf() {
  return z.custom<JsonObject>(isJsonObject, 'expected an object').meta({ type: 'object' });
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
