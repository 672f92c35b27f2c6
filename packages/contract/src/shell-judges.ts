import { parse, type Statement, type SyntaxNode } from 'unbash';

import { constantStatus } from './shell-constants.ts';
import { callWordsOf, fixedScriptOf, pipedScriptOf, pipedWordsOf } from './shell-nested.ts';
import { wordsOf, type LiteralWord } from './shell-words.ts';

/**
 * The simple commands whose exit status can become the command line's own, as words. Earlier links of an `&&` chain
 * can only stop it: they are no judges, as `generate && compare` shows.
 */
export function judgingCalls(command: string): (readonly LiteralWord[])[] {
  return judgesOfList(parse(command).commands, 0);
}

const NESTING_MAX = 32;

function judgesOfList(statements: readonly Statement[], depth: number): (readonly LiteralWord[])[] {
  const hasErrexit = statements.some(({ command }) => setsErrexit(command));
  const judging = hasErrexit ? statements : statements.slice(-1);
  return judging.flatMap(({ command }) => judgesOf(command, depth + 1));
}

function judgesOf(node: SyntaxNode, depth: number): (readonly LiteralWord[])[] {
  if (depth > NESTING_MAX) return [];
  const below = (child: SyntaxNode) => judgesOf(child, depth + 1);
  switch (node.type) {
    case 'Command': {
      if (node.name === undefined) return [];
      const inner = fixedScriptOf(node);
      return inner === null ? [callWordsOf(node)] : judgesOfList(parse(inner).commands, depth);
    }
    case 'AndOr': {
      // `check || exit 1`: what stands before the last `||` judges too.
      const lastOr = node.operators.lastIndexOf('||');
      const before = lastOr < 0 ? [] : node.commands.slice(0, lastOr + 1);
      return [...before, ...node.commands.slice(-1)].flatMap(below);
    }
    case 'Pipeline': {
      const inner = pipedScriptOf(node, node.commands.length - 1)?.text ?? null;
      if (inner !== null) return judgesOfList(parse(inner).commands, depth);
      const piped = pipedWordsOf(node);
      return piped === null ? node.commands.slice(-1).flatMap(below) : [piped];
    }
    case 'Redirected':
      return below(node.command);
    case 'BraceGroup':
    case 'Subshell':
      return judgesOfList(node.body.commands, depth);
    case 'CompoundList':
      return judgesOfList(node.commands, depth);
    case 'If':
      return [
        node.clause,
        node.then,
        ...node.elif.flatMap((branch) => [branch.clause, branch.then]),
        ...(node.else === undefined ? [] : [node.else]),
      ].flatMap(below);
    case 'While':
    case 'For':
      return below(node.body);
    default:
      return [];
  }
}

function setsErrexit(node: SyntaxNode): boolean {
  if (node.type !== 'Command') return false;
  const [program, ...args] = wordsOf(node);
  return (
    program === 'set' && args.some((word) => /^-[a-z]*e/.test(word ?? '') || word === 'errexit')
  );
}

/** Judges that do something: `exit 1` and `true` judge nothing by themselves. */
export function isRealCall(words: readonly LiteralWord[]): boolean {
  return constantStatus(words) === null && words[0] !== 'exit' && words[0] !== 'return';
}
