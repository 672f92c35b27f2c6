import type { LintFinding } from '@kervyxa/checker';
import { packTree, toPrintable, type TreeArchive, type TreeEntry } from '@kervyxa/core';
import { z } from 'zod';
import type { CommandContext } from '../../context.ts';
import { cliError } from '../../errors.ts';
import { askApi } from '../../io/api-client.ts';
import { loadFile } from '../../io/loose-file.ts';

const ReceiptSchema = z.looseObject({ sha256: z.string() });

/** A file of an entry: the role that it fills, and where it is. */
export interface RoleFile {
  readonly role: string;
  readonly path: string;
}

/** The same with its bytes; where it will be in the folder that is sent. */
export interface LoadedFile extends RoleFile {
  readonly content: Uint8Array;
}

/** `answer=./out/answer.json`. Throws CLI_USAGE_INVALID. */
export function parseRoleFile(text: string): RoleFile {
  const [, role, path] = /^([a-z0-9_]+)=(.+)$/s.exec(text) ?? [];
  if (role !== undefined && path !== undefined) return { role, path };
  throw cliError('CLI_USAGE_INVALID', {
    message: `expected --file as ROLE=FILE, got ${JSON.stringify(text)}`,
    fix: 'name the role as the contract does: --file answer=./answer.json',
  });
}

/** What keeps a folder from being sent, of all that lint says; where it has nothing against it, a campaign does. */
export function folderRefused(folder: string, findings: readonly LintFinding[]): Error {
  const refusal = findings.find(({ severity }) => severity === 'refuse');
  const lint = `"kervyxa checker lint ${toPrintable(folder, 300)}"`;
  return cliError('CLI_CHECKER_REFUSED', {
    message: refusal?.message ?? 'expected the folder of one problem, got none, or a campaign',
    fix:
      refusal === undefined
        ? 'Give the folder of one problem, with what it shares with its campaign copied into it.'
        : `${refusal.fix} ${lint} shows everything.`,
  });
}

/** Sends a folder; answers its digest, by which everything else names it. */
export async function uploadFolder(
  context: CommandContext,
  url: string | undefined,
  archive: TreeArchive,
): Promise<string> {
  const pieces = await Array.fromAsync(archive.open(context.interrupts.signal));
  return upload(context, url, Buffer.concat(pieces));
}

/** Throws CLI_FILE_UNREADABLE. */
export function loadRoleFiles(files: readonly RoleFile[]): Promise<LoadedFile[]> {
  return Promise.all(
    files.map(async ({ role, path }) => {
      const name = path.slice(path.lastIndexOf('/') + 1);
      return { role, path: `${role}/${name}`, content: await loadFile(path) };
    }),
  );
}

/** Sends the files of an entry; answers the folder's digest and where each is in it. */
export async function uploadFiles(
  context: CommandContext,
  url: string | undefined,
  loaded: readonly LoadedFile[],
): Promise<{ readonly sha256: string; readonly artifacts: readonly RoleFile[] }> {
  const entries = async function* (): AsyncGenerator<TreeEntry> {
    for (const { path, content } of loaded)
      yield { type: 'file', path, executable: false, size: content.length, content };
  };
  const tar = await Array.fromAsync(packTree(entries(), context.interrupts.signal));
  const sha256 = await upload(context, url, Buffer.concat(tar));
  return { sha256, artifacts: loaded.map(({ role, path }) => ({ role, path })) };
}

async function upload(
  context: CommandContext,
  url: string | undefined,
  body: Buffer<ArrayBuffer>,
): Promise<string> {
  const request = { method: 'POST', path: '/v1/packages', body } as const;
  return (await askApi(context, url, request, ReceiptSchema)).sha256;
}
