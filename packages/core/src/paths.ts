const MAX_PATTERN_BYTES = 1_024;
/** Work grows with the product of both depths, and a commit can bring a hundred thousand deep paths. A bit for each. */
const MAX_PATTERN_SEGMENTS = 30;
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const SLASH = 0x2f;
const STAR = 0x2a;
const QUESTION = 0x3f;

/**
 * A path pattern of a contract, compiled to a matcher over bytes. Linear in path × pattern: no regular expression,
 * no braces, classes or extglobs, so no engine can disagree or hang (THREATS D16, D18).
 *
 * - `a/b` names that file, and everything below it should it be a folder; `a/` says folder, and matches the same.
 * - `*` and `?` match within one segment, dot files included; `?` is one character, however many bytes it has; `**` as
 *   a whole segment matches any number of segments.
 * - `é` as one character and as `e` with an accent is the same: keyboards and file systems disagree about it, and what
 *   a requester typed must protect what the tree holds.
 * - A pattern without a slash other than at its end names a place at the root only: `*.js` is not `src/x.js`;
 *   write `**` + `/*.js` for any depth.
 */
export interface PathPattern {
  readonly source: string;
  /** The path itself matches, or a folder above it does. */
  matches(path: string | Uint8Array): boolean;
  /** The same, of names that differ in letter case only, or not even that on some file systems (THREATS D19). */
  matchesFolded(path: string): boolean;
  /** The path is a folder that the pattern lies below: replacing it with a file or link would take its place. */
  isAncestorOfMatch(path: string | Uint8Array): boolean;
  /** The same, and the pattern spells every name of the path out: no `*`, `?` or `**` took one. */
  spellsAncestor(path: string | Uint8Array): boolean;
}

export type PatternProblem =
  'empty' | 'too_long' | 'absolute' | 'dot_segment' | 'control_character' | 'unsupported';

/** Whether a pattern spells a name in full, but for its last ending: `tests/`, `**` + `/jest.config.*`; not `*.json`. */
export function isSpelledOut(source: string): boolean {
  const name = source.replace(/\/$/, '').split('/').at(-1) ?? '';
  return /^(?:[^*?]+|[^*?]*[^*?.]\.\*)$/.test(name);
}

