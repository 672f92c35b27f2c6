/** First release of each line with the fixes of November 2025 (CVE-2025-31133, 52565 and 52881); later ones have them. */
const FIXED: readonly (readonly [minor: number, patch: number])[] = [
  [2, 8],
  [3, 3],
];
const FIXED_FROM_MINOR = 4;

/**
 * What speaks against an engine's runc, from its version, `1.1.5+ds1`: a sentence, or null where it has the fixes of
 * known ways out of a container (THREATS C34).
 */
export function judgeRunc(version: string): string | null {
  const match = /^v?(\d+)\.(\d+)\.(\d+)(-rc)?/.exec(version);
  if (match === null) return 'The engine does not tell which runc starts its containers.';
  const [major, minor, patch] = [Number(match[1]), Number(match[2]), Number(match[3])];
  // The last fixes came with the third candidate; who runs a candidate is told to update.
  const isCandidate = match[4] !== undefined && minor === FIXED_FROM_MINOR && patch === 0;
  const isFixed =
    major > 1 ||
    minor > FIXED_FROM_MINOR ||
    (minor === FIXED_FROM_MINOR && !isCandidate) ||
    FIXED.some(([line, from]) => major === 1 && minor === line && patch >= from);
  if (isFixed) return null;
  return (
    `Its runc ${match[0]} has known ways out of a container, unless the distribution has mended them: ` +
    'update it to 1.2.8, 1.3.3, 1.4.0 or later.'
  );
}
