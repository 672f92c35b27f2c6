import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

// Node modules that do I/O or start things. What isn't here is computation, or the type of somebody else's stream.
const IO_MODULES = new Set(
  'child_process cluster dgram dns fs http http2 https inspector net os process readline repl tls tty worker_threads'.split(
    ' ',
  ),
);

/** Which packages of ours each may import; the README shows the same table. `./x` names an entry of a package. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'packages/core': [],
  'packages/contract': ['core'],
  'packages/intake': ['core'],
  'packages/deps': ['core'],
  'packages/sandbox': ['core'],
  'packages/checker': ['core', 'contract', 'sandbox'],
  'packages/verifier': ['core', 'contract', 'intake', 'sandbox', 'checker'],
  'packages/evidence': ['core', 'contract', 'checker', 'verifier'],
  'packages/settlement': ['core'],
  'packages/db': ['core', 'contract', 'checker', 'settlement'],
  'packages/testing': ['core'],
  'packages/setup': [],
  'apps/api': 'core contract intake/package checker evidence settlement db'.split(' '),
  'apps/worker':
    'core contract intake intake/package sandbox checker verifier evidence settlement db'.split(
      ' ',
    ),
  // The launcher of everything: the one app that starts others.
  'apps/cli':
    'core contract intake intake/git intake/package deps sandbox sandbox/docker setup checker verifier evidence settlement db db/embedded api worker'.split(
      ' ',
    ),
};
/** What tests may import besides. */
const TESTS_MAY_IMPORT = [
  'testing',
  'contract/testing',
  'setup',
  'intake/git',
  'intake/fake',
  'sandbox/docker',
  'sandbox/fake',
  'settlement/fake',
  'settlement/shared-suite',
  'db/testing',
];
/** Folders in which a package may touch the world; everywhere else it is pure. */
const IO_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  'packages/core': [],
  'packages/contract': [],
  'packages/intake': ['src/git/', 'src/package/'],
  'packages/deps': ['src/'],
  'packages/sandbox': ['src/docker/'],
  'packages/checker': ['src/builtins/', 'src/thread/'],
  'packages/verifier': [],
  'packages/evidence': [],
  'packages/settlement': [],
};

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^;'"]*?\bfrom\s+'([^']+)'|(?:^|\n)import\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/g;

interface SourceFile {
  readonly owner: string;
  readonly path: string;
  readonly isTest: boolean;
  readonly imports: readonly string[];
  readonly text: string;
}

const files = Object.keys(MAY_IMPORT).flatMap(readPackage);

function readPackage(owner: string): SourceFile[] {
  return readdirSync(join(ROOT, owner), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|mjs)$/.test(name) && !/node_modules|^src\/generated\//.test(name))
    .map((path) => {
      const text = readFileSync(join(ROOT, owner, path), 'utf8');
      const found = text.matchAll(IMPORT);
      const isTest = /\.test\.(ts|mjs)$|(^|\/)(testing|scripts|shared-suite)[/.]/.test(path);
      return {
        owner,
        path,
        isTest,
        text,
        imports: [...found].map(([, a, b, c]) => a ?? b ?? c ?? ''),
      };
    });
}

describe('the import table', () => {
  it('is kept by every file of every package', () => {
    const breaches = files.flatMap(({ owner, path, isTest, imports }) =>
      imports
        .filter((name) => name.startsWith('@kervyxa/'))
        .map((name) => name.slice('@kervyxa/'.length))
        .filter((name) => {
          const allowed = MAY_IMPORT[owner] ?? [];
          return !allowed.includes(name) && !(isTest && TESTS_MAY_IMPORT.includes(name));
        })
        .map((name) => `${owner}/${path} imports @kervyxa/${name}`),
    );
    expect(breaches).toEqual([]);
  });

  it('lets no file reach into another package by a relative path', () => {
    const breaches = files.flatMap(({ owner, path, imports }) =>
      imports
        .filter((name) => name.startsWith('.'))
        .filter((name) => relative(owner, join(owner, path, '..', name)).startsWith('..'))
        // The launcher runs before there are packages that could be imported by name.
        .filter((name) => path !== 'bin/kervyxa.mjs' || !name.includes('/packages/setup/src/'))
        .map((name) => `${owner}/${path} imports ${name}`),
    );
    expect(breaches).toEqual([]);
  });

  it('names every imported library in the manifest of its package, in an exact version', () => {
    const breaches = files.flatMap(({ owner, path, isTest, imports }) => {
      const manifest = JSON.parse(readFileSync(join(ROOT, owner, 'package.json'), 'utf8'));
      const declared = { ...manifest.dependencies, ...(isTest && manifest.devDependencies) };
      return imports
        .filter(
          (name) =>
            !name.startsWith('.') && !name.startsWith('node:') && !name.startsWith('@kervyxa/'),
        )
        .filter((name) => !(isTest && ['vitest', 'fast-check'].includes(name)))
        .map((name) =>
          name
            .split('/')
            .slice(0, name.startsWith('@') ? 2 : 1)
            .join('/'),
        )
        .filter((name) => !/^\d+\.\d+\.\d+/.test(declared[name] ?? ''))
        .map((name) => `${owner}/${path} imports ${name}`);
    });
    expect(breaches).toEqual([]);
  });

  it('gives each library one owner package; zod, which types the boundaries, is everybody’s', () => {
    const owners = new Map<string, Set<string>>();
    for (const { owner, imports, isTest } of files) {
      for (const name of imports) {
        if (isTest || /^(\.|node:|@kervyxa\/|zod$)/.test(name) || builtinModules.includes(name))
          continue;
        owners.set(name, (owners.get(name) ?? new Set()).add(owner));
      }
    }
    const shared = [...owners].filter(([, set]) => set.size > 1);
    expect(shared.map(([name, set]) => `${name}: ${[...set].join(', ')}`)).toEqual([]);
  });
});

describe('the pure core', () => {
  const pure = files.filter(
    ({ owner, path, isTest }) =>
      IO_FOLDERS[owner] !== undefined &&
      path.startsWith('src/') &&
      !isTest &&
      !IO_FOLDERS[owner].some((folder) => path.startsWith(folder)),
  );

  it('touches no file, process or network', () => {
    const breaches = pure.flatMap(({ owner, path, imports }) =>
      imports
        .filter((name) => IO_MODULES.has(name.replace(/^node:/, '').split('/')[0] ?? ''))
        .map((name) => `${owner}/${path} imports ${name}`),
    );
    expect(breaches).toEqual([]);
  });

  it('takes time, chance and environment as arguments', () => {
    const banned =
      /Date\.now\(|new Date\(\)|Math\.random\(|process\.env|performance\.now\(|randomUUID\(/;
    const breaches = pure
      .filter(({ path, text }) => banned.test(text) && path !== 'src/clock.ts')
      .map(({ owner, path }) => `${owner}/${path}`);
    expect(breaches).toEqual([]);
  });

  it('is found at all: the rules above look at a real number of files', () => {
    expect(pure.length).toBeGreaterThan(30);
  });
});
