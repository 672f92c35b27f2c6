import { Command } from 'commander';
import { toPrintable } from '@kervyxa/core';
import type { DependencyBundle, PackProgress, PackRequest } from '@kervyxa/deps';
import type { CommandContext } from '../context.ts';
import { cliError } from '../errors.ts';
import { assertWritable, writeArchiveFile } from '../io/archive-file.ts';
import { loadTextFile } from '../io/text-file.ts';
import { createPackProgress, megabytes } from '../present/pack-progress.ts';
import { toJsonText } from '../present/json.ts';
import { count } from '../present/text.ts';

export interface DepsPackOptions {
  readonly lockfile?: readonly string[];
  readonly requirements?: readonly string[];
  readonly out: string;
  readonly json?: boolean;
}

/** How a bundle is had; the real one is `packDependencies` with this machine's npm. */
export type PackBundle = (
  request: PackRequest,
  options: {
    readonly signal: AbortSignal;
    readonly onProgress: (progress: PackProgress) => void;
  },
) => Promise<DependencyBundle>;

export function depsCommand(context: CommandContext): Command {
  const pack = new Command('pack')
    .summary('pack what lock files pin, for runs without a network')
    .description('Pack what lock files pin, so that it can be installed without a network.')
    .usage('(--lockfile | --requirements) FILE -o FILE [options]')
    .option('--lockfile <file>', 'a package-lock.json; as often as needed', collect)
    .option('--requirements <file>', 'a requirements.txt with hashes; as often as needed', collect)
    .requiredOption('-o, --out <file>', 'where to write the bundle')
    .option('--json', 'print what was packed as JSON')
    .addHelpText('after', HELP)
    .action(async (options: DepsPackOptions) => {
      const { packDependencies } = await import('@kervyxa/deps');
      const place = { folder: process.cwd(), env: context.host.env };
      await runDepsPack(options, context, (request, rest) =>
        packDependencies(request, { place, ...rest }),
      );
    });
  return new Command('deps')
    .summary('make dependency bundles')
    .description('Make dependency bundles, which contracts name by their digest.')
    .addHelpText(
      'after',
      '\nExamples:\n  $ kervyxa deps pack --lockfile package-lock.json -o deps.tar',
    )
    .addCommand(pack);
}

const HELP = `
Everything is fetched with your own settings of npm (registry, credentials,
proxy, cache) and PIP_INDEX_URL, and held against the hashes of the lock files:
what does not match ends the command. The same lock files give the same digest
on every machine. docs/contracts.md tells what is packed and how to use it.

Examples:
  $ kervyxa deps pack --lockfile package-lock.json -o deps.tar
  $ kervyxa deps pack --lockfile base.json --lockfile solved.json -o deps.tar
  $ kervyxa deps pack --requirements requirements.txt -o deps.tar --json

Exit codes:
  0 packed
  2 usage, a bad place for -o, or something that is not pinned, not there or not
    what it should be
  4 the registry does not answer, or the disk is full
  130 after Ctrl-C; what was fetched stays in npm's cache`;

function collect(file: string, before: readonly string[] = []): readonly string[] {
  return [...before, file];
}

/**
 * 1. The files are read, and the place of the bundle is looked at.
 * 2. Everything is fetched and packed, with a bar on a terminal.
 * 3. The bundle takes its place in one step, and is told about on standard output.
 */
export async function runDepsPack(
  options: DepsPackOptions,
  { host, interrupts }: CommandContext,
  pack: PackBundle,
): Promise<void> {
  const request = await loadRequest(options);
  await assertWritable(options.out);
  const progress = createPackProgress(host);
  interrupts.onFirst((name) => progress.note(`${name}: removing what was begun`));
  try {
    const { signal } = interrupts;
    const bundle = await pack(request, { signal, onProgress: progress.onProgress });
    const sizeBytes = await writeArchiveFile(options.out, bundle.archive, signal);
    progress.stop();
    host.stdout.write(toText(options, bundle, sizeBytes));
  } finally {
    progress.stop();
  }
}

async function loadRequest(options: DepsPackOptions): Promise<PackRequest> {
  const { lockfile = [], requirements = [] } = options;
  if (lockfile.length + requirements.length === 0) {
    throw cliError('CLI_USAGE_INVALID', {
      message: 'expected --lockfile FILE or --requirements FILE, got neither',
      fix: '"kervyxa deps pack --help" shows how.',
    });
  }
  return {
    lockfiles: await Promise.all(lockfile.map(loadTextFile)),
    requirements: await Promise.all(requirements.map(loadTextFile)),
  };
}

function toText(
  { out, json }: DepsPackOptions,
  { sha256, archive, packages }: DependencyBundle,
  sizeBytes: number,
): string {
  if (json === true) {
    return toJsonText({ file: out, sizeBytes, entryCount: archive.entryCount, sha256, packages });
  }
  return `${toPrintable(out)}: ${count(packages.length, 'package')}, ${megabytes(sizeBytes)}
sha256 ${sha256}

In the contract's environment:
  "dependencies": { "sha256": "${sha256}" }
`;
}
