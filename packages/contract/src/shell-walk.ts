import { forEachChild, parse, type Command, type ParseError, type SyntaxNode } from 'unbash';

import type { NpmScripts } from './npm-scripts.ts';
import { constantStatus } from './shell-constants.ts';
import {
  callWordsOf,
  fixedScriptOf,
  fixedScriptsOf,
  nestedScriptOf,
  pipedScriptOf,
} from './shell-nested.ts';
import { literalOf, stdinShellOf, unwrapWords, wordsOf, type LiteralWord } from './shell-words.ts';

// Far beyond what a command of 8 KiB needs; the parser has a bound of its own too.
const NESTING_MAX = 64;
// Words that do nothing by themselves.
const CONTROL = new Set(['exit', 'return', 'set', 'trap', 'eval', 'wait', 'test', '[']);

/** Calls back for the node and everything below it, substitutions and `sh -c` scripts included, outermost first. */
export function walkShell(node: SyntaxNode, visit: (node: SyntaxNode) => void, depth = 0): void {
  if (depth > NESTING_MAX) return;
  visit(node);
  forEachChild(node, (child) => walkShell(child, visit, depth + 1));
  for (const inner of fixedScriptsOf(node)) walkShell(parse(inner), visit, depth + 1);
}

/** One simple command that a command line may run. */
export interface ShellCall {
  /** Program and arguments, wrappers such as `env` and `timeout` removed; null where a word is not fixed. */
  readonly words: readonly LiteralWord[];
  readonly node: Command;
}

/** Every simple command anywhere in a command line. */
export function shellCalls(command: string): ShellCall[] {
  const calls: ShellCall[] = [];
  walkShell(parse(command), (node) => {
    if (node.type !== 'Command' || node.name === undefined) return;
    const words = callWordsOf(node);
    calls.push({ words, node });
    const inner = execWordsOf(words);
    if (inner !== null) calls.push({ words: inner, node });
  });
  return calls;
}

/** What `find … -exec PROGRAM …` runs. */
function execWordsOf(words: readonly LiteralWord[]): readonly LiteralWord[] | null {
  const at = words.findIndex((word) => word !== null && /^-(exec|ok)(dir)?$/.test(word));
  return words[0] !== 'find' || at < 0 ? null : unwrapWords(words.slice(at + 1));
}

/** Whether anything is run whose outcome is open; npm scripts are looked into where they are known. */
export function hasWork(script: SyntaxNode, scripts: NpmScripts | null): boolean {
  return hasWorkIn(script, scripts, new Set());
}

function hasWorkIn(script: SyntaxNode, scripts: NpmScripts | null, seen: Set<string>): boolean {
  const functions = new Set<LiteralWord>();
  const called: Command[] = [];
  walkShell(script, (node) => {
    if (node.type === 'Function') functions.add(literalOf(node.name));
    if (node.type === 'Command' && node.name !== undefined) called.push(node);
  });
  return called.some((node) => {
    const words = unwrapWords(wordsOf(node));
    const [program] = words;
    if (typeof program === 'string' && (CONTROL.has(program) || functions.has(program)))
      return false;
    const text = scripts?.textOf(words) ?? null;
    if (text !== null) {
      if (seen.has(text)) return false;
      seen.add(text);
      return hasWorkIn(parse(text), scripts, seen);
    }
    const isShell = fixedScriptOf(node) !== null || stdinShellOf(words) !== null;
    return !isShell && constantStatus(words) === null;
  });
}

/** What is wrong with a command for `/bin/sh`: syntax errors first, then what only bash understands. */
export function shellProblems(command: string): string[] {
  const problems: string[] = [];
  collectProblems(command, problems, false, 0);
  return [...new Set(problems)];
}

function collectProblems(source: string, problems: string[], isBash: boolean, depth: number): void {
  if (depth > NESTING_MAX) return;
  const script = parse(source);
  const visit = (node: SyntaxNode): void => {
    if ('errors' in node) problems.push(...(node.errors ?? []).map(sayError));
    if (!isBash) {
      const only = bashOnly(node);
      if (only !== null) problems.push(`${only} is not POSIX sh`);
    }
    forEachChild(node, visit);
    for (const inner of nestedScripts(node)) {
      if (typeof inner?.text === 'string') {
        collectProblems(inner.text, problems, inner.isBash, depth + 1);
      }
    }
  };
  visit(script);
}

function nestedScripts(node: SyntaxNode) {
  if (node.type === 'Command') return [nestedScriptOf(node)];
  if (node.type !== 'Pipeline') return [];
  return node.commands.map((_command, index) => pipedScriptOf(node, index));
}

function sayError({ message, pos }: ParseError): string {
  return `character ${pos + 1}: ${message}`;
}

/** The name of a construct that dash reads as something else, or null. */
function bashOnly(node: SyntaxNode): string | null {
  switch (node.type) {
    case 'TestCommand':
      return '[[ ]]';
    case 'ArithmeticCommand':
    case 'ArithmeticFor':
      return '(( ))';
    case 'ProcessSubstitution':
      return 'process substitution';
    case 'HereString':
      return '<<<';
    case 'Coproc':
      return 'coproc';
    case 'Select':
      return 'select';
    case 'ArrayValue':
      return 'an array';
    case 'Pipeline':
      return node.operators.includes('|&') ? '|&' : null;
    case 'Redirect':
      // dash reads `x &> y` as `x &` and `> y`: the command goes to the background and its status is lost.
      return node.operator === '&>' || node.operator === '&>>' ? node.operator : null;
    case 'Command':
      return isPipefail(wordsOf(node)) ? 'set -o pipefail' : null;
    default:
      return null;
  }
}

function isPipefail([program, ...args]: readonly LiteralWord[]): boolean {
  return program === 'set' && args.includes('pipefail');
}
