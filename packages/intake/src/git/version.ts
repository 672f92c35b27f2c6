import { runGit, type GitContext } from './process.ts';

/** What `kervyxa doctor` shows about git. */
export interface GitVersion {
  /** `2.39.5` */
  readonly version: string;
  /** `too_old` lacks an option that intake needs; the other two differ in what the version alone can prove. */
  readonly status: 'fixed' | 'backport_unknown' | 'too_old';
  /** A sentence for the operator; null for `fixed`. */
  readonly note: string | null;
}

/** First release of each line with the fixes of July 2025; later lines have them from the start. */
const FIXED: readonly (readonly [major: number, minor: number, patch: number])[] = [
  [2, 43, 7],
  [2, 44, 4],
  [2, 45, 4],
  [2, 46, 4],
  [2, 47, 3],
  [2, 48, 2],
  [2, 49, 1],
  [2, 50, 1],
];

/** `safe.bareRepository`, which keeps git out of repositories that it was not told of, came with this line. */
const NEEDED_MINOR = 38;

/** Throws INTAKE_GIT_UNAVAILABLE where there is no git. */
export async function gitVersion(context: GitContext, signal: AbortSignal): Promise<GitVersion> {
  const { stdout } = await runGit(context, ['version'], signal);
  return judgeGitVersion(stdout);
}

/** Judges the text of `git version`. Pure. */
export function judgeGitVersion(text: string): GitVersion {
  const match = /^git version (\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
  if (match === null) {
    return { version: 'unknown', status: 'too_old', note: 'git did not tell its version' };
  }
  const [major, minor, patch] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
  const version = `${major}.${minor}.${patch}`;
  if (major < 2 || (major === 2 && minor < NEEDED_MINOR)) {
    return { version, status: 'too_old', note: `git 2.${NEEDED_MINOR} or later is needed` };
  }
  const line = FIXED.find(([a, b]) => a === major && b === minor);
  const isLater = major > 2 || minor > 50;
  if (isLater || (line !== undefined && patch >= line[2])) {
    return { version, status: 'fixed', note: null };
  }
  const note =
    'the security fixes of July 2025 came with 2.43.7, 2.50.1 and the like; a distribution may have put them into this version, which the number does not tell';
  return { version, status: 'backport_unknown', note };
}
