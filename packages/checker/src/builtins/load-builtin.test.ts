import { describe, expect, it } from 'vitest';
import { BUILTINS } from '../package/implementation.ts';
import { JSON_SCHEMA_LIBRARIES, loadBuiltin } from './load-builtin.ts';

describe('a builtin', () => {
  it.each(Object.keys(BUILTINS))('%s is all there, once', async (name) => {
    const program = await loadBuiltin(name);
    const main = program.command.split(' ')[1]?.slice('/input/'.length) ?? '';
    expect([...program.files.keys()]).toContain(main);
    expect(await loadBuiltin(name)).toBe(program);
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
