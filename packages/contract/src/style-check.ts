import type { BaseFacts } from './facts.ts';
import { judgingToolOf } from './judging-tools.ts';
import { npmScriptsOf } from './npm-scripts.ts';
import { shellCalls } from './shell-walk.ts';

const NPM_NESTING_MAX = 8;

/**
 * Whether a command does no more than read how the code is written: eslint, prettier, tsc, ruff, black and the like,
 * also by npm scripts of that `package.json` (null: none is known).
 */
export function isStyleCheck(command: string, packageJson: string | null): boolean {
  const files = new Map(packageJson === null ? [] : [['package.json', packageJson]]);
  return isStyleCheckAt(command, { files }, 0);
}

function isStyleCheckAt(command: string, facts: Pick<BaseFacts, 'files'>, depth: number): boolean {
  if (depth > NPM_NESTING_MAX) return false;
  const scripts = npmScriptsOf(facts, command);
  const calls = shellCalls(command).filter(({ words: [program] }) => program !== 'cd');
  return (
    calls.length > 0 &&
    calls.every(({ words }) => {
      if (judgingToolOf(words)?.readsStyle === true) return true;
      const script = scripts?.textOf(words) ?? null;
      return script !== null && isStyleCheckAt(script, facts, depth + 1);
    })
  );
}
