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
  return null;
}

const FILE_TEST = /^-[a-hkprstuwxGLNOS]$/;

/** A test of fixed texts only; which way it turns out does not matter to the caller's verdict of "constant". */
function testStatus(args: readonly LiteralWord[]): 'ok' | 'fail' | null {
  if (args.includes(null) || args.some((arg) => FILE_TEST.test(arg ?? ''))) return null;
  const operands = args.filter((arg) => arg !== ']');
  if (operands.length === 0) return 'fail';
  if (operands.length === 3) {
    const [left, operator, right] = operands;
    if (operator === '=' || operator === '==' || operator === '-eq') {
      return left === right ? 'ok' : 'fail';
    }
  }
  return 'ok';
}
