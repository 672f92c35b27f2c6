import type { Command, CommandArgument, Word, WordPart } from 'unbash';

/** One word of a command: its text after quote removal where that is fixed, else null (a variable, a glob, …). */
export type LiteralWord = string | null;

export function literalOf(word: CommandArgument | undefined): LiteralWord {
  if (word === undefined || word.type === 'Assignment')
    return word === undefined ? null : word.text;
  return (word.parts ?? []).every(isFixed) ? word.value : null;
}

function isFixed(part: WordPart): boolean {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return true;
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.every(isFixed);
    default:
      return false;
  }
}

/** The command's words as far as they are fixed; the first is the program, without the folder of a system path. */
export function wordsOf(command: Command): LiteralWord[] {
  if (command.name === undefined) return [];
  return [programName(command.name), ...command.args.map(literalOf)];
}

function programName(name: Word): LiteralWord {
  const literal = literalOf(name);
  return literal === null ? null : literal.replace(/^\/(usr\/(local\/)?)?s?bin\//, '');
}

/** Programs that run the command that follows them: how many words to skip to it, options aside. */
const WRAPPERS: Readonly<Record<string, number>> = {
  exec: 0,
  command: 0,
  builtin: 0,
  nohup: 0,
  nice: 0,
  env: 0,
  time: 0,
  stdbuf: 0,
  setsid: 0,
  busybox: 0,
  timeout: 1,
};
const OPTIONS_WITH_VALUE = new Set([
  '-n',
  '-k',
  '-s',
  '-u',
  '-C',
  '-a',
  '--signal',
  '--kill-after',
]);

/** The words of the command that really runs: `env A=1 timeout 5 node x.js` is `node x.js`. */
export function unwrapWords(words: readonly LiteralWord[]): readonly LiteralWord[] {
  const [program] = words;
  if (typeof program !== 'string' || !Object.hasOwn(WRAPPERS, program)) return words;
  let rest = words.slice(1);
  while (isOptionOrAssignment(rest[0])) {
    rest = rest.slice(OPTIONS_WITH_VALUE.has(rest[0] ?? '') ? 2 : 1);
  }
  rest = rest.slice(WRAPPERS[program] ?? 0);
  const [inner, ...args] = rest;
  // `env` alone prints: it runs nothing.
  if (rest.length === 0) return words;
  const name = inner?.replace(/^\/(usr\/(local\/)?)?s?bin\//, '') ?? null;
  return unwrapWords([name, ...args]);
}

function isOptionOrAssignment(word: LiteralWord | undefined): word is string {
  return typeof word === 'string' && /^(-.|[A-Za-z_]\w*=)/.test(word);
}

export interface InnerScript {
  /** Null where the text is not fixed. */
  readonly text: LiteralWord;
  readonly isBash: boolean;
  readonly hasErrexit: boolean;
  readonly hasPipefail: boolean;
}

const SHELLS = new Set(['sh', 'bash', 'dash', 'ash', 'ksh', 'zsh']);

/** The script of `sh -c TEXT`; null where the words are no such call. */
export function innerScriptOf(words: readonly LiteralWord[]): InnerScript | null {
  const [program, ...args] = words;
  if (typeof program !== 'string' || !SHELLS.has(program)) return null;
  const options: string[] = [];
  let index = 0;
  for (; index < args.length && /^[-+]/.test(args[index] ?? ''); index += 1) {
    const option = args[index] ?? '';
    options.push(option);
    // `-o NAME`, also as `-euo pipefail`; with -c before it, NAME still comes before the script.
    if (/^-[a-z]*o$/.test(option)) {
      index += 1;
      options.push(`-o ${args[index] ?? ''}`);
    }
  }
  if (!options.some((option) => /^-[a-z]*c[a-z]*$/.test(option))) return null;
  return {
    text: args[index] ?? null,
    isBash: program !== 'sh' && program !== 'dash' && program !== 'ash',
    hasErrexit: options.some((option) => /^-[a-df-z]*e[a-z]*$/.test(option)),
    hasPipefail: options.includes('-o pipefail'),
  };
}

/** What `eval` is given to run; null where the words are no eval or not fixed. */
export function evalTextOf(words: readonly LiteralWord[]): LiteralWord {
  const [program, ...args] = words;
  return program !== 'eval' || args.includes(null) ? null : args.join(' ');
}

/** The script that a command hands to a shell, `sh -c` or `eval`, where its text is fixed. */
export function fixedScriptOf(words: readonly LiteralWord[]): LiteralWord {
  return innerScriptOf(words)?.text ?? evalTextOf(words);
}
