import { compilePathPattern, type PathPattern } from '@kervyxa/core';

import table from './linguist-table.json' with { type: 'json' };

/** What is kept of one language of Linguist's table. */
export interface LinguistLanguage {
  readonly type: string;
  /** The language that Linguist counts this one as: TSX as TypeScript. */
  readonly group?: string;
  readonly aliases: readonly string[];
  /** Lower-case, with the dot; the first is the language's own. */
  readonly extensions: readonly string[];
  readonly filenames: readonly string[];
}
export type LinguistTable = Readonly<Record<string, LinguistLanguage>>;

interface Candidate {
  readonly name: string;
  readonly language: LinguistLanguage;
  /** The file's name or extension is the language's own, not one it shares. */
  readonly isOwn: boolean;
}

const LINGUIST: LinguistTable = table;
const byFilename = new Map<string, Candidate[]>();
const byExtension = new Map<string, Candidate[]>();
const namesByAlias = new Map<string, string>();
for (const [name, language] of Object.entries(LINGUIST)) {
  for (const filename of language.filenames)
    add(byFilename, filename, { name, language, isOwn: true });
  for (const [index, extension] of language.extensions.entries()) {
    add(byExtension, extension, { name, language, isOwn: index === 0 });
  }
  for (const alias of language.aliases) namesByAlias.set(alias.toLowerCase(), name);
}
for (const name of Object.keys(LINGUIST)) namesByAlias.set(name.toLowerCase(), name);

function add(index: Map<string, Candidate[]>, key: string, candidate: Candidate): void {
  const list = index.get(key);
  if (list === undefined) index.set(key, [candidate]);
  else list.push(candidate);
}

/** Linguist's name for a language given by name or alias in any case (`js`, `typescript`, `C++`), or null. */
export function languageNamed(text: string): string | null {
  return namesByAlias.get(text.toLowerCase()) ?? null;
}

/**
 * What Linguist's table has for a file's name: languages and, in the same order, their types (`programming`,
 * `markup`, `data`, `prose`). The whole name beats the extension, a longer extension a shorter one. Null: unknown.
 */
export function languagesOf(path: string): { languages: string[]; types: string[] } | null {
  const candidates = candidatesOf(path);
  if (candidates.length === 0) return null;
  return {
    languages: candidates.map(({ name }) => name),
    types: candidates.map(({ language }) => language.type),
  };
}

function candidatesOf(path: string): readonly Candidate[] {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const named = byFilename.get(name);
  if (named !== undefined) return named;
  const lower = name.toLowerCase();
  for (let dot = lower.indexOf('.'); dot >= 0; dot = lower.indexOf('.', dot + 1)) {
    const found = byExtension.get(lower.slice(dot));
    if (found !== undefined) return found;
  }
  return [];
}

/**
 * Whether a contract's `allowedLanguages` let a file be changed. Code (programming, markup) must be in one of them;
 * data and prose pass; a name that several languages share passes with any of them; a name that the table doesn't
 * know must match one of `editablePaths`.
 *
 * A data or prose language that merely shares an extension of code doesn't free it: XML lists `.ts` and `.rs`.
 */
export function isLanguageAllowed(
  path: string,
  allowedLanguages: readonly string[],
  editablePaths: readonly string[],
): boolean {
  const candidates = candidatesOf(path);
  if (candidates.length === 0) {
    return compiledOf(editablePaths).some((pattern) => pattern.matches(path));
  }
  const allowed = new Set(allowedLanguages.map(languageNamed));
  const hasCode = candidates.some(isCode);
  return candidates.some((candidate) => {
    const { name, language, isOwn } = candidate;
    if (!isCode(candidate) && (isOwn || !hasCode)) return true;
    return allowed.has(name) || (language.group !== undefined && allowed.has(language.group));
  });
}

// A commit may change a hundred thousand files, all held against one list.
const compiled = new WeakMap<readonly string[], readonly PathPattern[]>();

function compiledOf(sources: readonly string[]): readonly PathPattern[] {
  const known = compiled.get(sources);
  if (known !== undefined) return known;
  const patterns = sources.map(compilePathPattern);
  compiled.set(sources, patterns);
  return patterns;
}

function isCode({ language }: Candidate): boolean {
  return language.type === 'programming' || language.type === 'markup';
}
