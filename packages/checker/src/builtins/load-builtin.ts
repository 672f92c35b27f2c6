import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type BuiltinName, SCRIPT_RUNTIME } from '../package/implementation.ts';

/** What runs for a builtin stage, in a container like any other program. */
export interface BuiltinProgram {
  /** Name in the catalogue. */
  readonly runtime: string;
  readonly command: string;
  /** By path below /input. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

const require = createRequire(import.meta.url);
const CODE = /\.(?:js|cjs|json)$/;

/**
 * The libraries of json-schema-check:1, and their files and folders that are laid out. Another version may decide
 * otherwise, and then is another builtin; a test holds the versions.
 */
export const JSON_SCHEMA_LIBRARIES = {
  ajv: { version: '8.20.0', parts: ['dist'] },
  'fast-deep-equal': { version: '3.1.3', parts: ['index.js'] },
  'fast-uri': { version: '3.1.9', parts: ['index.js', 'lib'] },
  'json-schema-traverse': { version: '1.0.0', parts: ['index.js'] },
  re2js: { version: '2.10.0', parts: ['build/index.cjs'] },
} as const;

const loaded = new Map<string, Promise<BuiltinProgram>>();

/** Reads a builtin from our own files; once. */
export function loadBuiltin(name: string): Promise<BuiltinProgram> {
  const program = loaded.get(name) ?? readBuiltin(name as BuiltinName); // A read package names no other.
  loaded.set(name, program);
  return program;
}

async function readBuiltin(name: BuiltinName): Promise<BuiltinProgram> {
  if (name === 'sat-assignment-check:1') {
    return {
      runtime: SCRIPT_RUNTIME,
      command: 'python3 /input/checker/checker.py',
      files: new Map([['checker/checker.py', await readOwn('sat-assignment-check.py')]]),
    };
  }
  const libraries = await Promise.all(
    Object.entries(JSON_SCHEMA_LIBRARIES).map(([library, { parts }]) =>
      readLibrary(library, ['package.json', ...parts]),
    ),
  );
  return {
    runtime: 'kervyxa-runtime/node:22',
    command: 'node /input/checker/checker.mjs',
    files: new Map([
      ['checker/checker.mjs', await readOwn('json-schema-check.mjs')],
      ['checker/decide-document.mjs', await readOwn('decide-document.mjs')],
      ['checker/author-schema.mjs', await readOwn('author-schema.mjs')],
      ['checker/exact-keywords.mjs', await readOwn('exact-keywords.mjs')],
      ...libraries.flat(),
    ]),
  };
}

function readOwn(name: string): Promise<Uint8Array> {
  return readFile(new URL(name, import.meta.url));
}

/** The code of a library of ours, by path below /input. */
async function readLibrary(
  name: string,
  parts: readonly string[],
): Promise<[string, Uint8Array][]> {
  const below = `node_modules/${name}/`;
  const entry = require.resolve(name);
  const root = entry.slice(0, entry.lastIndexOf(below) + below.length);
  const files = await Promise.all(parts.map((part) => listCode(root, part)));
  return Promise.all(
    files
      .flat()
      .map(async (path): Promise<[string, Uint8Array]> => [
        `checker/${below}${path}`,
        await readFile(join(root, path)),
      ]),
  );
}

async function listCode(root: string, part: string): Promise<string[]> {
  if (CODE.test(part)) return [part];
  const names = await readdir(join(root, part), { recursive: true });
  return names
    .filter((name) => CODE.test(name))
    .toSorted()
    .map((name) => join(part, name));
}
