/** Where a symbolic link leads, by following every link on the way, inside the tree only. */
export type LinkEnd = 'inside' | 'outside' | 'loop' | 'too_far';

const LINKS_FOLLOWED_MAX = 40;
/** A tree of links to links can ask for work without end; this many steps answer any honest one. */
const STEPS_MAX = 10_000;
/** For all links of a tree together. A hundred thousand links in one blob of few kilobytes would take an hour else. */
const STEPS_OF_TREE_MAX = 2_000_000;

/** A name in the tree that is a link, or lies above one. */
interface Place {
  readonly below: Map<string, Place>;
  target: string | null;
}

/**
 * Follows a link as a kernel would. Adding up `..` in one link's text is not enough: each of two links can stay inside
 * while one through the other leaves. `targets` holds the text of every link of the tree by path. A target that does
 * not exist is inside: what a program may create there later is still in the tree.
 *
 * The steps of one resolver are counted together; those that are left when they run out lead `too_far`.
 */
export function createLinkResolver(
  targets: ReadonlyMap<string, string>,
): (path: string) => LinkEnd {
  const root = toPlaces(targets);
  let stepsLeft = STEPS_OF_TREE_MAX;
  return (path) => {
    const names = path.split('/');
    const pending = [names.pop() ?? ''];
    // Of what is not in the tree of links only the depth matters.
    const walk: (Place | null)[] = [root];
    const step = (name: string): Place | null => walk.at(-1)?.below.get(name) ?? null;
    for (const name of names) walk.push(step(name));
    let followed = 0;
    for (let steps = 0; steps < STEPS_MAX; steps += 1) {
      const name = pending.pop();
      if (name === undefined) return 'inside';
      stepsLeft -= 1;
      if (stepsLeft < 0) return 'too_far';
      if (name === '' || name === '.') continue;
      if (name === '..') {
        walk.pop();
        if (walk.length === 0) return 'outside';
        continue;
      }
      const place = step(name);
      const target = place?.target ?? null;
      if (target === null) {
        walk.push(place);
        continue;
      }
      followed += 1;
      if (target.startsWith('/')) return 'outside';
      if (followed > LINKS_FOLLOWED_MAX) return 'loop';
      const rest = target.split('/');
      stepsLeft -= rest.length;
      pending.push(...rest.toReversed());
    }
    return 'loop';
  };
}

function toPlaces(targets: ReadonlyMap<string, string>): Place {
  const root: Place = { below: new Map(), target: null };
  for (const [path, target] of targets) {
    let place = root;
    for (const name of path.split('/')) {
      const next: Place = place.below.get(name) ?? { below: new Map(), target: null };
      place.below.set(name, next);
      place = next;
    }
    place.target = target;
  }
  return root;
}
