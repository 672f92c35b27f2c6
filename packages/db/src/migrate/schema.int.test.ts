import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { diffSchema } from '../../scripts/schema-diff.ts';
import { MIGRATIONS_FOLDER } from './read-migrations.ts';

const GENERATED = join(import.meta.dirname, '../generated');

describe('schema.prisma', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kervyxa-generate-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('says what the migrations make', async () => {
    expect(await diffSchema()).toBe('');
  });

  it('has the client that set-up generated from it', async () => {
    // The same way from the schema to its output as in the repository.
    const schema = join(folder, 'prisma/schema.prisma');
    cpSync(join(MIGRATIONS_FOLDER, '../schema.prisma'), schema);
    const prisma = createRequire(import.meta.url).resolve('prisma/build/index.js');
    await promisify(execFile)(process.execPath, [prisma, 'generate', '--schema', schema], {
      cwd: folder,
      // Its native engine is a download, and is not needed to generate.
      env: { PATH: process.env['PATH'], HOME: folder, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true' },
    });
    expect(readTree(join(folder, 'packages/db/src/generated'))).toEqual(readTree(GENERATED));
  });
});

function readTree(root: string): ReadonlyMap<string, string> {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted();
  return new Map(
    names
      .filter((name) => name.endsWith('.ts'))
      .map((name) => [name, readFileSync(join(root, name), 'utf8')]),
  );
}
