import { isJsonObject } from './schema-parts.ts';
import type { RuleBreach } from './rules.ts';

/**
 * Text that no canonical JSON and no database can hold: half a character, or NUL. Wherever it stands, in keys too, and
 * in an author's own schemas.
 */
export function textBreaches(document: unknown): RuleBreach[] {
  const breaches: RuleBreach[] = [];
  const walk = (value: unknown, path: readonly PropertyKey[]): void => {
    if (typeof value === 'string') {
      if (!isStorable(value)) breaches.push(breachAt(path, 'in a value'));
    } else if (Array.isArray(value)) {
      value.forEach((each, index) => walk(each, [...path, index]));
    } else if (isJsonObject(value)) {
      for (const [key, each] of Object.entries(value)) {
        if (isStorable(key)) walk(each, [...path, key]);
        else breaches.push(breachAt(path, 'in a key'));
      }
    }
  };
  walk(document, []);
  return breaches;
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
