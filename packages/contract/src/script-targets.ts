import type { LiteralWord } from './shell-words.ts';

/** A program of the repository that a command runs. */
export type ScriptTarget =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'python_module'; readonly module: string }
  | { readonly kind: 'npm_script'; readonly name: string };

/** Programs that run the program named after them. */
export const INTERPRETER =
  /^(node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|ruby|perl|php|Rscript|lua|sh|bash|dash|ash|ksh|zsh|source|\.)$/;
const OPTIONS_WITH_VALUE = new Set(
  '-r --require --import --loader --experimental-loader --conditions -C -W -X -I -o --max-old-space-size'.split(
    ' ',
  ),
);
const INLINE_CODE = /^(-e|-c|-p|-pe|--eval|--print|--test|-r|-ne|-E)$/;

/**
 * What of the repository the words run, or null: a tool, inline code, or a path that is not fixed. `folder` is where
 * they are run.
 */
export function scriptTargetOf(words: readonly LiteralWord[], folder = ''): ScriptTarget | null {
  const [program, ...args] = words;
  if (typeof program !== 'string') return null;
  const npmScript = npmScriptOf(program, args);
  if (npmScript !== null) return { kind: 'npm_script', name: npmScript };
  if (INTERPRETER.test(program)) return interpretedTarget(program, args, folder);
  return program.includes('/') ? fileTarget(program, folder) : null;
}

function interpretedTarget(
  program: string,
  args: readonly LiteralWord[],
  folder: string,
): ScriptTarget | null {
  const isPython = program.startsWith('python');
  const rest = program === 'bun' || program === 'deno' ? withoutRun(args) : args;
  for (let index = 0; index < rest.length; index += 1) {
    const word = rest[index];
    if (word === null || word === undefined) return null;
    if (isPython && word === '-m') {
      const module = rest[index + 1];
      return typeof module === 'string' ? { kind: 'python_module', module } : null;
    }
    if (!word.startsWith('-')) return fileTarget(word, folder);
    if (program === 'node' && OPTIONS_WITH_VALUE.has(word)) index += 1;
    else if (INLINE_CODE.test(word)) return null;
    else if (OPTIONS_WITH_VALUE.has(word)) index += 1;
  }
  return null;
}

function withoutRun(args: readonly LiteralWord[]): readonly LiteralWord[] {
  return args[0] === 'run' ? args.slice(1) : args;
}

function fileTarget(word: string, folder: string): ScriptTarget | null {
  const path = repositoryPathOf(word, folder);
  return path === null ? null : { kind: 'file', path };
}

const PRELOAD = /^(-r|--require|--import|--loader|--experimental-loader)(?:=(.*))?$/;

/** Files of the repository that an interpreter loads before the program: they can change whatever it does. */
export function preloadsOf(words: readonly LiteralWord[], folder = ''): string[] {
  const [program, ...args] = words;
  if (!/^(node|nodejs|tsx|ts-node|bun|mocha|ruby)$/.test(program ?? '')) return [];
  return args.flatMap((word, index) => {
    const [isPreload, , joined] = PRELOAD.exec(word ?? '') ?? [];
    const value = isPreload === undefined ? null : (joined ?? args[index + 1] ?? null);
    if (value === null || !/^(\.{0,2}\/)/.test(value)) return [];
    return repositoryPathOf(value, folder) ?? [];
  });
}

/** A word as a path of the repository, read from a folder of it; null where it leads out. */
export function repositoryPathOf(word: string, folder = ''): string | null {
  const isRooted = word.startsWith('/workspace/');
  if (word.startsWith('/') && !isRooted) return null;
  const names = isRooted ? [] : folder.split('/').filter((name) => name !== '');
  for (const part of word.replace(/^\/workspace\//, '').split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') names.push(part);
    else if (names.pop() === undefined) return null;
  }
  return names.length === 0 ? null : names.join('/');
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
