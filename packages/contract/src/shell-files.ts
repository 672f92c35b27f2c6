import { parse } from 'unbash';

import { languagesOf } from './languages.ts';
import { repositoryPathOf } from './script-targets.ts';
import { walkShell, shellCalls } from './shell-walk.ts';
import { literalOf, type LiteralWord } from './shell-words.ts';

const COMPARERS = new Set(['cmp', 'diff']);
const SUMS = /^(sha\d+sum|shasum|b2sum|md5sum|cksum)$/;

/** Whether a command compares bytes with something: `sha256sum -c`, `cmp`, `diff`. */
export function comparesBytes(command: string): boolean {
  return shellCalls(command).some(({ words }) => comparedFiles(words) !== null);
}

/** The files that a comparing command reads; null where it does not compare. */
export function comparedFiles(words: readonly LiteralWord[]): LiteralWord[] | null {
  const [program, ...args] = words;
  if (typeof program !== 'string') return null;
  const operands = args.filter((word) => word === null || !word.startsWith('-'));
  if (COMPARERS.has(program)) return operands;
  const isCheck = args.some((word) => word === '--check' || /^-[a-z]*c[a-z]*$/.test(word ?? ''));
  return SUMS.test(program) && isCheck ? operands : null;
}

const OUTPUT_OPTION = /^(-o|--out|--output|--outfile|--out-file)$/;

/**
 * Files that a command makes, as far as its text tells: targets of `>`, values of `-o`, and, for kinds that turn
 * files into files, every data file among the arguments of the first program (an input is one too: it is in the base).
 */
export function outputsOf(command: string, kind: string | null): ReadonlySet<string> {
  const outputs = new Set<string>();
  const add = (word: LiteralWord | undefined) => {
    const path = typeof word === 'string' ? repositoryPathOf(word) : null;
    if (path !== null) outputs.add(path);
  };
  walkShell(parse(command), (node) => {
    if (node.type !== 'Redirect' || node.target === undefined) return;
    if (node.operator === '>' || node.operator === '>>' || node.operator === '>|') {
      add(literalOf(node.target));
    }
  });
  for (const { words } of shellCalls(command)) {
    for (const [index, word] of words.entries()) {
      const [option, value] = word?.split('=', 2) ?? [];
      if (option !== undefined && OUTPUT_OPTION.test(option)) add(value ?? words[index + 1]);
    }
    if (words[0] === 'tee') words.slice(1).forEach(add);
    if (kind !== 'data_transform' && kind !== 'document_extraction') continue;
    if (comparedFiles(words) !== null) continue;
    words
      .slice(1)
      .filter((word) => isDataFile(word))
      .forEach(add);
  }
  return outputs;
}

function isDataFile(word: LiteralWord): boolean {
  if (word === null || !/^[\w./-]*\w\.\w+$/.test(word) || word.startsWith('-')) return false;
  const types = languagesOf(word)?.types ?? [];
  return !types.includes('programming');
}
