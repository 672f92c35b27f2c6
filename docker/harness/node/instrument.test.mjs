import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import * as acorn from 'acorn';
import { describe, expect, it } from 'vitest';

const require = createRequire(import.meta.url);
const { createInstrumenter } = require('./instrument.cjs');
const instrument = createInstrumenter(acorn);

/** Runs a script's counting form; answers what it counted and the value of its last statement. */
function runCounted(source) {
  const context = vm.createContext({ $kervyxa: new Float64Array(1) });
  const value = vm.runInContext(instrument(source, 'commonjs'), context);
  return { count: context.$kervyxa[0], value };
}

describe('what is counted', () => {
  // One for the program itself, in each case.
  it.each([
    ['each turn of a for loop', 'for (let i = 0; i < 3; i++) ;', 1 + 3],
    ['each turn of a while loop', 'let i = 0; while (i < 4) i++;', 1 + 4],
    ['each turn of a do loop', 'let i = 0; do i++; while (i < 4);', 1 + 4],
    ['each turn of a for-of loop', 'for (const x of [1, 2]) x;', 1 + 2],
    ['each turn of a for-in loop', 'for (const x in { a: 1, b: 2 }) { x; }', 1 + 2],
    ['turns that are continued', 'a: for (let i = 0; i < 3; i++) continue a;', 1 + 3],
    ['each call of a function', 'function f() {} f(); f();', 1 + 2],
    ['each call of an arrow with a value', '[1, 2, 3].map((x) => x + 1);', 1 + 3],
    [
      'methods, getters and constructors',
      'class A { constructor() {} get x() {} m() {} } new A().m(new A().x);',
      1 + 4,
    ],
    ['the branch that is taken', 'if (0) 1; else if (1) 2; else 3;', 1 + 2],
    ['the operand that is chosen', '0 ? 1 : 2; 1 && 2; 0 && 2; null ?? 1;', 1 + 3],
    ['assignments that may not happen', 'let a = 0; a ||= 1; a &&= 2; a ??= 3;', 1 + 2],
    ['the case that matches', 'switch (2) { case 1: 1; break; case 2: 2; default: 3; }', 1 + 2],
    ['what is caught', 'try { null.x; } catch { }', 1 + 1],
    ['defaults that are needed', 'const { a = 1, b = 2 } = { a: 0 }; ((c = 3) => c)();', 1 + 1 + 2],
    ['computed names of what is taken apart', 'const f = ({ ["a"]: b }) => {}; f({});', 1 + 1 + 1],
    ['fields and static blocks', 'class A { x = 1; static y = 2; static { 3; } } new A();', 1 + 3],
    [
      'parents and computed names of classes',
      'class A extends (class {}) { ["x"]() {} ["y"] = 1; }',
      1 + 3,
    ],
    [
      'each part that a generator goes on with',
      'function* g() { for (;;) yield 1; } const i = g(); i.next(); i.next();',
      1 + 1 + 2,
    ],
  ])('is %s', (_, source, count) => {
    expect(runCounted(source).count).toBe(count);
  });

  it('opens by recursing where no function has a body: through fields, and through defaults', () => {
    const left = '100 - things.length';
    const things = 'const things = Array.from({ length: 100 }, () => ({ f: 1 }));';
    const fields = `${things} class A { x = things.pop().f; y = new A(); } try { new A(); } catch {} ${left}`;
    const defaults = `${things} const f = (x = things.pop().f, y = f()) => {}; try { f(); } catch {} ${left}`;
    for (const source of [fields, defaults]) {
      const { count, value } = runCounted(source);
      expect(value).toBe(100);
      expect(count).toBeGreaterThan(100);
    }
  });
});

describe('a program that is made to count', () => {
  it.each([
    [
      'names of functions',
      '[(() => {}), ...[{ f: () => {} }].map(({ f, g = () => {}, h = class {} }) => f.name + g.name + h.name)].at(-1)',
      'fgh',
    ],
    [
      'names given by fields',
      'class A { f = () => {}; static g = class {}; } new A().f.name + A.g.name',
      'fg',
    ],
    ['strict mode', '(function () { "use strict"\n return this; })() === undefined', true],
    ['a directive without a semicolon', '(() => { "use strict"\n return 5 })()', 5],
    ['an object that an arrow answers', '(() => ({ a: 1 }))().a', 1],
    ['arrows in arrows', '((a) => (b) => a && b)(1)(2)', 2],
    [
      'branches without braces',
      'let r = ""; for (const x of [1, 2, 3]) if (x > 1) if (x > 2) r += "b"; else r += "a"; r',
      'ab',
    ],
    ['a missing semicolon before a brace', 'let r = 0; if (1) r = 1 && 2\nelse r = 3\nr', 2],
    ['functions declared in branches', 'if (1) function f() { return 7 } f()', 7],
    ['commented lines of old', '1 <!-- 2\n--> 3\n + 4', 5],
    ['a whole line above it', '#!/usr/bin/env node\n6', 6],
    [
      'regular expressions that look like division',
      'const g = 2; 8 / 2 / g + /=/g.exec("=").index',
      2,
    ],
    ['templates in templates', '`${1 ? `${2}${`}`}` : 3}`', '2}'],
  ])('keeps %s', (_, source, value) => {
    expect(vm.runInNewContext(source)).toBe(value);
    expect(runCounted(source).value).toBe(value);
  });

  it('keeps its lines, so that errors name the right one', () => {
    const source = 'let a = 1;\n\nif (a) {\n  a ? b() : 2;\n}';
    expect(instrument(source, 'commonjs').split('\n')).toHaveLength(5);
  });

  it('keeps imports and exports', () => {
    const source = 'import a from "a";\nexport default () => a && 1;\nexport const b = await a;';
    expect(() =>
      acorn.parse(instrument(source, 'module'), { ecmaVersion: 'latest', sourceType: 'module' }),
    ).not.toThrow();
  });

  it('works as before, also where it is large', () => {
    const source = readFileSync(require.resolve('acorn'), 'utf8');
    const context = vm.createContext({ $kervyxa: new Float64Array(1), exports: {}, module: {} });
    vm.runInContext(instrument(source, 'commonjs'), context);
    const text = 'a ? b : c; for (;;) { x => y }';
    const options = { ecmaVersion: 2022 };
    expect(JSON.stringify(context.exports.parse(text, options))).toBe(
      JSON.stringify(acorn.parse(text, options)),
    );
    expect(context.$kervyxa[0]).toBeGreaterThan(text.length);
  });

  it('may nest deeper than a stack is high', () => {
    const source = Array.from({ length: 3_000 }, () => '1').join(' + ');
    expect(runCounted(source).value).toBe(3_000);
  });
});

describe('a program that would hide its work', () => {
  it.each([
    ['names the counter', '$kervyxa[0] = 0;'],
    ['names the counter in another spelling', '\\u0024kervyxa[0] = 0;'],
    ['declares the counter anew', 'function f($kervyxa) {}'],
    ['names the harness', 'const { $kervyxaHost: h } = {}; $kervyxaHost;'],
    ['puts an object of its own between the name and the counter', 'with (trap) { for (;;) ; }'],
  ])('%s, and is refused', (_, source) => {
    expect(() => instrument(source, 'commonjs')).toThrow(/^expected a program without /);
  });

  it('has syntax that only Node knows, and is refused with its place', () => {
    expect(() => instrument('let a;\nlet x: number;', 'commonjs')).toThrow(/\(2:5\)/);
  });
});
