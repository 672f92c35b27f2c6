import { valueAt } from './draft.ts';
import type { BaseFacts } from './facts.ts';

/** The root `package.json` of the base as JSON, or null where there is none that parses. */
function packageJsonOf(facts: Pick<BaseFacts, 'files'> | null): unknown {
  const text = facts?.files.get('package.json');
  if (text === undefined) return null;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Names of the packages that the base declares. */
export function localPackages(facts: BaseFacts | null): ReadonlySet<string> {
  const json = packageJsonOf(facts);
  return new Set(
    ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((key) => {
      const group = valueAt(json, [key]);
      return typeof group === 'object' && group !== null ? Object.keys(group) : [];
    }),
  );
}

/** The command of an npm script of the base, or null. */
export function npmScript(facts: Pick<BaseFacts, 'files'> | null, name: string): string | null {
  const script = valueAt(packageJsonOf(facts), ['scripts', name]);
  return typeof script === 'string' && script.length <= 8_192 ? script : null;
}