/** Why a text can't be a path pattern, or null where it can. */
export function patternProblem(source: string): PatternProblem | null {
  if (source === '' || source === '/') return 'empty';
  if (encoder.encode(source).length > MAX_PATTERN_BYTES) return 'too_long';
  if (source.startsWith('/')) return 'absolute';
  if (/[\u0000-\u001f\u007f\\]/.test(source)) return 'control_character';
  if (/[[\]{}!]|[+@]\(|\*\(|\?\(/.test(source)) return 'unsupported';
  const segments = source.replace(/\/$/, '').split('/');
  if (segments.length > MAX_PATTERN_SEGMENTS) return 'too_long';
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..'))
    return 'dot_segment';
  if (segments.some((segment) => segment.includes('**') && segment !== '**')) return 'unsupported';
  return null;
}

/** Compiles a pattern that `patternProblem` accepts; throws TypeError for any other. */
export function compilePathPattern(source: string): PathPattern {
  const problem = patternProblem(source);
  if (problem !== null) throw new TypeError(`expected a path pattern, got one that is ${problem}`);
  const pattern = formsOf(source.replace(/\/$/, ''));
  const folded = toSegments(foldPath(source.replace(/\/$/, '')));
  const literal = longestLiteral(source.normalize('NFC'));
  return {
    source,
    matches: (path) =>
      !lacks(path, literal) && someForm(pattern, path, (a, b) => matchSegments(a, b) === 'whole'),
    matchesFolded: (path) => matchSegments(folded, foldedSegmentsOf(path)) === 'whole',
    isAncestorOfMatch: (path) =>
      someForm(pattern, path, (a, b) => matchSegments(a, b) === 'prefix'),
    spellsAncestor: (path) => someForm(pattern, path, spellsAncestor),
  };
}

/** What stands in every path that the pattern matches: the longest text of one name without wildcards. */
function longestLiteral(source: string): string {
  return source.split(/[/*?]/).reduce((a, b) => (b.length > a.length ? b : a), '');
}

/** Most rules are about another place, and are told apart by this at a tenth of the cost. */
function lacks(path: string | Uint8Array, literal: string): boolean {
  if (typeof path !== 'string' || path.includes(literal)) return false;
  // Another form of the path may have it.
  return /^[\u0000-\u007f]*$/.test(path);
}

/** Characters that HFS+ ignores in a name, and no reader sees: `.g<U+200C>it` is `.git` there. */
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * Equal for two paths that a file system which folds case, normalises names or ignores characters that nobody sees
 * can't tell apart (THREATS D19).
 */
export function foldPath(path: string): string {
  if (/^[\u0000-\u007f]*$/.test(path)) return path.toLowerCase();
  // Upper case knows that `ß` is `SS` and `ſ` is `S`, lower case that `ẞ` is `ß`. Which small sigma stands for a capital
  // one depends on what is beside it.
  const plain = path.normalize('NFC').replaceAll(IGNORED, '').toLowerCase();
  return plain.toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}

/** A name as it is spelled, and in the one normal form where that is another. */
interface Forms {
  readonly spelled: readonly Uint8Array[];
  readonly composed: readonly Uint8Array[];
}

/**
 * Both forms are held against each other: an accent put behind `check` makes another letter of the `k`, and to a shell
 * that name still matches `check*`.
 */
function someForm(
  pattern: Forms,
  path: string | Uint8Array,
  holds: (pattern: readonly Uint8Array[], path: readonly Uint8Array[]) => boolean,
): boolean {
  const forms = formsOfPath(path);
  if (holds(pattern.composed, forms.composed)) return true;
  const isOneForm = pattern.spelled === pattern.composed && forms.spelled === forms.composed;
  return !isOneForm && holds(pattern.spelled, forms.spelled);
}

function spellsAncestor(pattern: readonly Uint8Array[], path: readonly Uint8Array[]): boolean {
  return (
    path.length < pattern.length &&
    path.every((segment, index) => {
      const wanted = pattern[index];
      if (wanted === undefined || wanted.includes(STAR) || wanted.includes(QUESTION)) return false;
      return matchSegment(wanted, segment);
    })
  );
}

// One path after another is held against all patterns of a list: the last one's segments answer most calls.
const formsOfPath = rememberingLast(formsOf);
const foldedSegmentsOf = rememberingLast((path: string) => toSegments(foldPath(path)));

function rememberingLast<Key, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  let last: { readonly key: Key; readonly value: Value } | null = null;
  return (key) => {
    // Bytes can be others the next time.
    if (typeof key !== 'string') return compute(key);
    if (last?.key !== key) last = { key, value: compute(key) };
    return last.value;
  };
}

function formsOf(path: string | Uint8Array): Forms {
  const text = typeof path === 'string' ? path : toText(path);
  const spelled = toSegments(path);
  const composed = text?.normalize('NFC') ?? null;
  return {
    spelled,
    composed: composed === text || composed === null ? spelled : toSegments(composed),
  };
}

/** Null where it is not UTF-8: that has no other form, and is matched as it is. */
function toText(path: Uint8Array): string | null {
  try {
    return decoder.decode(path);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

function toSegments(path: string | Uint8Array): readonly Uint8Array[] {
  const bytes = typeof path === 'string' ? encoder.encode(path) : path;
  const segments: Uint8Array[] = [];
  let start = 0;
  for (let index = 0; index <= bytes.length; index += 1) {
    if (index === bytes.length || bytes[index] === SLASH) {
      segments.push(bytes.subarray(start, index));
      start = index + 1;
    }
  }
  return segments;
}

/**
 * Walks the path's segments, keeping the places in the pattern that are reached as bits of one number. 'whole': the
 * pattern was used up by the path or by a folder above it. 'prefix': the path ended on a named segment while the
 * pattern wanted more below it; a segment that only `**` took does not count, or every path would lie above `**` + `/x`.
 */
function matchSegments(
  pattern: readonly Uint8Array[],
  path: readonly Uint8Array[],
): 'whole' | 'prefix' | 'none' {
  const end = 1 << pattern.length;
  let reached = reach(pattern, 0);
  let isNamed = false;
  for (const segment of path) {
    if ((reached & end) !== 0) return 'whole';
    let next = 0;
    isNamed = false;
    for (let rest = reached; rest !== 0; rest &= rest - 1) {
      const place = 31 - Math.clz32(rest & -rest);
      const wanted = pattern[place];
      if (wanted === undefined) continue;
      if (isGlobstar(wanted)) {
        // A trailing `**` means what is below, so it is used up only by a segment.
        next |= reach(pattern, place) | (place + 1 === pattern.length ? end : 0);
      } else if (matchSegment(wanted, segment)) {
        next |= reach(pattern, place + 1);
        isNamed = true;
      }
    }
    if (next === 0) return 'none';
    reached = next;
  }
  if ((reached & end) !== 0) return 'whole';
  return isNamed ? 'prefix' : 'none';
}

/** The bits of a place and of those behind each `**` that takes nothing. */
function reach(pattern: readonly Uint8Array[], place: number): number {
  let bits = 1 << place;
  for (let at = place; at + 1 < pattern.length && isGlobstar(pattern[at]); at += 1) {
    bits |= 1 << (at + 1);
  }
  return bits;
}

function isGlobstar(segment: Uint8Array | undefined): boolean {
  return segment?.length === 2 && segment[0] === STAR && segment[1] === STAR;
}

/** Greedy match with one backtrack point: linear in the product of both lengths. */
function matchSegment(pattern: Uint8Array, text: Uint8Array): boolean {
  let p = 0;
  let t = 0;
  let starAt = -1;
  let starText = 0;
  while (t < text.length) {
    if (p < pattern.length && pattern[p] === STAR) {
      starAt = p;
      starText = t;
      p += 1;
    } else if (p < pattern.length && pattern[p] === QUESTION) {
      p += 1;
      t = nextCharacter(text, t);
    } else if (p < pattern.length && pattern[p] === text[t]) {
      p += 1;
      t += 1;
    } else if (starAt >= 0) {
      starText = nextCharacter(text, starText);
      t = starText;
      p = starAt + 1;
    } else {
      return false;
    }
  }
  while (p < pattern.length && pattern[p] === STAR) p += 1;
  return p === pattern.length;
}

/** Where the next character begins: UTF-8 goes on with bytes 80 to BF. A byte that is no UTF-8 counts as one. */
function nextCharacter(text: Uint8Array, at: number): number {
  let next = at + 1;
  while (((text[next] ?? 0) & 0xc0) === 0x80) next += 1;
  return next;
}
