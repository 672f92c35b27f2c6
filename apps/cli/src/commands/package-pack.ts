import { Command } from 'commander';
import { toPrintable, type TreeArchive } from '@kervyxa/core';
import type { CommandContext } from '../context.ts';
import { assertWritable, writeArchiveFile } from '../io/archive-file.ts';
import { toJsonText } from '../present/json.ts';
import { megabytes } from '../present/pack-progress.ts';
import { count } from '../present/text.ts';

export interface PackagePackOptions {
  readonly out?: string;
  readonly json?: boolean;
}

/** How a hidden package is read; the real one is `loadVerifierPackage`. */
export type LoadPackage = (folder: string) => Promise<TreeArchive>;

export function packageCommand(context: CommandContext): Command {
  const pack = new Command('pack')
    .summary('pack a hidden package, and tell its digest')
    .description('Pack a hidden package as the archive that the API takes, and tell its digest.')
    .argument('<dir>', 'the folder of the hidden package')
    .option('-o, --out <file>', 'where to write the archive; without it only the digest is told')
    .option('--json', 'print what was packed as JSON')
    .addHelpText('after', HELP)
    .action(async (folder: string, options: PackagePackOptions) => {
      const { loadVerifierPackage } = await import('@kervyxa/intake/package');
      await runPackagePack(folder, options, context, async (path) => {
        const { archive } = await loadVerifierPackage(path);
        return archive;
      });
    });
  return new Command('package')
    .summary('make hidden packages')
    .description('Make hidden packages, which contracts name by their digest.')
    .addHelpText('after', '\nExamples:\n  $ kervyxa package pack ./hidden -o hidden.tar')
    .addCommand(pack);
}

const HELP = `
Regular files and folders only: a link, a socket or an odd name is refused, and
so are more than 10,000 entries or 64 MiB. Times, owners and the order in which
files were made do not matter: equal folders have equal digests.

Examples:
  $ kervyxa package pack ./hidden
  $ kervyxa package pack ./hidden -o hidden.tar
  $ kervyxa package pack ./hidden --json | jq -r .sha256

Exit codes:
  0 packed
  2 usage, a bad place for -o, or a folder that can not be read or holds what is
    refused
  4 the archive could not be written`;

export async function runPackagePack(
  folder: string,
  { out, json }: PackagePackOptions,
  { host, interrupts }: CommandContext,
  loadPackage: LoadPackage,
): Promise<void> {
  if (out !== undefined) await assertWritable(out, folder);
  const archive = await loadPackage(folder);
  const { digest: sha256, entryCount, bytesTotal } = archive;
  if (out !== undefined) await writeArchiveFile(out, archive, interrupts.signal);
  if (entryCount === 0) {
    host.stderr.write(`warning: ${toPrintable(folder)} is empty, and so is the package\n`);
  }
  host.stdout.write(
    json === true
      ? toJsonText({ file: out ?? null, entryCount, bytesTotal, sha256 })
      : `${toPrintable(out ?? folder)}: ${count(entryCount, 'entry', 'entries')}, ${megabytes(bytesTotal)}
sha256 ${sha256}

In the contract:
  "verifierPackage": { "sha256": "${sha256}" }
`,
  );
}
