import { toPrintable } from '@kervyxa/core';

import type { Draft, DraftText } from './draft.ts';
import type { BaseFacts } from './facts.ts';
import { findingOf } from './finding-table.ts';
import type { Finding } from './finding.ts';
import { npmScriptsOf } from './npm-scripts.ts';
import { makesRepository, shellStatusKind } from './shell-status.ts';
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

const SHORT_LIMIT = /(?:^|[\s;&|(])timeout\s+(?:-\S+\s+)*(0?\.\d*[1-9]\d*)s?(?=\s)/;

/** CLOCK_IN_HARNESS: what starts within a fraction of a second, or not, hangs on the machine and its other work. */
export function lintShortLimits({ criteria }: Draft): Finding[] {
  return criteria.flatMap(({ commands }) =>
    commands.flatMap(({ text, pointer }) => {
      const limit = SHORT_LIMIT.exec(text)?.[1];
      if (limit === undefined) return [];
      return [
        findingOf('CLOCK_IN_HARNESS', pointer, {
          message: `expected no time limit but timeoutSeconds, got timeout ${limit}`,
          fix: 'Leave the time to timeoutSeconds, which counts only when it is exceeded twice; or acknowledge it.',
        }),
      ];
    }),
  );
}

const JUDGED_BY_STATUS = new Set(['exit_code', 'benchmark', 'regression', 'judge_probe']);
// The file judges, as in a file assertion: `true` in front of it is right.
const JUDGED_BY_FILE = new Set(['artifact_bytes', 'artifact_lines']);

/** VACUOUS_COMMAND, EXIT_CODE_MASKED. */
export function lintExitStatus({ criteria, setup }: Draft, facts: BaseFacts | null): Finding[] {
  const hasRepository = setup.some(({ text }) => makesRepository(text));
  return criteria.flatMap(({ type, source, judging }) => {
    if (judging === null || !JUDGED_BY_STATUS.has(type ?? '')) return [];
    if (type === 'benchmark' && JUDGED_BY_FILE.has(source ?? '')) return [];
    const { text, pointer } = judging;
    if (shellProblems(text).length > 0) return [];
    switch (shellStatusKind(text, npmScriptsOf(facts, text), { hasRepository })) {
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
            fix: 'Drop what hides the status (|| true, ; exit 0, | tee, &, a trap), end with the check, or leave a loop by || exit 1. There is no .git for git to look at.',
          }),
        ];
    }
  });
}
