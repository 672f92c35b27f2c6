import { compilePathPattern, isSpelledOut, patternProblem, type PathPattern } from '@kervyxa/core';

import { isLanguageAllowed, languagesOf } from './languages.ts';
import { readInsteadOf } from './read-instead.ts';
import { COMMANDS_LENGTH_MAX, isReviewable } from './schema-parts.ts';

/** A text of the document with its place. */
export interface DraftText {
  readonly text: string;
  readonly pointer: string;
}

export interface DraftCriterion {
  readonly pointer: string;
  readonly id: string | null;
  readonly title: string | null;
  readonly type: string | null;
  readonly visibility: string | null;
  readonly timeoutSeconds: number | null;
  /** The command whose exit status or marker judges: `command`, or the judge's of a judge_probe. */
  readonly judging: DraftText | null;
  /** The command of a judge_probe that runs the solver's code. */
  readonly probing: DraftText | null;
  /** Every command of the criterion. */
  readonly commands: readonly DraftText[];
  readonly path: string | null;
  /** Files of the commit that a checker is given: its artifacts and its summary. */
  readonly submitted: readonly DraftText[];
  readonly source: string | null;
  readonly stdoutSha256: string | null;
  readonly completion: string | null;
  readonly op: string | null;
  readonly value: string | null;
  readonly metricName: string | null;
  readonly unit: string | null;
  readonly metricOp: string | null;
  readonly threshold: number | null;
}

/**
 * What can be read of a document that may be wrong in any place, so that one mistake hides no other. A field of the
 * wrong type or beyond its size is null; the schema's own finding tells about it.
 */
export interface Draft {
  readonly kind: string | null;
  readonly title: DraftText | null;
  readonly objective: DraftText | null;
  readonly notes: DraftText | null;
  readonly url: DraftText | null;
  readonly image: DraftText | null;
  readonly inputs: readonly DraftText[];
  readonly setup: readonly DraftText[];
  /** Whether the contract names a dependency bundle. */
  readonly hasBundle: boolean;
  readonly protectedPaths: readonly DraftText[];
  readonly editablePaths: readonly DraftText[];
  readonly languages: readonly DraftText[];
  readonly criteria: readonly DraftCriterion[];
  readonly proofUrls: readonly DraftText[];
  /** Challenge and response window, as far as they are numbers. */
  readonly windows: readonly { readonly seconds: number; readonly pointer: string }[];
  readonly acknowledgements: readonly { code: string; reason: string; pointer: string }[];
  /** Whether the solver may change the path, as far as the patterns that compile tell. */
  isEditable(path: string): boolean;
  /** Whether a commit that changes the path gets past policy: editable, and of a language that is allowed. */
  letsChange(path: string): boolean;
}

const WINDOWS = ['challengeWindowSeconds', 'responseWindowSeconds'] as const;
const TEXT_LENGTH_MAX = 20_000;
const NAME_LENGTH_MAX = 100;
const CRITERIA_MAX = 64;
const LIST_LENGTH_MAX = 256;

export function readDraft(document: unknown): Draft {
  const at = (keys: string[]) => textAt(document, keys);
  const editablePaths = textsAt(document, ['constraints', 'editablePaths']);
  const editable = patternsOf(editablePaths);
  const protectedPaths = textsAt(document, ['constraints', 'protectedPaths']);
  const compiled = patternsOf(protectedPaths);
  const spelledOut = compiled.filter(({ source }) => isSpelledOut(source));
  const isEditable = (path: string): boolean =>
    !compiled.some((pattern) => pattern.matches(path)) &&
    !readInsteadOf(path).some((each) => spelledOut.some((pattern) => pattern.matches(each))) &&
    (editable.length === 0 || editable.some((pattern) => pattern.matches(path)));
  const languages = textsAt(document, ['constraints', 'allowedLanguages']);
  const allowed = languages.map(({ text }) => text);
  const commands = commandsIn(document);
  return {
    kind: at(['kind'])?.text ?? null,
    title: at(['title']),
    objective: at(['objective']),
    notes: at(['constraints', 'notes']),
    url: at(['repository', 'url']),
    image: at(['environment', 'image']),
    inputs: recordsAt(document, ['inputs']).flatMap(({ value, pointer }) =>
      asList(textOfKey(value, 'path', pointer)),
    ),
    setup: commands.setup,
    hasBundle: at(['environment', 'dependencies', 'sha256']) !== null,
    protectedPaths,
    editablePaths,
    languages,
    criteria: commands.criteria,
    proofUrls: recordsAt(document, ['proof']).flatMap(({ value, pointer }) =>
      asList(textOfKey(value, 'repository', pointer)),
    ),
    windows: WINDOWS.flatMap((name) => {
      const seconds = valueAt(document, ['settlement', name]);
      return typeof seconds === 'number' ? [{ seconds, pointer: `/settlement/${name}` }] : [];
    }),
    acknowledgements: recordsAt(document, ['acknowledgements']).map(({ value, pointer }) => ({
      code: textOfKey(value, 'code', pointer)?.text ?? '',
      reason: textOfKey(value, 'reason', pointer)?.text ?? '',
      pointer,
    })),
    isEditable,
    letsChange: (path) =>
      isEditable(path) &&
      (allowed.length === 0 ||
        (languagesOf(path) === null ? editable.length > 0 : isLanguageAllowed(path, allowed, []))),
  };
}

