import { toPrintable } from '@kervyxa/core';

import type { Draft } from './draft.ts';
import { findingOf } from './finding-table.ts';
import type { Finding } from './finding.ts';

/** VACUOUS_COMMAND: a checker sees nothing of a commit but the files it is given; where none can change, nor can its answer. */
export function lintCheckerArtifacts(draft: Draft): Finding[] {
  return draft.criteria.flatMap(({ type, submitted, pointer }) => {
    if (type !== 'checker' || submitted.some(({ text }) => draft.letsChange(text))) return [];
    const [first] = submitted;
    const got = first === undefined ? 'none' : `"${toPrintable(first.text, 100)}"`;
    return [
      findingOf('VACUOUS_COMMAND', `${pointer}/artifacts`, {
        message: `expected an artifact or a summary that the solver may change, got ${got}`,
        fix: 'Name the file that the work is about, and let it go: not protected, within editablePaths, in a language that is allowed.',
      }),
    ];
  });
}
