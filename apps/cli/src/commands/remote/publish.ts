import { readCheckerPackage } from '@kervyxa/checker';
import { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import { loadCheckerFolder } from '../../io/checker-folder.ts';
import { folderRefused, uploadFolder } from './files.ts';
import { idOf, type RemoteOptions, showAnswer, withRemoteOptions } from './remote-command.ts';

interface PublishOptions extends RemoteOptions {
  readonly name?: string;
  readonly verifier?: string;
}

export function checkerPublishCommand(context: CommandContext): Command {
  return withRemoteOptions(new Command('publish'), 'checker publish ./my-checker --name Sums')
    .summary('publish a checker package')
    .description('Publish a checker package. Its programs decide once they conform.')
    .argument('<dir>', 'the folder')
    .option('--name <name>', 'of a new family; the title of the contract where left out')
    .option('--verifier <id>', 'the family that it is the next version of, vfr_…', idOf('verifier'))
    .action((folder: string, options: PublishOptions) => publish(context, folder, options));
}

async function publish(
  context: CommandContext,
  folder: string,
  { name, verifier, ...options }: PublishOptions,
): Promise<void> {
  const { archive, files } = await loadCheckerFolder(folder, context.interrupts.signal);
  const { package: checker, findings } = readCheckerPackage(files, archive.digest);
  if (checker === null) throw folderRefused(folder, findings);
  const sha256 = await uploadFolder(context, options.url, archive);
  await showAnswer(context, options, {
    method: 'POST',
    path: '/v1/checkers',
    body: {
      package: sha256,
      name: name ?? checker.contract.title,
      verifierId: verifier ?? null,
    },
  });
}
