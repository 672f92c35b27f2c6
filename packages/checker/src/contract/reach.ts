import { isJsonObject, LIST_LENGTHS } from './schema-parts.ts';

/** More than any object may have, so that what is left out comes with much that is refused. */
const MEMBERS_MAX = 200;
/** The same of `reference` in a fixture, whose members are slots. */
const REFERENCE_MEMBERS_MAX = 20;

/**
 * The part of a document that is looked at for what is wrong with it: of what is too long the first elements, one
 * more than allowed at least. A megabyte of brackets would otherwise be a hundred megabytes of findings.
 */
export function withinReach(document: unknown): unknown {
  return cut(document, '');
}

function cut(value: unknown, name: string): unknown {
  if (Array.isArray(value)) {
    const lengths: Readonly<Record<string, number>> = LIST_LENGTHS;
    const length = Object.hasOwn(lengths, name) ? lengths[name] : undefined;
    // Other lists stand where none belongs, or in an author's own schema: nobody looks into them.
    return length === undefined ? value : value.slice(0, length + 1).map((each) => cut(each, ''));
  }
  if (!isJsonObject(value) || name === 'evidence_schema') return value;
  const members = Object.entries(value);
  const max = name === 'reference' ? REFERENCE_MEMBERS_MAX : MEMBERS_MAX;
  return Object.fromEntries(members.slice(0, max).map(([key, each]) => [key, cut(each, key)]));
}
