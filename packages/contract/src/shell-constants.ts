import type { LiteralWord } from './shell-words.ts';

// Programs whose status no repository can influence; `touch`, `mkdir -p` and their like fail only on a broken disk.
const ALWAYS_OK = new Set([
  'true',
  ':',
  'echo',
  'printf',
  'sleep',
  'pwd',
  'date',
  'whoami',
  'id',
  'uname',
  'hostname',
  'export',
  'readonly',
  'local',
  'unset',
  'umask',
  'alias',
  'touch',
  'env',
  'printenv',
  'nproc',
  'yes',
  'seq',
  'jobs',
  'times',
  'shift',
  'disown',
  'sync',
  'break',
  'continue',
  'xargs',
]);

/** The status of a command that is always the same, or null where it can turn out either way. */
export function constantStatus(words: readonly LiteralWord[]): 'ok' | 'fail' | null {
  const [program, ...args] = words;
  if (typeof program !== 'string') return null;
  if (program === 'false') return 'fail';
  if (ALWAYS_OK.has(program)) return 'ok';
  // `wait` without a job answers 0 whatever became of the jobs.
  if (program === 'wait') return args.length === 0 ? 'ok' : null;
  if (program === 'mkdir') return args.includes('-p') ? 'ok' : null;
  if (program === 'rm') return args.some((arg) => /^-[a-z]*f/i.test(arg ?? '')) ? 'ok' : null;
  if (program === 'test' || program === '[') return testStatus(args);
  if (program === 'ls' || program === 'cd') return operandsOf(args).every(isThere) ? 'ok' : null;
  if (program === 'cat') return args.every(isThere) ? 'ok' : null;
  if (program === 'git') return needsRepository(args) ? 'fail' : null;
  if (isVersionCall(program, args) || runsNothing(program, args)) return 'ok';
  return null;
}

function operandsOf(args: readonly LiteralWord[]): readonly LiteralWord[] {
  return args.filter((word) => word === null || !word.startsWith('-'));
}

const ON_A_REPOSITORY = new Set(
  'diff diff-index diff-tree diff-files status log show rev-parse rev-list ls-files ls-tree describe merge-base blame cat-file branch tag checkout stash fsck shortlog name-rev symbolic-ref show-ref for-each-ref write-tree'.split(
    ' ',
  ),
);

/** A workspace has no .git, so git has nothing to say there: it fails, whatever the tree (see docs/contracts.md). */
function needsRepository(args: readonly LiteralWord[]): boolean {
  const at = args.findIndex((word) => word === null || !word.startsWith('-'));
  const subcommand = args[at] ?? null;
  // With an option before it another repository may be meant; `diff --no-index` and two files need none.
  if (at !== 0 || subcommand === null || !ON_A_REPOSITORY.has(subcommand)) return false;
  if (subcommand !== 'diff') return true;
  const operands = operandsOf(args.slice(1));
  return !args.includes('--no-index') && operands.length < 2;
}

/** Files and folders of every container. */
function isThere(word: LiteralWord): boolean {
  return (
    word !== null && /^(\.|\.\/|\/|\/workspace\/?|\/tmp|\/dev\/null|\/etc\/passwd)$/.test(word)
  );
}

/** A tool that tells its version runs no check. A program of the repository may make of the option what it likes. */
function isVersionCall(program: string, args: readonly LiteralWord[]): boolean {
  const [only] = args;
  if (args.length !== 1 || typeof only !== 'string' || program.includes('/')) return false;
  return (
    /^(--version|--help)$/.test(only) ||
    (/^-[vV]$/.test(only) && /^(node|npm|npx|pnpm|yarn|python[\d.]*|tsc|ruby)$/.test(program))
  );
}

