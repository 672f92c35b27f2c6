import type { LiteralWord } from './shell-words.ts';

/** A program of the repository that a command runs. */
export type ScriptTarget =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'python_module'; readonly module: string }
  | { readonly kind: 'npm_script'; readonly name: string };

const INTERPRETER =
  /^(node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|ruby|perl|php|Rscript|lua|sh|bash|dash|ash|ksh|zsh|source|\.)$/;
const OPTIONS_WITH_VALUE = new Set(
  '-r --require --import --loader --experimental-loader --conditions -C -W -X -I -o --max-old-space-size'.split(
    ' ',
  ),
);
const INLINE_CODE = /^(-e|-c|-p|-pe|--eval|--print|--test|-r|-ne|-E)$/;

/** What of the repository the words run, or null: a tool, inline code, or a path that is not fixed. */
export function scriptTargetOf(words: readonly LiteralWord[]): ScriptTarget | null {
  const [program, ...args] = words;
  if (typeof program !== 'string') return null;
  const npmScript = npmScriptOf(program, args);
  if (npmScript !== null) return { kind: 'npm_script', name: npmScript };
  if (INTERPRETER.test(program)) return interpretedTarget(program, args);
  return program.includes('/') ? fileTarget(program) : null;
}

function interpretedTarget(program: string, args: readonly LiteralWord[]): ScriptTarget | null {
  const isPython = program.startsWith('python');
  const rest = program === 'bun' || program === 'deno' ? withoutRun(args) : args;
  for (let index = 0; index < rest.length; index += 1) {
    const word = rest[index];
    if (word === null || word === undefined) return null;
    if (isPython && word === '-m') {
      const module = rest[index + 1];
      return typeof module === 'string' ? { kind: 'python_module', module } : null;
    }
    if (!word.startsWith('-')) return fileTarget(word);
    if (program === 'node' && OPTIONS_WITH_VALUE.has(word)) index += 1;
    else if (INLINE_CODE.test(word)) return null;
    else if (OPTIONS_WITH_VALUE.has(word)) index += 1;
  }
  return null;
}

function withoutRun(args: readonly LiteralWord[]): readonly LiteralWord[] {
  return args[0] === 'run' ? args.slice(1) : args;
}

function fileTarget(word: string): ScriptTarget | null {
  const path = repositoryPathOf(word);
  return path === null ? null : { kind: 'file', path };
}

/** A word as a path of the repository, or null where it leads out of it. */
export function repositoryPathOf(word: string): string | null {
  const segments = word
    .replace(/^\/workspace\//, '')
    .split('/')
    .filter((part) => part !== '.' && part !== '');
  if (word.startsWith('/') && !word.startsWith('/workspace/')) return null;
  return segments.length === 0 || segments.includes('..') ? null : segments.join('/');
}

function npmScriptOf(program: string, args: readonly LiteralWord[]): string | null {
  if (!['npm', 'pnpm', 'yarn'].includes(program)) return null;
  const [command, name] = args.filter((word) => word !== null && !word.startsWith('-'));
  if (command === 'test' || command === 't' || command === 'tst') return 'test';
  if (command === 'start') return 'start';
  if (command === 'run' || command === 'run-script' || command === 'rum') return name ?? null;
  return null;
}

/** Where a Python module of the repository may lie. */
export function pythonModuleFiles(module: string): string[] {
  const base = module.replaceAll('.', '/');
  return [`${base}.py`, `${base}/__main__.py`, `${base}/__init__.py`].flatMap((path) => [
    path,
    `src/${path}`,
  ]);
}
