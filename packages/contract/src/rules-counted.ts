import { toPrintable } from '@kervyxa/core';
import { parse } from 'unbash';

import { COUNTED_SOURCES, type CountedSource } from './criterion-schema.ts';
import type { Draft, DraftCriterion } from './draft.ts';
import { findingOf } from './finding-table.ts';
import type { Finding } from './finding.ts';
import { literalOf } from './shell-words.ts';

/** The program that a counted source runs; null for any. */
const PROGRAMS: Readonly<Record<CountedSource, string | null>> = {
  node_block_count: 'node',
  node_peak_heap_bytes: 'node',
  python_opcode_count: 'python3',
  python_peak_bytes: 'python3',
  instructions: null,
};

/** ANSWER_NOT_PINNED, COUNTED_COMMAND_UNFIT. */
export function lintCountedWork({ criteria }: Draft): Finding[] {
  return criteria.flatMap((criterion) => {
    const source = COUNTED_SOURCES.find((each) => each === criterion.source);
    if (criterion.type !== 'benchmark' || source === undefined) return [];
    return [...answerFindings(criterion, source), ...commandFindings(criterion, source)];
  });
}

function answerFindings({ pointer, stdoutSha256 }: DraftCriterion, source: string): Finding[] {
  if (stdoutSha256 !== null) return [];
  return [
    findingOf('ANSWER_NOT_PINNED', pointer, {
      message: `expected stdoutSha256, as source ${source} counts work, got none: a program that leaves early does the least`,
      fix: 'Let the command print the answer, and pin the SHA-256 of what it prints: COMMAND | sha256sum.',
    }),
  ];
}

/** The harness runs the program itself, so there is exactly one, and the shell only expands its arguments. */
function commandFindings({ judging }: DraftCriterion, source: CountedSource): Finding[] {
  if (judging === null) return [];
  const program = PROGRAMS[source];
  const wanted =
    program === null ? 'one program with its arguments' : `${program} SCRIPT ARGUMENTS`;
  if (isCountable(judging.text, program)) return [];
  return [
    findingOf('COUNTED_COMMAND_UNFIT', judging.pointer, {
      message: `expected ${wanted} for source ${source}, got "${toPrintable(judging.text, 100)}"`,
      fix: 'Give the program itself on one line, without options before its script, pipes, lists, assignments, wrappers or redirected output; what it needs besides goes into a script or into setup.',
    }),
  ];
}

/** Whether a command is exactly one simple command, of `program` with a script; null stands for any program. */
function isCountable(command: string, program: string | null): boolean {
  // The name of the harness is put in front: a comment or the end of a line would keep the program from it.
  if (/^#|\n/.test(command.trim())) return false;
  const { commands } = parse(command);
  const [statement] = commands;
  if (commands.length !== 1 || statement?.command.type !== 'Command') return false;
  const { name, prefix, args, redirects } = statement.command;
  if (name === undefined || prefix.length > 0 || statement.background === true) return false;
  // The harness's own report would go where the output goes.
  if (redirects.some(({ operator }) => operator !== '<')) return false;
  const found = literalOf(name);
  if (program === null) return found !== null;
  return found === program && args.length > 0 && literalOf(args[0])?.startsWith('-') !== true;
}
