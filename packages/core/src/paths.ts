const MAX_PATTERN_BYTES = 1_024;
const encoder = new TextEncoder();
const SLASH = 0x2f;
const STAR = 0x2a;
const QUESTION = 0x3f;

/**
 * A path pattern of a contract, compiled to a matcher over bytes. Linear in path × pattern: no regular expression,
 * no braces, classes or extglobs, so no engine can disagree or hang (THREATS D16, D18).
 *
 * - `a/b` names that file, and everything below it should it be a folder; `a/` says folder, and matches the same.
 * - `*` and `?` match within one segment, dot files included; `**` as a whole segment matches any number of segments.
 * - A pattern without a slash other than at its end names a place at the root only: `*.js` is not `src/x.js`;
 *   write `**` + `/*.js` for any depth.
 */
export interface PathPattern {
  readonly source: string;
  /** The path itself matches, or a folder above it does. */
  matches(path: string | Uint8Array): boolean;
  /** The path is a folder that the pattern lies below: replacing it with a file or link would take its place. */
  isAncestorOfMatch(path: string | Uint8Array): boolean;
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
  const pattern = source
    .replace(/\/$/, '')
    .split('/')
    .map((segment) => encoder.encode(segment));
  return {
    source,
    matches: (path) => matchSegments(pattern, toSegments(path)) === 'whole',
    isAncestorOfMatch: (path) => matchSegments(pattern, toSegments(path)) === 'prefix',
  };
}

function toSegments(path: string | Uint8Array): Uint8Array[] {
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
 * Walks the path's segments, keeping the set of pattern positions reached. 'whole': the pattern was used up by the
 * path or by a folder above it. 'prefix': the path ended on a named segment while the pattern wanted more below it;
 * a segment that only `**` took does not count, or every path would lie above `**` + `/x`.
 */
function matchSegments(pattern: Uint8Array[], path: Uint8Array[]): 'whole' | 'prefix' | 'none' {
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
    } else if (p < pattern.length && (pattern[p] === QUESTION || pattern[p] === text[t])) {
      p += 1;
      t += 1;
    } else if (starAt >= 0) {
      starText += 1;
      t = starText;
      p = starAt + 1;
    } else {
      return false;
    }
  }
  while (p < pattern.length && pattern[p] === STAR) p += 1;
  return p === pattern.length;
}
