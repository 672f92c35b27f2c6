import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import {
  bindMigrationAwareSqlAdapterFactory,
  type SqlDriverAdapter,
} from '@prisma/driver-adapter-utils';
import * as engine from '@prisma/schema-engine-wasm/schema_engine_bg';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import {
  type Migration,
  MIGRATIONS_FOLDER,
  readMigrations,
} from '../src/migrate/read-migrations.ts';

const SCHEMA_FILE = join(MIGRATIONS_FOLDER, '../schema.prisma');

/**
 * The script that leads from the migrations to schema.prisma; empty where they agree. Prisma's own engine compares, as
 * WebAssembly, with a throw-away PostgreSQL in memory: nothing is downloaded and no server is needed.
 */
export async function diffSchema({ migrations = readMigrations() } = {}): Promise<string> {
  loadEngine();
  // The engine asks for a database of its own too, and then uses only the other one: a single one will do.
  const lite = await PGlite.create();
  const connect = () => connectScratch(lite);
  const factory = bindMigrationAwareSqlAdapterFactory({
    provider: 'postgres',
    adapterName: 'scratch',
    connect,
    connectToShadowDb: connect,
  });
  const schemaEngine = await engine.SchemaEngine.new({ datamodels: undefined }, () => {}, factory);
  try {
    const files = [{ path: 'schema.prisma', content: readFileSync(SCHEMA_FILE, 'utf8') }];
    const { exitCode, stdout } = await schemaEngine.diff({
      from: { tag: 'migrations', ...listMigrations(migrations) },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: true,
      filters: { externalTables: [], externalEnums: [] },
    });
    return exitCode === 0 ? '' : (stdout ?? '');
  } finally {
    schemaEngine.free();
    await lite.close();
  }
}

/** The part of WebAssembly that is used here: it is typed with browsers only. */
const { WebAssembly: wasm } = globalThis as unknown as {
  readonly WebAssembly: {
    readonly Module: new (bytes: Uint8Array) => object;
    readonly Instance: new (
      module: object,
      imports: object,
    ) => { readonly exports: Readonly<Record<string, unknown>> };
  };
};

let isLoaded = false;
function loadEngine(): void {
  if (isLoaded) return;
  const script = createRequire(import.meta.url).resolve(
    '@prisma/schema-engine-wasm/schema_engine_bg',
  );
  const bytes = readFileSync(join(dirname(script), 'schema_engine_bg.wasm'));
  const { Instance, Module } = wasm;
  const instance = new Instance(new Module(bytes), { './schema_engine_bg.js': { ...engine } });
  const { __wbg_set_wasm: setExports } = engine;
  setExports(instance.exports);
  const start = instance.exports['__wbindgen_start'];
  if (typeof start === 'function') start();
  isLoaded = true;
}

async function connectScratch(lite: PGlite): Promise<SqlDriverAdapter> {
  const adapter = await new PrismaPGlite(lite).connect();
  // The adapter does not wait for a script to end, and cuts it at semicolons.
  adapter.executeScript = async (script) => {
    await lite.exec(script);
  };
  adapter.dispose = () => Promise.resolve();
  return adapter;
}

function listMigrations(migrations: readonly Migration[]) {
  return {
    baseDir: MIGRATIONS_FOLDER,
    lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
    shadowDbInitScript: '',
    migrationDirectories: migrations.map(({ name, sql }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value: sql } },
    })),
  };
}
