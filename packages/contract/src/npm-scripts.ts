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

/** Null where the base tree is not known, or where the command leaves the root, whose package.json this is about. */
export function npmScriptsOf(
  facts: Pick<BaseFacts, 'files'> | null,
  command: string,
): NpmScripts | null {
  if (facts === null || leavesRoot(command)) return null;
  return {
    textOf: (words) => {
      const name = rootScriptOf(words);
      const main = name === null ? null : npmScript(facts, name);
      if (main === null || leavesRoot(main)) return null;
      const parts = [npmScript(facts, `pre${name}`), main, npmScript(facts, `post${name}`)];
      // Each is run by a shell of its own; the line end also ends a comment.
      return parts
        .filter((part) => part !== null)
        .map((part) => `(${part}\n)`)
        .join(' && ');
    },
    isSkipped: (words) => {
      const name = rootScriptOf(words);
      return name !== null && words.includes('--if-present') && npmScript(facts, name) === null;
    },
  };
}

function leavesRoot(command: string): boolean {
  return /\b(cd|pushd)\b/.test(command);
}

// Options and words that send npm, pnpm or yarn to the package.json of another folder.
const ELSEWHERE =
  /^(--prefix|-C|--dir|--cwd|-w|--workspaces?|-ws|--filter|-F|-r|--recursive|workspaces?)(=|$)/;

/** The script of the root's package.json that the words run; null for none, and for another folder's. */
export function rootScriptOf(words: readonly LiteralWord[]): string | null {
  const target = scriptTargetOf(words);
  if (target?.kind !== 'npm_script') return null;
  return words.some((word) => word === null || ELSEWHERE.test(word)) ? null : target.name;
}
