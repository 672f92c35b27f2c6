import type { LintCode } from '../contract/lint-table.ts';
import type { DraftFolder } from './full-package.ts';
import type { Document } from './published-contract.ts';

/** One way to break one rule, and exactly what lint says then. */
export interface LintRow<Folder = DraftFolder> {
  readonly code: LintCode;
  /** Ends the sentence "refuses …" or "advises about …". */
  readonly what: string;
  readonly change: (folder: Folder) => void;
  readonly file?: string;
  readonly pointer: string;
  readonly message: string;
  readonly fix: string;
  /** Codes of what cannot but be broken along with it. */
  readonly also?: readonly LintCode[];
}

/** Puts a value at a path of keys; undefined takes the member away. */
export function put(document: unknown, path: readonly PropertyKey[], value: unknown): void {
  const owner = path
    .slice(0, -1)
    .reduce<unknown>((each, key) => Reflect.get(Object(each), key), document);
  const key = path.at(-1) ?? '';
  if (value === undefined) Reflect.deleteProperty(Object(owner), key);
  else Reflect.set(Object(owner), key, value);
}

/** A change that puts a value into the contract. */
export function putting(path: readonly PropertyKey[], value: unknown) {
  return ({ contract }: { contract: Document }): void => put(contract, path, value);
}
