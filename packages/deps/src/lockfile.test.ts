import { describe, expect, it } from 'vitest';
import { parseLockfile } from './lockfile.ts';

const A = `sha512-${'A'.repeat(86)}==`;
const B = `sha512-${'B'.repeat(85)}Q==`;

function parse(packages: Record<string, unknown>, lockfileVersion = 3) {
  return parseLockfile({
    name: 'package-lock.json',
    text: JSON.stringify({ lockfileVersion, packages: { '': {}, ...packages } }),
  });
}

const LEFT = { resolved: null, isAddressed: false };
const code = (expected: string, message = '') =>
  expect.objectContaining({ code: expected, message: expect.stringContaining(message) });

describe('a lock file', () => {
  it('gives every package with its real name, however deep, aliased or optional it is', () => {
    const packages = {
      'node_modules/a': { version: '1.0.0', integrity: A },
      'node_modules/a/node_modules/@s/b': { version: '2.0.0-rc.1', integrity: B, dev: true },
      'node_modules/alias': { name: 'c', version: '3.0.0', integrity: A, optional: true },
      'node_modules/d': { version: '4.0.0', integrity: A, resolved: 'https://x.example/d.tgz' },
      'packages/w/node_modules/e': { version: '5.0.0', integrity: A, peer: true },
    };
    expect(parse(packages)).toEqual([
      { name: 'a', version: '1.0.0', integrity: A, ...LEFT },
      { name: '@s/b', version: '2.0.0-rc.1', integrity: B, ...LEFT },
      { name: 'c', version: '3.0.0', integrity: A, ...LEFT },
      {
        name: 'd',
        version: '4.0.0',
        integrity: A,
        resolved: 'https://x.example/d.tgz',
        isAddressed: true,
      },
      { name: 'e', version: '5.0.0', integrity: A, ...LEFT },
    ]);
    expect(parse(packages, 2)).toHaveLength(5);
  });

  it('may name a host that can not exist, which leaves the place to the registry', () => {
    const resolved = 'https://registry.invalid/a/-/a-1.0.0.tgz';
    expect(parse({ 'node_modules/a': { version: '1.0.0', integrity: A, resolved } })).toEqual([
      { name: 'a', version: '1.0.0', integrity: A, resolved: null, isAddressed: true },
    ]);
  });

  it('needs nothing for workspaces, links, and what comes inside another tarball', () => {
    expect(
      parse({
        'packages/w': { version: '1.0.0', name: 'w' },
        'node_modules/w': { resolved: 'packages/w', link: true },
        'node_modules/a/node_modules/b': { version: '1.0.0', inBundle: true },
      }),
    ).toEqual([]);
  });

  it.each([
    [{ os: ['linux'], cpu: ['x64'], libc: ['glibc'] }, 1],
    [{ os: ['linux'], cpu: ['arm64'], libc: ['musl'] }, 1],
    [{ os: ['!win32'] }, 1],
    [{ os: ['any'] }, 1],
    [{ cpu: ['!x64'] }, 1],
    [{ os: ['darwin'], cpu: ['x64'] }, 0],
    [{ os: ['darwin', 'linux'] }, 1],
    [{ os: ['!linux'] }, 0],
    [{ os: ['linux'], cpu: ['ia32', 's390x'] }, 0],
  ])('takes %j for Linux on x64 or arm64 and nothing else, on whatever machine', (rules, taken) => {
    const optional = { version: '1.0.0', integrity: A, optional: true, ...rules };
    expect(parse({ 'node_modules/a': optional })).toHaveLength(taken);
  });

  it('keeps the strongest of several hashes', () => {
    const integrity = `sha1-${'C'.repeat(27)}= ${A}`;
    const [locked] = parse({ 'node_modules/a': { version: '1.0.0', integrity } });
    expect(locked?.integrity).toBe(A);
  });

  it.each([undefined, '', 'md5', 'sha512-'])('pins nothing by %j: refused', (integrity) => {
    expect(() => parse({ 'node_modules/a': { version: '1.0.0', integrity } })).toThrow(
      code('DEPS_PACKAGE_UNPINNED', 'node_modules/a in package-lock.json'),
    );
  });

  it.each([
    ['git+ssh://git@git.example.org/a/b.git#0123', 'git+ssh://git.example.org'],
    ['git+https://user:secret@git.example.org/a.git#0123', 'git+https://git.example.org'],
    ['file:../a.tgz', 'file:'],
    ['a.tgz', 'a.tgz'],
  ])('takes a package from %s: refused, without its secrets', (resolved, shown) => {
    expect(() => parse({ 'node_modules/a': { version: '1.0.0', integrity: A, resolved } })).toThrow(
      code('DEPS_SOURCE_REFUSED', shown),
    );
  });

  it('is of version 1: refused, with the command that mends it', () => {
    expect(() => parse({}, 1)).toThrow(
      expect.objectContaining({
        code: 'DEPS_LOCKFILE_INVALID',
        fix: expect.stringContaining('npm install --package-lock-only --lockfile-version 3'),
      }),
    );
  });

  it.each(['', '[]', '{}', '{"lockfileVersion":3}', '{"lockfileVersion":3,"packages":{"a":1}}'])(
    'is %j: refused',
    (text) => {
      expect(() => parseLockfile({ name: 'x', text })).toThrow(code('DEPS_LOCKFILE_INVALID'));
    },
  );

  it.each([
    ['../../etc', '1.0.0'],
    ['a', '1.0.0/../../x'],
    ['a', '^1.0.0'],
    ['a b', '1.0.0'],
  ])('names %s in version %s: refused', (name, version) => {
    expect(() => parse({ 'node_modules/a': { name, version, integrity: A } })).toThrow(
      code('DEPS_LOCKFILE_INVALID'),
    );
  });
});
