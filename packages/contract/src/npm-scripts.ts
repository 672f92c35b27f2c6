import { npmScript } from './package-json.ts';
import type { BaseFacts } from './facts.ts';
import { scriptTargetOf } from './script-targets.ts';
import type { LiteralWord } from './shell-words.ts';

/** The scripts of the base's package.json. */
export interface NpmScripts {
  /** What the words of an `npm test`, `npm run NAME` and the like run, pre and post scripts included; else null. */
  textOf(words: readonly LiteralWord[]): string | null;
  /** The words ask npm to succeed where the script is missing, and it is. */
  isSkipped(words: readonly LiteralWord[]): boolean;
}

/** Null where the base tree is not known. */
export function npmScriptsOf(facts: BaseFacts | null): NpmScripts | null {
  if (facts === null) return null;
  return {
    textOf: (words) => {
      const target = scriptTargetOf(words);
      if (target?.kind !== 'npm_script') return null;
      const { name } = target;
      const main = npmScript(facts, name);
      if (main === null) return null;
      const parts = [npmScript(facts, `pre${name}`), main, npmScript(facts, `post${name}`)];
      // Each is run by a shell of its own; the line end also ends a comment.
      return parts
        .filter((part) => part !== null)
        .map((part) => `(${part}\n)`)
        .join(' && ');
    },
    isSkipped: (words) => {
      const target = scriptTargetOf(words);
      if (target?.kind !== 'npm_script' || !words.includes('--if-present')) return false;
      return npmScript(facts, target.name) === null;
    },
  };
}
