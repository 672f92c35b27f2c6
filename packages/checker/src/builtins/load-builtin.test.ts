import { sha256Hex } from '@kervyxa/core';
import { describe, expect, it } from 'vitest';
import { BUILTINS } from '../package/implementation.ts';
import { JSON_SCHEMA_LIBRARIES, loadBuiltin } from './load-builtin.ts';

/**
 * A name stands for these bytes, for as long as there are contracts that have it: other code may decide otherwise, and
 * every verdict given under the name could then be disputed. A deliberate change is another builtin, `…:2`; this one stays.
 */
const OWN_FILES = {
  'json-schema-check:1': {
    'checker/author-schema.mjs': '9a0a9a5bd3b799468fc27eadd0e4c08eb6e14b1dcb580a92226a55b4fa3edf6d',
    'checker/checker.mjs': '19862a67578b245fd0b617117ca634e94e09e7c593ca0bb8e7c1fb8875cbd0aa',
    'checker/decide-document.mjs':
      '19a6196eaa6116fde6f53b3ec5573e1bba05bb9798b3cec37c22e52f0d982eae',
    'checker/exact-keywords.mjs':
      'cc3f9725c8b67670c4e642700b7462fd69199066924587d60096957e9d4f9673',
  },
  'sat-assignment-check:1': {
    'checker/checker.py': '2b2fa75d45b8eab893d3fce6b7da58024d666d6cec5c2d0b5e5e5ae5d18c7fe6',
  },
};

describe('a builtin', () => {
  it.each(Object.keys(BUILTINS))('%s is all there, once', async (name) => {
    const program = await loadBuiltin(name);
    const main = program.command.split(' ')[1]?.slice('/input/'.length) ?? '';
    expect([...program.files.keys()]).toContain(main);
    expect(await loadBuiltin(name)).toBe(program);
  });

  it('consists of the very bytes of ours that its name stands for', async () => {
    expect(Object.keys(OWN_FILES)).toEqual(Object.keys(BUILTINS));
    for (const [name, pinned] of Object.entries(OWN_FILES)) {
      const { files } = await loadBuiltin(name);
      const own = [...files].filter(([path]) => !path.includes('node_modules/'));
      const digests = own.map(([path, content]) => [path, sha256Hex(content)]);
      expect(Object.fromEntries(digests)).toEqual(pinned);
    }
  });

  it('has the very versions of its libraries that its name stands for', async () => {
    const { files } = await loadBuiltin('json-schema-check:1');
    const versions = Object.keys(JSON_SCHEMA_LIBRARIES).map((name) => {
      const manifest = files.get(`checker/node_modules/${name}/package.json`);
      return [name, JSON.parse(Buffer.from(manifest ?? []).toString()).version];
    });
    const expected = Object.entries(JSON_SCHEMA_LIBRARIES);
    expect(versions).toEqual(expected.map(([name, { version }]) => [name, version]));
  });
});
