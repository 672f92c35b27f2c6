import type { AddedKind, AdditionFate, AdditionRule } from './port.ts';

/** One thing in a folder; its name is of bytes, each a character. */
export interface Listed {
  readonly name: string;
  readonly kind: AddedKind;
}

/** What is in each of some folders, at least one, of a workspace; the root is `''`. No folder leads through a link. */
type ListFolders = (folders: readonly string[]) => Promise<readonly (readonly Listed[])[]>;

export interface Refused {
  /** Paths of bytes, each a character. */
  readonly gone: readonly string[];
  /** Of the tree's paths those that set-up put a link at, which would not have got there by a commit. */
  readonly spoiled: readonly string[];
}

/** Longer ones can't be named at once, and nothing looks for them. */
const PATH_BYTES_MAX = 4_000;

/**
 * Finds what the rule refuses of what set-up left. It goes down the tree's own folders alone, and where the rule says
 * `inside`: what lies in a folder that set-up made is nearest to nothing of the tree's.
 */
export class Additions {
  readonly #rule: AdditionRule;
  /** Both of bytes. */
  readonly #files: ReadonlySet<string>;
  readonly #folders: ReadonlySet<string>;

  constructor(rule: AdditionRule) {
    this.#rule = rule;
    this.#files = new Set(rule.treePaths.map(toBytes));
    this.#folders = toFolders(this.#files);
  }

  /** None of what lies in the root is refused, or is to be looked into. */
  isSettledBy(root: readonly Listed[]): boolean {
    return root.every((each) => this.#judge(each.name, each.kind) === 'stays');
  }

  async findRefused(list: ListFolders): Promise<Refused> {
    const gone: string[] = [];
    const spoiled: string[] = [];
    let level = [''];
    while (level.length > 0) {
      const listings = await list(level);
      const next: string[] = [];
      for (const [index, folder] of level.entries()) {
        for (const { name, kind } of listings[index] ?? []) {
          const path = folder === '' ? name : `${folder}/${name}`;
          const fate = this.#judge(path, kind);
          if (fate === 'goes') gone.push(path);
          else if (fate === 'spoiled') spoiled.push(toText(path));
          else if (fate === 'inside' && path.length <= PATH_BYTES_MAX) next.push(path);
        }
      }
      level = next;
    }
    return { gone, spoiled };
  }

  #judge(path: string, kind: AddedKind): AdditionFate | 'spoiled' {
    if (this.#folders.has(path)) return kind === 'folder' ? 'inside' : 'goes';
    if (!this.#files.has(path)) return this.#rule.judge(toText(path), kind);
    // A gitlink is an empty folder.
    if (kind === 'folder') return 'inside';
    // As likely the tree's own link.
    return kind === 'link' && this.#rule.judge(toText(path), kind) === 'goes' ? 'spoiled' : 'stays';
  }
}

function toFolders(files: Iterable<string>): Set<string> {
  const folders = new Set<string>();
  for (const file of files) {
    for (let at = file.lastIndexOf('/'); at > 0; at = file.lastIndexOf('/', at - 1)) {
      const folder = file.slice(0, at);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}

function toBytes(path: string): string {
  return Buffer.from(path).toString('latin1');
}

function toText(path: string): string {
  return Buffer.from(path, 'latin1').toString();
}
