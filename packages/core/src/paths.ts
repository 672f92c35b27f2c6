const MAX_PATTERN_BYTES = 1_024;
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

/** Why a text can't be a path pattern, or null where it can. */
export function patternProblem(source: string): PatternProblem | null {
  if (source === '' || source === '/') return 'empty';
  if (encoder.encode(source).length > MAX_PATTERN_BYTES) return 'too_long';
  if (source.startsWith('/')) return 'absolute';
  if (/[\u0000-\u001f\u007f\\]/.test(source)) return 'control_character';
  if (/[[\]{}!]|[+@]\(|\*\(|\?\(/.test(source)) return 'unsupported';
  const segments = source.replace(/\/$/, '').split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..'))
    return 'dot_segment';
  if (segments.some((segment) => segment.includes('**') && segment !== '**')) return 'unsupported';
  return null;
}

/** Compiles a pattern that `patternProblem` accepts; throws TypeError for any other. */
export function compilePathPattern(source: string): PathPattern {
  const problem = patternProblem(source);
  if (problem !== null) throw new TypeError(`expected a path pattern, got one that is ${problem}`);
  const pattern = toSegments(source.replace(/\/$/, ''));
  const folded = toSegments(foldPath(source.replace(/\/$/, '')));
  return {
    source,
    matches: (path) => matchSegments(pattern, segmentsOf(path)) === 'whole',
    matchesFolded: (path) => matchSegments(folded, foldedSegmentsOf(path)) === 'whole',
    isAncestorOfMatch: (path) => matchSegments(pattern, segmentsOf(path)) === 'prefix',
    spellsAncestor: (path) => spellsAncestor(pattern, segmentsOf(path)),
  };
}

/** Equal for two paths that a file system which folds case or normalises names can't tell apart (THREATS D19). */
export function foldPath(path: string): string {
  // Upper case first: it alone knows that `ß` is `SS` and `ſ` is `S`.
  return path.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
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
const segmentsOf = rememberingLast(toSegments);
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

function toBytes(path: string | Uint8Array): Uint8Array {
  if (typeof path === 'string') return encoder.encode(path.normalize('NFC'));
  try {
    return encoder.encode(decoder.decode(path).normalize('NFC'));
  } catch (error) {
    // Not UTF-8: it has no other form, and is matched as it is.
    if (error instanceof TypeError) return path;
    throw error;
  }
}

function toSegments(path: string | Uint8Array): Uint8Array[] {
  const bytes = toBytes(path);
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
 * Walks the path's segments, keeping the set of pattern positions reached. 'whole': the pattern was used up by the
 * path or by a folder above it. 'prefix': the path ended on a named segment while the pattern wanted more below it;
 * a segment that only `**` took does not count, or every path would lie above `**` + `/x`.
 */
function matchSegments(pattern: Uint8Array[], path: Uint8Array[]): 'whole' | 'prefix' | 'none' {
  const [first, top] = [pattern[0], path[0]];
  // Most rules are about another folder: no need to keep sets for those.
  if (first !== undefined && top !== undefined && !isGlobstar(first) && !matchSegment(first, top))
    return 'none';
  let positions = closeOverGlobstars(pattern, new Set([0]));
  let named = false;
  for (const segment of path) {
    if (positions.has(pattern.length)) return 'whole';
    const next = new Set<number>();
    named = false;
    for (const position of positions) {
      const wanted = pattern[position];
      if (wanted === undefined) continue;
      if (isGlobstar(wanted)) {
        next.add(position);
        // A trailing `**` means what is below, so it is used up only by a segment.
        if (position + 1 === pattern.length) next.add(pattern.length);
      } else if (matchSegment(wanted, segment)) {
        next.add(position + 1);
        named = true;
      }
    }
    if (next.size === 0) return 'none';
    positions = closeOverGlobstars(pattern, next);
  }
  if (positions.has(pattern.length)) return 'whole';
  return named ? 'prefix' : 'none';
}

function closeOverGlobstars(pattern: Uint8Array[], positions: Set<number>): Set<number> {
  for (const position of positions) {
    const wanted = pattern[position];
    // The set grows while it is walked, by design.
    if (wanted !== undefined && isGlobstar(wanted) && position + 1 < pattern.length)
      positions.add(position + 1);
  }
  return positions;
}

function isGlobstar(segment: Uint8Array): boolean {
  return segment.length === 2 && segment[0] === STAR && segment[1] === STAR;
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