const INTERPRETER = /^(node|nodejs|python[\d.]*|perl|ruby|php|deno|bun)$/;
const NO_CODE =
  /^\s*(('[^']*'|"[^"]*"|\d+|true|null|undefined|pass|void 0|(import sys\s*;\s*sys\.|process\.|os\.)?_?exit\(\s*0?\s*\)|exit(\s+0)?)\s*;?)?\s*$/;

/** `node -e ""`, `python3 -c pass`: inline code that can't but succeed. */
function runsNothing(program: string, args: readonly LiteralWord[]): boolean {
  if (!INTERPRETER.test(program)) return false;
  const at = args.findIndex((word) => word !== null && /^(-e|-c|-p|-r|--eval|--print)$/.test(word));
  const code = at < 0 ? null : args[at + 1];
  return typeof code === 'string' && NO_CODE.test(code);
}

/** Tools that are told to succeed whatever they find. */
export function swallowsStatus(words: readonly LiteralWord[]): boolean {
  const [program, ...args] = words;
  const has = (pattern: RegExp) => args.some((word) => word !== null && pattern.test(word));
  if (has(/^--exit-zero$|^-Dmaven\.test\.failure\.ignore(=true)?$|^--fail-never$/)) return true;
  switch (program) {
    case 'make':
    case 'gmake':
      return has(/^(-[a-zA-Z]*i[a-zA-Z]*|--ignore-errors)$/);
    case 'mvn':
      return has(/^-fn$/);
    case 'find':
      // Only `-exec … +` hands a failure on.
      return has(/^-(exec|ok)(dir)?$/) && !has(/^\+$/);
    case 'script':
      return has(/^-[a-z]*c/) && !has(/^(-[a-z]*e|--return$)/);
    default:
      return false;
  }
}

const FILE_TEST = /^-[a-hkprstuwxGLNOS]$/;

/** The status of a test whatever the repository holds: of fixed texts, and of places that are always there. */
function testStatus(args: readonly LiteralWord[]): 'ok' | 'fail' | null {
  const operands = args.at(-1) === ']' ? args.slice(0, -1) : args;
  const isJoined = operands.length === 3 && /^-[ao]$/.test(operands[1] ?? '');
  if ((operands.length > 3 || isJoined) && !operands.includes('(')) {
    if (operands.includes('-o')) return combine(splitAt(operands, '-o').map(testStatus), 'ok');
    if (operands.includes('-a')) return combine(splitAt(operands, '-a').map(testStatus), 'fail');
  }
  const [first, second, third] = operands;
  if (first === '!' && operands.length > 1) return invert(testStatus(operands.slice(1)));
  switch (operands.length) {
    case 0:
      return 'fail';
    case 1:
      return first === null || first === undefined ? null : toStatus(first !== '');
    case 2:
      if (second === null || second === undefined || first === null) return null;
      if (first === '-n') return toStatus(second !== '');
      if (first === '-z') return toStatus(second === '');
      if (first === '-d' || first === '-e' || first === '-r') return isThere(second) ? 'ok' : null;
      return FILE_TEST.test(first ?? '') ? null : 'ok';
    case 3:
      return comparisonStatus(first ?? null, second ?? null, third ?? null);
    default:
      return operands.includes(null) || operands.some((word) => FILE_TEST.test(word ?? ''))
        ? null
        : 'ok';
  }
}

function comparisonStatus(
  left: LiteralWord,
  operator: LiteralWord,
  right: LiteralWord,
): 'ok' | 'fail' | null {
  if (left === null || operator === null || right === null) return null;
  const [a, b] = [Number(left), Number(right)];
  switch (operator) {
    case '=':
    case '==':
      return toStatus(left === right);
    case '!=':
      return toStatus(left !== right);
    case '-eq':
      return toStatus(a === b);
    case '-ne':
      return toStatus(a !== b);
    case '-lt':
      return toStatus(a < b);
    case '-le':
      return toStatus(a <= b);
    case '-gt':
      return toStatus(a > b);
    case '-ge':
      return toStatus(a >= b);
    case '-nt':
    case '-ot':
    case '-ef':
      return null;
    default:
      return 'ok';
  }
}

function splitAt(words: readonly LiteralWord[], operator: string): (readonly LiteralWord[])[] {
  const parts: LiteralWord[][] = [[]];
  for (const word of words) {
    if (word === operator) parts.push([]);
    else parts.at(-1)?.push(word);
  }
  return parts;
}

/** Of several statuses one that is `decisive` decides; else one that is not known leaves all unknown. */
function combine(
  statuses: readonly ('ok' | 'fail' | null)[],
  decisive: 'ok' | 'fail',
): 'ok' | 'fail' | null {
  if (statuses.includes(decisive)) return decisive;
  return statuses.includes(null) ? null : invert(decisive);
}

function invert(status: 'ok' | 'fail' | null): 'ok' | 'fail' | null {
  if (status === null) return null;
  return status === 'ok' ? 'fail' : 'ok';
}

function toStatus(isTrue: boolean): 'ok' | 'fail' {
  return isTrue ? 'ok' : 'fail';
}

const STATUS_WORD = /^"?\$\{?\?\}?"?$/;

/**
 * A test of `$?` that can't but succeed, by the words as written: it is some number from 0 to 255, so `[ $? ]` is true
 * of every status.
 */
export function isIdleStatusTest(words: readonly string[]): boolean {
  const [program, ...args] = words;
  if (program !== 'test' && program !== '[') return false;
  const operands = args.at(-1) === ']' ? args.slice(0, -1) : args;
  const [first = '', second = '', third = ''] = operands;
  if (operands.length === 1) return STATUS_WORD.test(first);
  if (operands.length === 2) return first === '-n' && STATUS_WORD.test(second);
  if (operands.length !== 3 || !STATUS_WORD.test(first) || !/^-?\d+$/.test(third)) return false;
  const limit = Number(third);
  return (
    (second === '-ge' && limit <= 0) ||
    (second === '-gt' && limit < 0) ||
    (second === '-le' && limit >= 255) ||
    (second === '-lt' && limit > 255) ||
    (second === '-ne' && (limit < 0 || limit > 255))
  );
}