/** Without the commands where they are too long together: the schema refuses them, and nobody analyses them. */
function commandsIn(document: unknown): Pick<Draft, 'setup' | 'criteria'> {
  const setup = recordsAt(document, ['environment', 'setup']).flatMap(({ value, pointer }) =>
    asList(commandOfKey(value, 'command', pointer)),
  );
  const criteria = recordsAt(document, ['criteria']).slice(0, CRITERIA_MAX).map(readCriterion);
  const all = [...setup, ...criteria.flatMap(({ commands }) => commands)];
  const length = all.reduce((sum, { text }) => sum + text.length, 0);
  if (length <= COMMANDS_LENGTH_MAX) return { setup, criteria };
  return {
    setup: [],
    criteria: criteria.map((each) => ({ ...each, judging: null, probing: null, commands: [] })),
  };
}

function readCriterion({ value, pointer }: Place): DraftCriterion {
  const text = (key: string) => textOfKey(value, key, pointer)?.text ?? null;
  const nested = (key: string, inner: string, lengthMax = TEXT_LENGTH_MAX) =>
    textOfKey(value[key], inner, '', lengthMax)?.text ?? null;
  const command = (key: string) => commandOfKey(value[key], 'command', `${pointer}/${key}`);
  const own = commandOfKey(value, 'command', pointer);
  const [probe, judge] = [command('probe'), command('judge')];
  const seconds = valueAt(value, ['timeoutSeconds']);
  const threshold = valueAt(value, ['metric', 'threshold']);
  return {
    pointer,
    id: text('id'),
    title: text('title'),
    type: text('type'),
    visibility: text('visibility'),
    timeoutSeconds: typeof seconds === 'number' ? seconds : null,
    judging: own ?? judge,
    probing: probe,
    commands: [own, probe, judge].flatMap(asList),
    path: text('path'),
    submitted: [
      ...recordsAt(value, ['artifacts']).flatMap((artifact) =>
        asList(textOfKey(artifact.value, 'path', `${pointer}${artifact.pointer}`)),
      ),
      ...asList(textOfKey(value, 'summary', pointer)),
    ],
    source: text('source'),
    stdoutSha256: text('stdoutSha256'),
    completion: text('completion'),
    op: nested('assertion', 'op'),
    value: nested('assertion', 'value'),
    metricName: nested('metric', 'name', NAME_LENGTH_MAX),
    unit: nested('metric', 'unit', NAME_LENGTH_MAX),
    metricOp: nested('metric', 'op', NAME_LENGTH_MAX),
    threshold: typeof threshold === 'number' ? threshold : null,
  };
}

interface Place {
  readonly value: Readonly<Record<string, unknown>>;
  readonly pointer: string;
}

/** The value at a path of keys; own properties only, so that nothing is read off a prototype. */
export function valueAt(document: unknown, keys: readonly PropertyKey[]): unknown {
  return keys.reduce<unknown>((value, key) => {
    const owner: unknown = value;
    return isRecord(owner) && Object.hasOwn(owner, key) ? Reflect.get(owner, key) : undefined;
  }, document);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function textAt(document: unknown, keys: string[]): DraftText | null {
  const owner = valueAt(document, keys.slice(0, -1));
  const pointer = keys
    .slice(0, -1)
    .map((key) => `/${key}`)
    .join('');
  return textOfKey(owner, keys.at(-1) ?? '', pointer);
}

function textOfKey(
  owner: unknown,
  key: string,
  pointer: string,
  lengthMax = TEXT_LENGTH_MAX,
): DraftText | null {
  const text = valueAt(owner, [key]);
  if (typeof text !== 'string' || text.length > lengthMax) return null;
  return { text, pointer: `${pointer}/${key}` };
}

/** A command that is beyond its size is null: analysing it could take minutes. */
function commandOfKey(owner: unknown, key: string, pointer: string): DraftText | null {
  const place = textOfKey(owner, key, pointer);
  return place !== null && isReviewable(place.text) ? place : null;
}

function elementsAt(document: unknown, keys: string[]): { value: unknown; pointer: string }[] {
  const list = valueAt(document, keys);
  if (!Array.isArray(list)) return [];
  const pointer = keys.map((key) => `/${key}`).join('');
  return list
    .slice(0, LIST_LENGTH_MAX)
    .map((value: unknown, index) => ({ value, pointer: `${pointer}/${index}` }));
}

function recordsAt(document: unknown, keys: string[]): Place[] {
  return elementsAt(document, keys).flatMap(({ value, pointer }) =>
    isRecord(value) ? [{ value, pointer }] : [],
  );
}

function textsAt(document: unknown, keys: string[]): DraftText[] {
  return elementsAt(document, keys).flatMap(({ value, pointer }) =>
    typeof value === 'string' ? [{ text: value, pointer }] : [],
  );
}

function patternsOf(texts: readonly DraftText[]): PathPattern[] {
  return texts
    .filter(({ text }) => patternProblem(text) === null)
    .map(({ text }) => compilePathPattern(text));
}

function asList<T>(value: T | null): T[] {
  return value === null ? [] : [value];
}
