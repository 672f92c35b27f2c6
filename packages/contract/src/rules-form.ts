import { isAppError, toPrintable } from '@kervyxa/core';
import type { z } from 'zod';

import { valueAt, type Draft } from './draft.ts';
import type { OperatorSettings } from './facts.ts';
import { findingOf, isFindingCode, type FindingCode } from './finding-table.ts';
import type { Finding } from './finding.ts';
import { languageNamed } from './languages.ts';
import { LIMIT_RANGES, WINDOW_SECONDS_MIN } from './limits.ts';
import { compileLinearRegex } from './linear-regex.ts';
import { toPointer } from './pointer.ts';
import { repositoryUrlProblem } from './repository-url.ts';
import { codeOfIssue } from './schema-parts.ts';
import { ContractSchema } from './schema.ts';

/** What the schema has to say, under the most telling code. */
export function lintSchema(document: unknown): Finding[] {
  const parsed = ContractSchema.safeParse(document);
  if (parsed.success) return [];
  return parsed.error.issues.flatMap((issue) => findingsOfIssue(issue, document));
}

function findingsOfIssue(issue: z.core.$ZodIssue, document: unknown): Finding[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) =>
      findingOf('SCHEMA_INVALID', toPointer([...issue.path, key]), {
        message: `expected only known keys, got "${toPrintable(key, 100)}"`,
        fix: 'Remove the key, or correct its spelling: contracts are read strictly.',
      }),
    );
  }
  const code = codeFor(issue, valueAt(document, issue.path));
  const said = lowerFirst(issue.message).replace(/^invalid input: /, '');
  const message = toPrintable(said.replace(/received undefined$/, 'got nothing'), 300);
  return [findingOf(code, toPointer(issue.path), { message, fix: fixFor(code, issue) })];
}

function codeFor(issue: z.core.$ZodIssue, value: unknown): FindingCode {
  const given = codeOfIssue(issue);
  if (given !== null && isFindingCode(given)) return given;
  const pointer = toPointer(issue.path);
  const name = String(issue.path.at(-1));
  if (pointer === '/repository/baseCommit') return 'BASE_COMMIT_NOT_PINNED';
  if (pointer === '/environment/image') return 'IMAGE_NOT_PINNED';
  if (pointer === '/constraints/maxChangedFiles' && value === undefined) {
    return 'NO_CHANGED_FILE_LIMIT';
  }
  if (/^\/criteria\/\d+\/metric(\/(name|unit|op|threshold))?$/.test(pointer)) {
    if (value === undefined) return 'METRIC_INCOMPLETE';
    if (name === 'threshold') return 'THRESHOLD_NOT_FINITE';
  }
  if (Object.hasOwn(LIMIT_RANGES, name) && typeof value === 'number') return 'LIMIT_OUT_OF_RANGE';
  return 'SCHEMA_INVALID';
}

const FIXES: Partial<Record<FindingCode, string>> = {
  BASE_COMMIT_NOT_PINNED:
    'Give the full 40-digit SHA in lower case (git rev-parse): branches and tags move, short SHAs collide.',
  IMAGE_NOT_PINNED: 'Name a runtime of the catalogue (kervyxa runtimes) or name@sha256:<digest>.',
  NO_CHANGED_FILE_LIMIT:
    'Set constraints.maxChangedFiles to the number of files that the work needs; a rename counts as two.',
  METRIC_INCOMPLETE: 'Give metric {name, unit, op, threshold}.',
  THRESHOLD_NOT_FINITE: 'Give a finite JSON number.',
  PATH_PATTERN_INVALID:
    'Write a relative path, a folder with a slash at its end, or a pattern of *, ? and whole ** segments, of at most 30 names.',
  DUPLICATE_CRITERION_ID: 'Give every criterion an id of its own.',
};

