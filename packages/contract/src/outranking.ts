import { parse } from 'unbash';

import type { JudgingTool } from './judging-tools.ts';
import { repositoryPathOf } from './script-targets.ts';
import { walkShell } from './shell-walk.ts';
import type { LiteralWord } from './shell-words.ts';

const PYTHON = /^python[\d.]*$/;

/**
 * What Python would import in place of its own modules: a file beside the script that judges, or in the folder of a
 * `-m` (THREATS H08, H11). Null for other programs, and where it is told to look at none of them.
 */
export function pythonShadowsOf(
  words: readonly LiteralWord[],
  { folders, runsTests }: { readonly folders: readonly string[]; readonly runsTests: boolean },
): JudgingTool | null {
  const [program = null, ...args] = words;
  const name = program?.slice(program.lastIndexOf('/') + 1) ?? '';
  if (!PYTHON.test(name)) return null;
  for (const [index, word] of args.entries()) {
    if (word === null) return null;
    if (/^-[a-zA-Z]*[IP][a-zA-Z]*$/.test(word)) return null;
    // `-m` looks in the working folder. Inline code, and what runs tests, loads the solver's modules in any case.
    if (word === '-m') return runsTests ? null : modulesIn(name, folders);
    if (/^-[a-zA-Z]*c$/.test(word) || word === '-') return null;
    if (word === '-W' || word === '-X' || args[index - 1] === '-W' || args[index - 1] === '-X')
      continue;
    if (word.startsWith('-')) continue;
    const scripts = folders.flatMap((folder) => repositoryPathOf(word, folder) ?? []);
    return scripts.length === 0
      ? null
      : modulesIn(
          name,
          scripts.map((path) => path.split('/').slice(0, -1).join('/')),
        );
  }
  return null;
}

function modulesIn(reader: string, folders: readonly string[]): JudgingTool {
  const prefixes = [...new Set(folders)].map((folder) => (folder === '' ? '' : `${folder}/`));
  return {
    name: `${reader}, which imports it before its own modules (unless run with -I)`,
    configs: prefixes.flatMap((prefix) => [`${prefix}*.py`, `${prefix}*/__init__.py`]),
    asksLanguage: true,
  };
}

/** A program of an environment that lies in the workspace reads what else lies there: `.venv/bin/python check.py`. */
export function environmentFolderOf([program]: readonly LiteralWord[]): JudgingTool | null {
  const path =
    typeof program === 'string' && program.includes('/') ? repositoryPathOf(program) : null;
  const [, folder] = /^(.+)\/bin\/[\w.-]+$/.exec(path ?? '') ?? [];
  if (folder === undefined || folder.includes('node_modules')) return null;
  return { name: `${path}, which belongs to a folder`, configs: [`${folder}/`] };
}

/** A file of variables that node is told to read; it may hold NODE_OPTIONS. */
export function environmentFilesOf([program, ...args]: readonly LiteralWord[]): JudgingTool | null {
  if (program !== 'node' && program !== 'bun') return null;
  const files = args.flatMap((word, index) => {
    const [isOption, , joined] = /^(--env-file(?:-if-exists)?)(?:=(.*))?$/.exec(word ?? '') ?? [];
    const value = isOption === undefined ? null : (joined ?? args[index + 1] ?? null);
    return value === null ? [] : (repositoryPathOf(value) ?? []);
  });
  const config = args.some((word) => word === '--experimental-default-config-file')
    ? ['node.config.json']
    : [];
  const configs = [...files, ...config];
  return configs.length === 0 ? null : { name: `${program}, as the command asks`, configs };
}

/** Folders of programs or modules, and files, that variables of a command line put before those of the system. */
interface Variables {
  readonly folders: readonly JudgingTool[];
  readonly scripts: readonly string[];
}

// What is looked for in the folders that a variable lists, each in turn, before the system's own.
const FOLDER_LISTS: Readonly<Record<string, readonly string[]>> = {
  PATH: [''],
  NODE_PATH: [''],
  PYTHONPATH: ['*.py', '*/__init__.py'],
  PERL5LIB: [''],
  RUBYLIB: [''],
  CLASSPATH: [''],
  LD_LIBRARY_PATH: [''],
  GEM_PATH: [''],
  // Where a program keeps what its user chose: `.npmrc`, `.local/lib/python3.11/site-packages` (THREATS H12).
  HOME: ['.*', '.local/', '.config/', '.node_modules/'],
  XDG_CONFIG_HOME: [''],
  PYTHONUSERBASE: ['lib/'],
};
const FILES =
  /^(BASH_ENV|ENV|LD_PRELOAD|NODE_OPTIONS|RUBYOPT|PERL5OPT|MAKEFILES|PIP_CONFIG_FILE|PYTHONHOME|GIT_CONFIG_GLOBAL|GIT_DIR|npm_config_(script_shell|userconfig|globalconfig|prefix)|NPM_CONFIG_(SCRIPT_SHELL|USERCONFIG|GLOBALCONFIG|PREFIX))$/;
const ASSIGNMENT = /^([A-Za-z_]\w*)=(.*)$/s;

/** Reads every assignment of a command line, with `export` and `env` too (THREATS H11). */
export function variablesOf(command: string): Variables {
  const folders: JudgingTool[] = [];
  const scripts: string[] = [];
  walkShell(parse(command), (node) => {
    if (node.type !== 'Command') return;
    const texts = [...node.prefix, ...node.args].flatMap((item) =>
      'text' in item ? item.text : [],
    );
    for (const text of texts) {
      const [, name = '', value = ''] = ASSIGNMENT.exec(text) ?? [];
      const listed = Object.hasOwn(FOLDER_LISTS, name) ? FOLDER_LISTS[name] : undefined;
      if (listed !== undefined) {
        // Only for PATH is nothing the working folder.
        if (value === '' && name !== 'PATH') continue;
        const places = unquoted(value)
          .split(':')
          .flatMap((part) => folderOf(part) ?? []);
        if (places.length === 0) continue;
        folders.push({
          name: `${name} of the command, which comes before the system’s own`,
          configs: places.flatMap((folder) => listed.map((each) => `${folder}${each}` || '*')),
          asksLanguage: name === 'PATH' || name === 'PYTHONPATH',
        });
      } else if (FILES.test(name)) {
        scripts.push(...pathsIn(unquoted(value)));
      }
    }
  });
  return { folders, scripts };
}

function unquoted(value: string): string {
  return value.replace(/["']/g, '').replaceAll(/\$\{?PWD\}?|\$\(pwd\)|`pwd`/g, '/workspace');
}

/** A folder of the workspace, with a slash at its end, empty for the root; null for one elsewhere. */
function folderOf(part: string): string | null {
  if (part === '' || /^\/workspace\/?$/.test(part)) return '';
  if (part.includes('$') || (part.startsWith('/') && !part.startsWith('/workspace/'))) return null;
  if (/^\.\/?$/.test(part)) return '';
  const path = repositoryPathOf(part);
  return path === null ? null : `${path}/`;
}

/** Files that a value names by a path, such as `--require ./x.js`. */
function pathsIn(value: string): string[] {
  return value
    .split(/[\s=]+/)
    .filter((part) => /^\.{1,2}\/|^\/workspace\/|^[\w-]+\/[\w./-]+$|^[\w-]+\.\w+$/.test(part))
    .flatMap((part) => repositoryPathOf(part) ?? []);
}
