import { toPrintable } from '@kervyxa/core';

import type { Draft, DraftText } from './draft.ts';
import type { BaseFacts } from './facts.ts';
import { findingOf } from './finding-table.ts';
import type { Finding } from './finding.ts';
import { npmScriptsOf } from './npm-scripts.ts';
import { shellStatusKind } from './shell-status.ts';
import { shellProblems } from './shell-walk.ts';

export function commandsOf(draft: Draft): DraftText[] {
  return [...draft.setup, ...draft.criteria.flatMap((criterion) => criterion.commands)];
}

/** COMMAND_SYNTAX: what `/bin/sh` would refuse, or read as something else. */
export function lintCommandSyntax(draft: Draft): Finding[] {
  return commandsOf(draft).flatMap(({ text, pointer }) =>
    shellProblems(text)
      .slice(0, 1)
      .map((problem) =>
        findingOf('COMMAND_SYNTAX', pointer, {
          message: `expected a command for POSIX sh, got: ${toPrintable(problem, 200)}`,
          fix: 'Commands run as /bin/sh -c. Correct the syntax, or call bash -c with the script quoted.',
        }),
      ),
  );
}

const JUDGED_BY_STATUS = new Set(['exit_code', 'benchmark', 'regression', 'judge_probe']);
// The file judges, as in a file assertion: `true` in front of it is right.
const JUDGED_BY_FILE = new Set(['artifact_bytes', 'artifact_lines']);

/** VACUOUS_COMMAND, EXIT_CODE_MASKED. */
export function lintExitStatus({ criteria }: Draft, facts: BaseFacts | null): Finding[] {
  return criteria.flatMap(({ type, source, judging }) => {
    if (judging === null || !JUDGED_BY_STATUS.has(type ?? '')) return [];
    if (type === 'benchmark' && JUDGED_BY_FILE.has(source ?? '')) return [];
    const { text, pointer } = judging;
    if (shellProblems(text).length > 0) return [];
    switch (shellStatusKind(text, npmScriptsOf(facts, text))) {
      case 'open':
        return [];
      case 'vacuous':
        return [
          findingOf('VACUOUS_COMMAND', pointer, {
            message:
              'expected a command that can turn out either way, got one that runs nothing which could',
            fix: 'Run the check itself as the last command.',
          }),
        ];
      case 'masked':
        return [
          findingOf('EXIT_CODE_MASKED', pointer, {
            message: 'expected the exit status of the check, got one that is always the same',
            fix: 'Drop what hides the status (|| true, ; exit 0, | tee, &, a trap), end with the check, or leave a loop by || exit 1.',
          }),
        ];
    }
  });
}
