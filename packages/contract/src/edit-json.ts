import { applyEdits, findNodeAtLocation, parseTree, type Edit, type Node } from 'jsonc-parser';

/** One member of one object of a JSON text. */
export interface JsonMember {
  /** Keys and indexes that lead to the object, which must be there and have a member already. */
  readonly path: readonly (string | number)[];
  readonly key: string;
  readonly value: string | number | boolean | null;
}

/**
 * Writes members into a JSON text, which must be valid, and leaves everything else as it is: order, blanks, line ends. A
 * new member comes after the last one, with the blanks that stand before the first.
 */
export function setJsonMembers(text: string, members: readonly JsonMember[]): string {
  const root = parseTree(text);
  // In the order of the text, so that new members of one object come in the order in which they are given.
  const added = new Map<Node, string>();
  const edits: Edit[] = [];
  for (const { path, key, value } of members) {
    const owner = root && findNodeAtLocation(root, [...path]);
    if (owner?.type !== 'object') throw new TypeError(`expected an object at ${path.join('/')}`);
    const content = JSON.stringify(value);
    const found = findNodeAtLocation(owner, [key]);
    if (found === undefined) {
      added.set(owner, `${added.get(owner) ?? ''},${blanksIn(owner, text)}"${key}": ${content}`);
    } else edits.push({ offset: found.offset, length: found.length, content });
  }
  for (const [owner, content] of added)
    edits.push({ offset: endOfLast(owner), length: 0, content });
  return applyEdits(text, edits);
}

/** What stands between the bracket and the first member: a line end and an indent, or nothing. */
function blanksIn(owner: Node, text: string): string {
  const first = owner.children?.[0];
  if (first === undefined) throw new TypeError('expected an object with a member');
  return text.slice(owner.offset + 1, first.offset) || ' ';
}

function endOfLast(owner: Node): number {
  const last = owner.children?.at(-1);
  return last === undefined ? owner.offset + 1 : last.offset + last.length;
}
