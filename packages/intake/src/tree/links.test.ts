import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLinkResolver, type LinkEnd } from './links.ts';

function resolveLink(path: string, links: ReadonlyMap<string, string>): LinkEnd {
  return createLinkResolver(links)(path);
}

/** Follows a link the slow, plain way: one step a call, as a reader of the manual would. */
function walk(path: string[], rest: string[], links: Map<string, string>, fuel: number): string {
  const [name, ...more] = rest;
  if (fuel === 0) return 'loop';
  if (name === undefined) return 'inside';
  if (name === '' || name === '.') return walk(path, more, links, fuel);
  if (name === '..')
    return path.length === 0 ? 'outside' : walk(path.slice(0, -1), more, links, fuel);
  const target = links.get([...path, name].join('/'));
  if (target === undefined) return walk([...path, name], more, links, fuel);
  if (target.startsWith('/')) return 'outside';
  return walk(path, [...target.split('/'), ...more], links, fuel - 1);
}

describe('a link', () => {
  it.each([
    [{ l: 'a' }, 'inside'],
    [{ l: './a/../b' }, 'inside'],
    [{ l: 'nowhere/at/all' }, 'inside'],
    [{ l: '..' }, 'outside'],
    [{ l: 'a/../../b' }, 'outside'],
    [{ l: '/etc' }, 'outside'],
    [{ l: 'l' }, 'loop'],
    [{ l: 'm', m: 'n', n: 'm' }, 'loop'],
    [{ l: 'd/e/up/..', 'd/e/up': '../..' }, 'outside'],
    [{ l: 'd/e/up/x', 'd/e/up': '../..' }, 'inside'],
    [{ l: 'm/x', m: '/' }, 'outside'],
  ])('l in %j leads %s', (links, end) => {
    expect(resolveLink('l', new Map(Object.entries(links)))).toBe(end);
  });

  it('asks for 2^40 steps: answered at once', () => {
    const links = new Map(
      Array.from({ length: 40 }, (_, i) => [`l${i}`, `l${i + 1}/../l${i + 1}`]),
    );
    expect(resolveLink('l0', links)).toBe('loop');
  });

  it('stands a hundred thousand times in the tree, each of two thousand steps: gives up in the end', () => {
    const target = `${'a/'.repeat(2_047)}a`;
    const links = new Map(Array.from({ length: 100_000 }, (_, i) => [`l${i}`, target]));
    const resolve = createLinkResolver(links);
    const ends = new Set([...links.keys()].map(resolve));
    expect(ends).toEqual(new Set(['inside', 'too_far']));
  });

  it('leads where walking step by step leads', () => {
    const name = fc.constantFrom('a', 'b', 'c', '..', '.');
    const target = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
    const place = fc.constantFrom('a', 'b', 'c', 'a/b', 'a/c', 'b/a', 'c/c/a');
    fc.assert(
      fc.property(fc.dictionary(place, target, { minKeys: 1 }), (found) => {
        const links = new Map(Object.entries(found));
        for (const path of links.keys()) {
          const names = path.split('/');
          const end = walk(names.slice(0, -1), names.slice(-1), links, 41);
          expect(resolveLink(path, links)).toBe(end);
        }
      }),
    );
  });
});
