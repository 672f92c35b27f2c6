import { toPrintable } from '@kervyxa/core';

import type { Draft, DraftCriterion, DraftText } from './draft.ts';
import type { BaseFacts } from './facts.ts';
import { findingOf } from './finding-table.ts';
import type { Finding } from './finding.ts';
import { judgeScriptsOf } from './harness.ts';

const PACKAGE = 'KERVYXA_VERIFIER_PACKAGE';
/** Starts the code under test as another user than the check's; see ADR 0029. */
const LAUNCHER = 'kervyxa-run';

/** SAME_CONTAINER_SECRET: what the code under test can read, it can answer. */
export function lintSameContainer({ criteria, image }: Draft): Finding[] {
  return criteria.flatMap((criterion) => {
    const { type, visibility, judging } = criterion;
    if (judging === null || visibility !== 'hidden' || type === 'judge_probe') return [];
    if (!judging.text.includes(PACKAGE)) return [];
    const isApart = type === 'exit_code' || type === 'regression';
    if (isApart && judging.text.includes(LAUNCHER)) return [];
    const form = toJudgeProbeForm(criterion, image?.text ?? '');
    return [
      findingOf('SAME_CONTAINER_SECRET', judging.pointer, {
        message: isApart
          ? `expected a check that starts the solver's code by ${LAUNCHER}, got a command that does not name it: code that the check loads into its own process, or starts by itself, can read the package`
          : `expected hidden answers apart from the solver's code, got both in one container, where a ${type} lets the code read the package`,
        fix: `${isApart ? `Start the code by ${LAUNCHER} COMMAND (where a script of the package does so, this can't be seen, and there is nothing to mend), or put` : 'Put'} the inputs into the package's folder probe/ and judge what comes out in a container of its own: ${form}`,
      }),
    ];
  });
}

const SCRIPT = /KERVYXA_VERIFIER_PACKAGE\}?\/([\w./-]+\.(?:[cm]?js|py|sh))/;

/** The criterion as a judge_probe, to be pasted over it: JSON of printable ASCII. */
function toJudgeProbeForm(criterion: DraftCriterion, image: string): string {
  const { id, title, judging, path, timeoutSeconds } = criterion;
  const extension = image.includes('python') ? 'py' : 'js';
  const script = SCRIPT.exec(judging?.text ?? '')?.[1] ?? `judge.${extension}`;
  const form = {
    id,
    title,
    type: 'judge_probe',
    visibility: 'hidden',
    probe: {
      command: `${interpreterOf(extension)} "$KERVYXA_PROBE/probe.${extension}"`,
      outputs: path === null ? [] : [path],
    },
    judge: {
      command: `${interpreterOf(script)} "$${PACKAGE}/${script}" "$KERVYXA_PROBE_OUTPUT"`,
    },
    timeoutSeconds,
  };
  return JSON.stringify(form).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function interpreterOf(script: string): string {
  if (script.endsWith('py')) return 'python3';
  return script.endsWith('sh') ? 'sh' : 'node';
}

/** COMPLETION_UNPROVED: a number that is printed may have been printed by whoever was to be measured. */
export function lintCompletion({ criteria }: Draft): Finding[] {
  return criteria.flatMap(({ type, source, completion, pointer }) => {
    const isMarker = type === 'benchmark' && (source === null || source === 'marker');
    if (!isMarker || completion === 'token') return [];
    return [
      findingOf('COMPLETION_UNPROVED', pointer, {
        message:
          'expected a harness that shows by a token that it came to its end, got a metric that any code of its process can print before it leaves',
        fix: 'Take a source that the runner measures (node_block_count, python_opcode_count, artifact_bytes, …); or set "completion": "token", let the harness read one line of stdin before it loads any other code, and print KERVYXA_DONE=<that line> as its last line.',
      }),
    ];
  });
}

interface Place {
  readonly variable: string;
  readonly pattern: RegExp;
  /** Who finds something there, in words. */
  readonly whose: string;
}

const PLACES: readonly Place[] = [
  {
    variable: PACKAGE,
    pattern: /KERVYXA_VERIFIER_PACKAGE\b/,
    whose: 'hidden criteria, and of a judge_probe its judge',
  },
  {
    variable: 'KERVYXA_PROBE',
    pattern: /KERVYXA_PROBE\b/,
    whose: 'the probe of a hidden judge_probe',
  },
  {
    variable: 'KERVYXA_PROBE_OUTPUT',
    pattern: /KERVYXA_PROBE_OUTPUT\b/,
    whose: 'the judge of a judge_probe',
  },
];

/** NOT_IN_CONTAINER: a place that is empty where the command runs, or a file of the repository for a judge. */
export function lintPlaces({ setup, criteria }: Draft, facts: BaseFacts | null): Finding[] {
  return [
    ...setup.flatMap((command) => placeFindings(command, [])),
    ...criteria.flatMap((criterion) =>
      criterion.commands.flatMap((command) => placeFindings(command, placesOf(criterion, command))),
    ),
    ...criteria.flatMap((criterion) => judgeFindings(criterion, facts)),
  ];
}

function placesOf({ type, visibility, probing }: DraftCriterion, command: DraftText): string[] {
  const isHidden = visibility === 'hidden';
  if (type !== 'judge_probe') return isHidden ? [PACKAGE] : [];
  if (command === probing) return isHidden ? ['KERVYXA_PROBE'] : [];
  return isHidden ? [PACKAGE, 'KERVYXA_PROBE_OUTPUT'] : ['KERVYXA_PROBE_OUTPUT'];
}

function placeFindings({ text, pointer }: DraftText, filled: readonly string[]): Finding[] {
  return PLACES.filter(
    ({ variable, pattern }) => pattern.test(text) && !filled.includes(variable),
  ).map(({ variable, whose }) =>
    findingOf('NOT_IN_CONTAINER', pointer, {
      message: `expected a command that uses what its container has, got $${variable}, which is only for ${whose}`,
      fix: `Make the criterion hidden, or keep to what is there: the solver's tree, or $KERVYXA_PROBE_OUTPUT for a judge.`,
    }),
  );
}

function judgeFindings(criterion: DraftCriterion, facts: BaseFacts | null): Finding[] {
  const [path] = judgeScriptsOf(criterion, facts);
  if (path === undefined || criterion.judging === null) return [];
  return [
    findingOf('NOT_IN_CONTAINER', criterion.judging.pointer, {
      message: `expected a judge of the hidden package, got "${toPrintable(path, 100)}" of the repository, which is not in the judge's container`,
      fix: `Put it into the package and call it as "$${PACKAGE}/…".`,
    }),
  ];
}
