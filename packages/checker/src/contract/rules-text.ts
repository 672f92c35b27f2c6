import { isJsonObject } from './schema-parts.ts';
import type { RuleBreach } from './rules.ts';

/**
 * Text that no canonical JSON and no database can hold: half a character, or NUL. Wherever it stands, in keys too, and
 * in an author's own schemas.
 */
export function textBreaches(document: unknown): RuleBreach[] {
  const breaches: RuleBreach[] = [];
  const report = (place: Place | null, where: string): void => {
    if (breaches.length < BREACHES_MAX) breaches.push(breachAt(pathOf(place), where));
  };
  const walk = (value: unknown, place: Place | null): void => {
    if (typeof value === 'string') {
      if (!isStorable(value)) report(place, 'in a value');
    } else if (Array.isArray(value)) {
      value.forEach((each, key) => walk(each, { key, above: place }));
    } else if (isJsonObject(value)) {
      for (const [key, each] of Object.entries(value)) {
        if (isStorable(key)) walk(each, { key, above: place });
        else report(place, 'in a key');
      }
    }
  };
  walk(document, null);
  return breaches;
}

const BREACHES_MAX = 100;

interface Place {
  readonly key: PropertyKey;
  readonly above: Place | null;
}

function pathOf(place: Place | null): PropertyKey[] {
  return place === null ? [] : [...pathOf(place.above), place.key];
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

function breachAt(path: readonly PropertyKey[], where: string): RuleBreach {
  return {
    code: 'text_invalid',
    path,
    message: `expected whole characters and no NUL, got something else ${where}`,
    fix: 'Write the character itself, or both halves of its \\u escape.',
  };
}
