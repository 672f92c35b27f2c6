/** One entry of a whole tree, as git lists it: a file, a link or a gitlink, never a folder. */
export interface TreeRecord {
  /** UTF-8; bytes that are not stand as U+FFFD and `isUtf8` is false. */
  readonly path: string;
  readonly isUtf8: boolean;
  /** Six octal digits. */
  readonly mode: string;
  /** 40 hex digits of the blob, or of a gitlink's commit. */
  readonly oid: string;
  /** Bytes of the blob; 0 for a gitlink. */
  readonly size: number;
}

export const MODE_FILE = '100644';
export const MODE_EXECUTABLE = '100755';
export const MODE_LINK = '120000';
export const MODE_GITLINK = '160000';
export const MODE_FOLDER = '040000';
/** The mode of a side that is absent. */
export const MODE_ABSENT = '000000';

export function isFileMode(mode: string): boolean {
  return mode === MODE_FILE || mode === MODE_EXECUTABLE;
}
