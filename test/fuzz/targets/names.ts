import { deepEqual, ok } from 'node:assert/strict';
import { toPrintable } from '@kervyxa/core';
import * as fc from 'fast-check';
import { layoutProblem } from '../../../packages/intake/src/tree/layout.ts';
import { pathProblem } from '../../../packages/intake/src/tree/names.ts';
import { soup } from '../arbitraries.ts';
import { defineTarget } from '../target.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  soup([
    'a',
    '\u001b[2J',
    '\r',
    '\n',
    '\u202e',
    '\ud800',
    '\udc00',
    '\u2028',
    '\u200b',
    '\ufeff',
    '\0',
    '😀',
    '\u0085',
    '\\u{1b}',
  ]),
);

export const printableTarget = defineTarget('text shown', {
  input: fc.tuple(text, fc.nat(40)),
  holds([given, most]) {
    const shown = toPrintable(given, most);
    ok(shown.length <= most + 1);
    for (const sign of shown) ok(!movesCursor(sign.codePointAt(0) ?? 0), `shows ${escape(sign)}`);
    // Nothing is lost that can be seen.
    const isPlain = /^(?:(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{N}])*$/u.test(given);
    if (isPlain && given.length <= most) deepEqual(shown, given);
  },
});

const name = soup([
  'a',
  '.',
  '.git',
  'git~1',
  '.GIT',
  ' ',
  '\u200c',
  '::$D',
  '\\',
  '\t',
  '\u007f',
  'é',
  'x'.repeat(90),
  '..',
  '-',
  '~',
  '1',
  ':',
]);
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));

export const pathTarget = defineTarget('path in a tree', {
  input: path,
  holds(given) {
    if (pathProblem(given) !== null) return;
    ok(Buffer.byteLength(given) <= 2_048);
    for (const each of given.split('/')) {
      ok(each !== '' && each !== '.' && each !== '..' && Buffer.byteLength(each) <= 255);
      ok(![...each].some((sign) => sign < ' ' || sign === '\\' || sign === '\u007f'));
      ok(!each.endsWith('.') && !each.endsWith(' '));
      // As a file system reads it that ignores case, what nobody sees, and endings.
      const plain = [...each.toLowerCase()].filter((sign) => sign !== '\u200c').join('');
      ok(plain !== '.git' && !plain.startsWith('.git:') && !plain.startsWith('git~1:'));
      ok(plain !== 'git~1');
    }
  },
});

export const layoutTarget = defineTarget('tree to be laid out', {
  input: fc.array(
    soup(['a', 'b', '/', '.', '..'], 5).map((given) => given || 'a'),
    { maxLength: 5 },
  ),
  holds(paths) {
    const records = paths.map((each) => ({
      path: each,
      isUtf8: true,
      mode: '100644',
      oid: 'a'.repeat(40),
      size: 1,
    }));
    deepEqual(layoutProblem(records, new Map()) === null, canBeLaidOut(paths));
  },
});

/** Puts each file into a folder of folders. */
function canBeLaidOut(paths: readonly string[]): boolean {
  const root = new Map<string, unknown>();
  for (const each of paths) {
    const names = each.split('/');
    if (names.some((part) => part === '' || part === '.' || part === '..')) return false;
    const last = names.pop() ?? '';
    let folder = root;
    for (const part of names) {
      const found = folder.get(part) ?? new Map<string, unknown>();
      if (!(found instanceof Map)) return false;
      folder.set(part, found);
      folder = found;
    }
    if (folder.has(last)) return false;
    folder.set(last, 'file');
  }
  return true;
}

/** Controls of C0 and C1, line and paragraph separators, what sets the direction of text, surrogates by themselves. */
function movesCursor(code: number): boolean {
  return (
    code < 0x20 ||
    (code >= 0x7f && code <= 0x9f) ||
    (code >= 0x200b && code <= 0x200f) ||
    (code >= 0x2028 && code <= 0x202e) ||
    (code >= 0x2060 && code <= 0x206f) ||
    code === 0x061c ||
    code === 0x00ad ||
    code === 0xfeff ||
    (code >= 0xfff9 && code <= 0xfffb) ||
    (code >= 0xd800 && code <= 0xdfff)
  );
}
