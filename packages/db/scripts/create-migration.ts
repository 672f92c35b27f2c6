import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATIONS_FOLDER } from '../src/migrate/read-migrations.ts';
import { diffSchema } from './schema-diff.ts';

// npm run db:migration -- add_labels: writes the migration that leads from the others to schema.prisma.

const [name] = process.argv.slice(2);
if (name === undefined || !/^[a-z][a-z0-9_]*$/.test(name)) {
  throw new Error('expected a name such as add_labels: npm run db:migration -- add_labels');
}
const sql = await diffSchema();
if (sql === '') {
  process.stdout.write('The migrations and schema.prisma agree: nothing to write.\n');
} else {
  const time = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14);
  const folder = join(MIGRATIONS_FOLDER, `${time}_${name}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'migration.sql'), sql);
  process.stdout.write(
    `Written ${folder}/migration.sql: read it, then add what Prisma can't say.\n`,
  );
}
