import { readCheckerFolder } from '@kervyxa/checker';
import { Command } from 'commander';
import { z } from 'zod';
import type { CommandContext } from '../../context.ts';
import { askApi } from '../../io/api-client.ts';
import { loadCheckerFolder } from '../../io/checker-folder.ts';
import { folderRefused, uploadFolder } from './files.ts';
import {
  REMOTE_HELP,
  type RemoteOptions,
  showAnswer,
  withRemoteOptions,
} from './remote-command.ts';

interface CreateOptions extends RemoteOptions {
  readonly contract?: string;
}
interface ReleaseOptions extends RemoteOptions {
  readonly fingerprint?: string;
}

export function problemCommand(context: CommandContext): Command {
  const create = withRemoteOptions(new Command('create'), 'problem create ./my-problem')
    .description('Draft the problem of a folder: problem.json, statement.md and reference/.')
    .argument('<dir>', 'the folder')
    .option('--contract <id>', 'a published contract, vct_…; else that of the folder is published')
    .action((folder: string, options: CreateOptions) => createProblem(context, folder, options));
  const list = withRemoteOptions(new Command('list'), 'problem list')
    .description('List the problems that you may see.')
    .action((options: RemoteOptions) =>
      showAnswer(context, options, { method: 'GET', path: '/v1/problems' }),
    );
  const show = withRemoteOptions(new Command('show'), 'problem show prb_…')
    .description('Show a problem, and what its slots are bound to.')
    .argument('<problem>', 'the problem, prb_…')
    .action((problem: string, options: RemoteOptions) =>
      showAnswer(context, options, { method: 'GET', path: pathOf(problem) }),
    );
  const open = withRemoteOptions(new Command('open'), 'problem open prb_…')
    .description('Open a draft for entries. From then on its terms are fixed.')
    .argument('<problem>', 'the problem, prb_…')
    .action((problem: string, options: RemoteOptions) =>
      showAnswer(context, options, { method: 'POST', path: `${pathOf(problem)}/open` }),
    );
  const close = withRemoteOptions(new Command('close'), 'problem close prb_…')
    .description('Take no entries any more.')
    .argument('<problem>', 'the problem, prb_…')
    .action((problem: string, options: RemoteOptions) =>
      showAnswer(context, options, { method: 'POST', path: `${pathOf(problem)}/close` }),
    );
  const release = withRemoteOptions(
    new Command('release'),
    'problem release prb_… --fingerprint sha256:…',
  )
    .description('Release sealed bytes early and for good: first look, then confirm.')
    .argument('<problem>', 'the problem, prb_…')
    .option('--fingerprint <digest>', 'of what was looked at; without it, shows what would be done')
    .action((problem: string, { fingerprint, ...options }: ReleaseOptions) => {
      const path = `${pathOf(problem)}/release`;
      return showAnswer(
        context,
        options,
        fingerprint === undefined
          ? { method: 'GET', path }
          : { method: 'POST', path, body: { fingerprint } },
      );
    });
  return new Command('problem')
    .summary('set problems that published checkers decide')
    .description('Set problems that published checkers decide.')
    .addHelpText('after', HELP)
    .addCommand(create)
    .addCommand(list)
    .addCommand(show)
    .addCommand(open)
    .addCommand(close)
    .addCommand(release);
}

const HELP = `
Examples:
  $ kervyxa problem create ./my-problem
  $ kervyxa problem open prb_…
  $ kervyxa problem release prb_…
  $ kervyxa problem release prb_… --fingerprint sha256:…
${REMOTE_HELP}`;

const MadeSchema = z.looseObject({ id: z.string() });

/**
 * 1. Read the folder as lint does, and refuse what it refuses.
 * 2. Send it, and publish its contract where none is named.
 * 3. Draft the problem, and bind each slot to its file or link.
 */
async function createProblem(
  context: CommandContext,
  folder: string,
  { contract, ...options }: CreateOptions,
): Promise<void> {
  const { url } = options;
  const { archive, files } = await loadCheckerFolder(folder, context.interrupts.signal);
  const { campaign, problems, findings } = readCheckerFolder(files, archive.digest);
  const [problem] = problems;
  const isRefused = findings.some(({ severity }) => severity === 'refuse');
  if (isRefused || campaign !== null || problem === undefined || problem.details === null)
    throw folderRefused(folder, isRefused ? findings : []);
  const { title, sealing = null, verifier_contract: named } = problem.details;
  const sha256 = await uploadFolder(context, url, archive);
  const contractId =
    contract ?? named ?? (await publish(context, url, { package: sha256, name: title }));
  const drafted = await askApi(context, url, {
    method: 'POST',
    path: '/v1/problems',
    body: { contractId, title, statement: problem.statement ?? title, sealing },
  });
  const { id } = MadeSchema.parse(drafted);
  const bind = (slot: string, body: object) =>
    askApi(context, url, { method: 'PUT', path: `${pathOf(id)}/inputs/${slot}`, body });
  const slots = problem.package?.contract.reference_inputs ?? [];
  for (const [slot, { filename }] of problem.package?.reference ?? []) {
    // A folder declares none besides what its contract takes.
    const mediaType = slots.find(({ key }) => key === slot)?.media_types[0] ?? null;
    await bind(slot, { kind: 'file', package: sha256, path: `reference/${filename}`, mediaType });
  }
  for (const [slot, link] of problem.links)
    await bind(slot, {
      kind: 'link',
      url: link.url,
      filename: link.filename ?? slot,
      mediaType: link.media_type,
      sizeBytes: link.size_bytes,
      contentHash: link.content_hash,
    });
  await showAnswer(context, options, { method: 'GET', path: pathOf(id) });
}

async function publish(
  context: CommandContext,
  url: string | undefined,
  body: { readonly package: string; readonly name: string },
): Promise<string> {
  const answer = await askApi(context, url, { method: 'POST', path: '/v1/checkers', body });
  return MadeSchema.parse(answer).id;
}

function pathOf(problem: string): string {
  return `/v1/problems/${encodeURIComponent(problem)}`;
}
