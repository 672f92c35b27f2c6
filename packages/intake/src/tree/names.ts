import { foldPath } from '@kervyxa/core';

const PATH_BYTES_MAX = 2_048;
const NAME_BYTES_MAX = 255;

/** Of both sets, line and paragraph separators, and what turns the direction of all that follows it (THREATS D14). */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

/** Why a path may not be in a submitted tree, as the end of "the path …"; null where it may. */
export function pathProblem(path: string): string | null {
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) return `is longer than ${PATH_BYTES_MAX} bytes`;
  for (const name of path.split('/')) {
    const problem = nameProblem(name);
    if (problem !== null) return problem;
  }
  return null;
}

/** The same for one name of a path. */
export function nameProblem(name: string): string | null {
  if (name === '') return 'has an empty name in it';
  if (name === '.' || name === '..') return `has the name ${name} in it`;
  if (Buffer.byteLength(name) > NAME_BYTES_MAX) {
    return `has a name of more than ${NAME_BYTES_MAX} bytes in it`;
  }
  if (CONTROLS.test(name)) return 'has a control character in it';
  if (name.includes('\\')) return 'has a backslash in it';
  if (isDotGit(name)) return 'has .git, in some spelling, in it';
  if (/[. ]$/.test(name)) return 'has a name that ends with a dot or a space in it';
  return null;
}

/** `.git` as some file system would read it: any case, NTFS short names, streams and endings, HFS+ ignored characters. */
function isDotGit(name: string): boolean {
  return /^(?:\.git|git~\d+)[ .]*(?::.*)?$/.test(foldPath(name));
}
