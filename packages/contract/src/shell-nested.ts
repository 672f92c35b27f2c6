import type { Command, HereDoc, Pipeline, Redirect, SyntaxNode } from 'unbash';

import { INTERPRETER } from './script-targets.ts';
import {
  evalTextOf,
  innerScriptOf,
  literalOf,
  stdinShellOf,
  unwrapWords,
  wordsOf,
  type InnerScript,
  type LiteralWord,
} from './shell-words.ts';

/** The script that a command hands to a shell of its own: `sh -c TEXT`, or `sh` with a here-document. */
export function nestedScriptOf(node: Command): InnerScript | null {
  const words = unwrapWords(wordsOf(node));
  const inner = innerScriptOf(words);
  if (inner !== null) return inner;
  const shell = stdinShellOf(words);
  const text = hereDocOf(node);
  return shell === null || text === null ? null : { ...shell, text };
}

/** The same of an element of a pipe: `echo TEXT | sh`, `cat <<EOF | sh`. */
export function pipedScriptOf({ commands }: Pipeline, index: number): InnerScript | null {
  const [writer, reader] = [commands[index - 1], commands[index]];
  if (writer?.type !== 'Command' || reader?.type !== 'Command') return null;
  const shell = stdinShellOf(unwrapWords(wordsOf(reader)));
  const text = writtenTextOf(writer);
  return shell === null || text === null ? null : { ...shell, text };
}

/** The fixed text that a command runs as a script: in a shell of its own, or by `eval`. */
export function fixedScriptOf(node: Command): LiteralWord {
  return nestedScriptOf(node)?.text ?? evalTextOf(unwrapWords(wordsOf(node)));
}

/** Scripts anywhere in one node, its children aside. */
export function fixedScriptsOf(node: SyntaxNode): string[] {
  const found =
    node.type === 'Command'
      ? [fixedScriptOf(node)]
      : node.type === 'Pipeline'
        ? node.commands.map((_command, index) => pipedScriptOf(node, index)?.text ?? null)
        : [];
  return found.filter((text) => text !== null);
}

/**
 * The words of a command, wrappers removed. An interpreter that reads its program from a file by `<` runs it as if it
 * were named: `sh < check.sh` is `sh check.sh`.
 */
export function callWordsOf(node: Command): readonly LiteralWord[] {
  const words = unwrapWords(wordsOf(node));
  const from = node.redirects.findLast(
    (each): each is Redirect => each.type === 'Redirect' && each.operator === '<',
  );
  return from === undefined ? words : (withProgramFile(words, literalOf(from.target)) ?? words);
}

/** `cat check.sh | sh` as `sh check.sh`; null for every other pipe. */
export function pipedWordsOf({ commands }: Pipeline): readonly LiteralWord[] | null {
  const [writer, reader] = commands.slice(-2);
  if (writer?.type !== 'Command' || reader?.type !== 'Command') return null;
  const [program, file, ...others] = unwrapWords(wordsOf(writer));
  if (program !== 'cat' || file === undefined || others.length > 0) return null;
  return withProgramFile(unwrapWords(wordsOf(reader)), file);
}

function withProgramFile(
  words: readonly LiteralWord[],
  file: LiteralWord,
): readonly LiteralWord[] | null {
  const [program, ...args] = words;
  if (typeof program !== 'string' || !INTERPRETER.test(program)) return null;
  const isBare = args.every((word) => word !== null && (word === '-' || /^-s?$/.test(word)));
  return isBare ? [program, file] : null;
}

function writtenTextOf(writer: Command): string | null {
  const [program, ...args] = unwrapWords(wordsOf(writer));
  if (program === 'cat' && args.length === 0) return hereDocOf(writer);
  if ((program !== 'echo' && program !== 'printf') || args.includes(null)) return null;
  return args
    .filter((word) => !/^(-[neE]+|%s|%s\\n|%b)$/.test(word ?? ''))
    .join(' ')
    .replaceAll('\\n', '\n');
}

function hereDocOf(node: Command): string | null {
  const documents = node.redirects.filter((each): each is HereDoc => each.type === 'HereDoc');
  return documents.at(-1)?.body.text ?? null;
}
