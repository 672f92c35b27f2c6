import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const MIGRATIONS_FOLDER = join(import.meta.dirname, '../../../../prisma/migrations');

export interface Migration {
  /** Time and title: the order of names is the order of application. */
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the script, hex. */
  readonly checksum: string;
}

/** The migrations of this version of the program, in order. */
export function readMigrations(folder = MIGRATIONS_FOLDER): readonly Migration[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .toSorted()
    .map((name) => {
      const sql = readFileSync(join(folder, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });
}
