import { describe, expect, it } from 'vitest';
import { layoutProblem } from './layout.ts';
import type { TreeRecord } from './record.ts';

const record = (path: string, isUtf8 = true): TreeRecord => ({
  path,
  isUtf8,
  mode: '100644',
  oid: 'a'.repeat(40),
  size: 1,
});
const problemOf = (...paths: string[]): string | null =>
  layoutProblem(
    paths.map((path) => record(path)),
    new Map(),
  );

describe('a base tree', () => {
  it('holds what old repositories hold: a workspace can, too', () => {
    const odd = ['.git/config', 'Old/a', 'a\\b', 'a\nb', 'dot.', 'git~1', 'né/x', 'old/a'];
    expect(problemOf(...odd, 'x'.repeat(255))).toBeNull();
  });

  it.each([
    [['../evil'], '..'],
    [['/etc/passwd'], 'empty'],
    [['a//b'], 'empty'],
    [['a/./b'], '. or ..'],
    [['x'.repeat(256)], '255'],
    [[`${'é'.repeat(128)}/b`], '255'],
    [['a/'.repeat(2_000) + 'b'], '4000'],
    [['a/b', 'a/b'], 'twice'],
    [['a', 'a/b'], 'above'],
    [['a', 'a/b/c'], 'above'],
  ])('holds %j: it can’t be laid out', (paths, why) => {
    expect(problemOf(...paths)).toContain(why);
  });

  it('holds a name or a link’s target that is not UTF-8: it would arrive as another', () => {
    expect(layoutProblem([record('\ufffd', false)], new Map())).toContain('UTF-8');
    expect(layoutProblem([record('l')], new Map([['l', null]]))).toContain('no path');
  });
});
