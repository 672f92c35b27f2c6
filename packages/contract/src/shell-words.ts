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
  return withoutFolder(literalOf(name));
}

function withoutFolder(word: LiteralWord): LiteralWord {
  return word?.replace(/^\/(usr\/(local\/)?)?s?bin\//, '') ?? null;
}

/** A program that runs the command that follows: how many words to skip to it, and its options that take a value. */
interface Wrapper {
  readonly skip: number;
  readonly valued: readonly string[];
}
const wrapper = (skip: number, valued = ''): Wrapper => ({ skip, valued: valued.split(' ') });
const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  exec: wrapper(0, '-a'),
  command: wrapper(0),
  builtin: wrapper(0),
  nohup: wrapper(0),
  nice: wrapper(0, '-n'),
  ionice: wrapper(0, '-c -n'),
  env: wrapper(0, '-u -C --unset --chdir'),
  time: wrapper(0, '-f -o'),
  stdbuf: wrapper(0, '-i -o -e'),
  setsid: wrapper(0),
  busybox: wrapper(0),
  corepack: wrapper(0),
  sudo: wrapper(0, '-u -g'),
  doas: wrapper(0, '-u'),
  chronic: wrapper(0),
  unbuffer: wrapper(0),
  'xvfb-run': wrapper(0, '-n -s -e -w'),
  'cross-env': wrapper(0),
  c8: wrapper(0, '-r -o --reporter'),
  nyc: wrapper(0, '-r -n -x -e --reporter'),
  dotenv: wrapper(0, '-e -v -c -p'),
  'env-cmd': wrapper(0, '-f -e'),
  xargs: wrapper(0, '-n -I -P -L -d -s -a -E'),
  taskset: wrapper(1, '-c'),
  flock: wrapper(1, '-w -E'),
  timeout: wrapper(1, '-k -s --signal --kill-after'),
};

/** The words of the command that really runs: `env A=1 timeout 5 node x.js` is `node x.js`. */
export function unwrapWords(words: readonly LiteralWord[]): readonly LiteralWord[] {
  let at = 0;
  let [program] = words;
  // By places, since copies of the rest for each wrapper would take minutes for thousands of them.
  for (let known = wrapperOf(program); known !== null; known = wrapperOf(program)) {
    let next = at + 1;
    for (let word = words[next]; isOptionOrAssignment(word); word = words[next]) {
      next += known.valued.includes(word) ? 2 : 1;
    }
    next += known.skip;
    // `env` alone prints: it runs nothing.
    if (next >= words.length) break;
    at = next;
    program = withoutFolder(words[at] ?? null);
  }
  return at === 0 ? words : [program ?? null, ...words.slice(at + 1)];
}

function wrapperOf(program: LiteralWord | undefined): Wrapper | null {
  if (typeof program !== 'string' || !Object.hasOwn(WRAPPERS, program)) return null;
  return WRAPPERS[program] ?? null;
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
  const shell = shellCallOf(words);
  if (shell === null || !shell.hasText) return null;
  return { ...shell, text: shell.operands[0] ?? null };
}

/** How a shell is called that takes its script from standard input; null where the words are no such call. */
export function stdinShellOf(words: readonly LiteralWord[]): Omit<InnerScript, 'text'> | null {
  const shell = shellCallOf(words);
  if (shell === null || shell.hasText) return null;
  const { operands } = shell;
  return operands.length === 0 || operands[0] === '-' || shell.isStdin ? shell : null;
}

function shellCallOf(words: readonly LiteralWord[]) {
  const [program, ...args] = words;
  if (typeof program !== 'string' || !SHELLS.has(program)) return null;
  const options: string[] = [];
  let index = 0;
  for (; index < args.length && /^[-+]./.test(args[index] ?? ''); index += 1) {
    const option = args[index] ?? '';
    options.push(option);
    // `-o NAME`, also as `-euo pipefail`; with -c before it, NAME still comes before the script.
    if (/^-[a-z]*o$/.test(option)) {
      index += 1;
      options.push(`-o ${args[index] ?? ''}`);
    }
  }
  return {
    hasText: options.some((option) => /^-[a-z]*c[a-z]*$/.test(option)),
    isStdin: options.some((option) => /^-[a-z]*s[a-z]*$/.test(option)),
    operands: args.slice(index),
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
