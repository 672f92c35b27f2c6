import type { z } from 'zod';
import { lintFindingOf, type LintFinding } from './finding.ts';

/** What the schema of a file has against a document, as findings. */
export function toShapeFindings(file: string, error: z.ZodError, document: unknown): LintFinding[] {
  return error.issues.flatMap((issue) => {
    const pointer = toPointer(issue.path);
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) =>
        lintFindingOf(
          'key_unknown',
          { file, pointer: `${pointer}${toPointer([key])}` },
          { message: 'expected only keys of the format', fix: 'Remove the key.' },
        ),
      );
    }
    const isMissing = valueAt(document, issue.path) === undefined;
    return [
      lintFindingOf(
        isMissing ? 'field_missing' : 'field_invalid',
        { file, pointer },
        { message: issue.message, fix: 'Correct the field; docs/checkers.md shows its form.' },
      ),
    ];
  });
}

function valueAt(document: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null) return undefined;
    return Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
  }, document);
}

/** A path of keys as a JSON Pointer (RFC 6901). */
export function toPointer(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
