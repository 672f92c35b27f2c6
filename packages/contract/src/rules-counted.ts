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
  const found = plainProgramOf(judging.text);
  if (found !== null && (program === null || found === program)) return [];
  return [
    findingOf('COUNTED_COMMAND_UNFIT', judging.pointer, {
      message: `expected ${wanted} for source ${source}, got "${toPrintable(judging.text, 100)}"`,
      fix: 'Give the program itself, without pipes, lists, assignments or wrappers; what it needs besides goes into a script or into setup.',
    }),
  ];
}

/** The program of a command that is exactly one simple command; null for anything else. */
function plainProgramOf(command: string): string | null {
  const { commands } = parse(command);
  const [statement] = commands;
  if (commands.length !== 1 || statement?.command.type !== 'Command') return null;
  const { name, prefix } = statement.command;
  if (name === undefined || prefix.length > 0 || statement.background === true) return null;
  return literalOf(name);
}
