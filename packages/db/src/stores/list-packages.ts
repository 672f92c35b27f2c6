import type { PrismaClient } from '../client.ts';
import type { PackageRow, Page, PageRequest } from '../ports.ts';
import { createCursorInvalid, LIMIT_MAX } from './pages.ts';
import { told } from './sql.ts';

/** In the order of their digests, and of owners where several have the same. Throws DB_CURSOR_INVALID. */
export async function listPackages(
  client: PrismaClient,
  ownerId: string | null,
  { limit, after }: PageRequest,
): Promise<Page<PackageRow>> {
  const size = Math.min(Math.max(limit, 1), LIMIT_MAX);
  const rows = await told(
    client.package.findMany({
      ...(ownerId !== null && { where: { ownerId } }),
      orderBy: [{ sha256: 'asc' }, { ownerId: 'asc' }],
      take: size + 1,
      ...(after !== null && { cursor: { sha256_ownerId: parseCursor(after) }, skip: 1 }),
    }),
  );
  const items = rows.slice(0, size);
  const last = rows.length > size ? items.at(-1) : undefined;
  return { items, next: last === undefined ? null : `${last.sha256}.${last.ownerId}` };
}

function parseCursor(text: string): { readonly sha256: string; readonly ownerId: string } {
  const [, sha256, ownerId] = /^([0-9a-f]{64})\.([0-9a-z_]{1,64})$/.exec(text) ?? [];
  if (sha256 === undefined || ownerId === undefined) throw createCursorInvalid(text);
  return { sha256, ownerId };
}