function fixFor(code: FindingCode, issue: z.core.$ZodIssue): string {
  const name = String(issue.path.at(-1));
  const ranges: Readonly<Record<string, { min: number; max: number }>> = LIMIT_RANGES;
  const range = Object.hasOwn(ranges, name) ? ranges[name] : undefined;
  if (code === 'LIMIT_OUT_OF_RANGE' && range !== undefined) {
    return `Choose a number from ${range.min} to ${range.max}.`;
  }
  return FIXES[code] ?? 'Correct the field; docs/contracts.md shows every field with its form.';
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

export function lintRepositoryUrls(draft: Draft, { allowedOrigins }: OperatorSettings): Finding[] {
  return [draft.url, ...draft.proofUrls].flatMap((url) => {
    const problem = url && repositoryUrlProblem(url.text, allowedOrigins);
    if (!url || problem === null) return [];
    return [
      findingOf('REPOSITORY_URL_REFUSED', url.pointer, {
        message: `expected a public https URL, got ${problem}`,
        fix: 'Give the plain https URL under which anyone can fetch, such as https://git.example.org/team/repo.git.',
      }),
    ];
  });
}

export function lintImage({ image }: Draft, { catalogue }: OperatorSettings): Finding[] {
  if (image === null || /^[a-z0-9][a-z0-9._/:-]*@sha256:[0-9a-f]{64}$/.test(image.text)) return [];
  const isRuntime =
    catalogue === null ? image.text.startsWith('kervyxa-runtime/') : catalogue.includes(image.text);
  if (isRuntime) return [];
  const known = catalogue === null ? 'kervyxa-runtime/…' : catalogue.join(', ');
  return [
    findingOf('IMAGE_NOT_PINNED', image.pointer, {
      message: `expected one of ${toPrintable(known, 300)} or name@sha256:<digest>, got "${toPrintable(image.text, 100)}"`,
      fix: 'A tag can point elsewhere tomorrow: name a runtime of the catalogue, or pin the digest.',
    }),
  ];
}

/** What the schema allows, but not this operator. */
export function lintWindows(
  { windows }: Draft,
  { windowSecondsMin = WINDOW_SECONDS_MIN }: OperatorSettings,
): Finding[] {
  const { min } = LIMIT_RANGES.challengeWindowSeconds;
  return windows
    .filter(({ seconds }) => seconds >= min && seconds < windowSecondsMin)
    .map(({ seconds, pointer }) =>
      findingOf('LIMIT_OUT_OF_RANGE', pointer, {
        message: `expected at least ${windowSecondsMin}, the shortest window that the operator allows, got ${seconds}`,
        fix: `Choose at least ${windowSecondsMin}: people need the time to look and object.`,
      }),
    );
}

export function lintLanguages({ languages }: Draft): Finding[] {
  return languages
    .filter(({ text }) => languageNamed(text) === null)
    .map(({ text, pointer }) =>
      findingOf('LANGUAGE_UNKNOWN', pointer, {
        message: `expected a language of the Linguist table, got "${toPrintable(text, 100)}"`,
        fix: 'Use the name that GitHub shows for such files: javascript, typescript, python, c++, …',
      }),
    );
}

export function lintPatterns({ criteria }: Draft): Finding[] {
  return criteria.flatMap(({ op, value, pointer }) => {
    if (op !== 'matches' || value === null) return [];
    const problem = regexProblem(value);
    if (problem === null) return [];
    return [findingOf('REGEX_REFUSED', `${pointer}/assertion/value`, problem)];
  });
}

function regexProblem(source: string): { message: string; fix: string } | null {
  try {
    compileLinearRegex(source);
    return null;
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { message: error.message, fix: error.fix ?? '' };
  }
}

export function lintCriterionIds({ criteria }: Draft): Finding[] {
  const seen = new Set<string>();
  const findings: Finding[] = [];
  for (const { id, pointer } of criteria) {
    if (id !== null && seen.has(id)) {
      findings.push(
        findingOf('DUPLICATE_CRITERION_ID', `${pointer}/id`, {
          message: `expected every id once, got "${toPrintable(id, 100)}" again`,
          fix: 'Give every criterion an id of its own.',
        }),
      );
    }
    if (id !== null) seen.add(id);
  }
  return findings;
}
