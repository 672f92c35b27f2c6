/** Where a symbolic link leads, by following every link on the way, inside the tree only. */
export type LinkEnd = 'inside' | 'outside' | 'loop';

const LINKS_FOLLOWED_MAX = 40;
/** A tree of links to links can ask for work without end; this many steps answer any honest one. */
const STEPS_MAX = 10_000;

/**
 * Follows a link as a kernel would. Adding up `..` in one link's text is not enough: each of two links can stay inside
 * while one through the other leaves. `targets` holds the text of every link of the tree by path. A target that does
 * not exist is inside: what a program may create there later is still in the tree.
 */
export function resolveLink(path: string, targets: ReadonlyMap<string, string>): LinkEnd {
  const place = path.split('/');
  const pending = [place.pop() ?? ''];
  let followed = 0;
  for (let steps = 0; steps < STEPS_MAX; steps += 1) {
    const name = pending.pop();
    if (name === undefined) return 'inside';
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (place.pop() === undefined) return 'outside';
      continue;
    }
    place.push(name);
    const target = targets.get(place.join('/'));
    if (target === undefined) continue;
    followed += 1;
    if (target.startsWith('/')) return 'outside';
    if (followed > LINKS_FOLLOWED_MAX) return 'loop';
    place.pop();
    pending.push(...target.split('/').toReversed());
  }
  return 'loop';
}
