import { readCheckerFolder } from '@kervyxa/checker';
import { isAppError, toPrintable } from '@kervyxa/core';
import { Command } from 'commander';
import { z } from 'zod';
import type { CommandContext } from '../../context.ts';
import { cliError } from '../../errors.ts';
import { askApi } from '../../io/api-client.ts';
import { loadCheckerFolder } from '../../io/checker-folder.ts';
import { folderRefused, uploadFolder } from './files.ts';
import {
  idOf,
  type ListOptions,
  REMOTE_HELP,
  type RemoteOptions,
  showAnswer,
  showPage,
  withListOptions,
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
    .summary('draft the problem of a folder')
    .description('Draft the problem of a folder: problem.json, statement.md and reference/.')
    .argument('<dir>', 'the folder')
    .option(
      '--contract <id>',
      'a published contract, vct_…; else that of the folder is published',
      idOf('verifierContract'),
    )
    .action((folder: string, options: CreateOptions) => createProblem(context, folder, options));
  const list = withListOptions(new Command('list'), 'problem list')
    .summary('list the problems that you may see')
    .description('List the problems that you may see.')
    .action((options: ListOptions) => showPage(context, options, '/v1/problems'));
  const show = withRemoteOptions(new Command('show'), 'problem show prb_…')
    .summary('show a problem')
    .description('Show a problem, and what its slots are bound to.')
    .argument('<problem>', 'the problem, prb_…', idOf('problem'))
    .action((problem: string, options: RemoteOptions) =>
      showAnswer(context, options, { method: 'GET', path: pathOf(problem) }),
    );
  const open = withRemoteOptions(new Command('open'), 'problem open prb_…')
    .summary('open a draft for entries')
    .description('Open a draft for entries. From then on its terms are fixed.')
    .argument('<problem>', 'the problem, prb_…', idOf('problem'))
    .action((problem: string, options: RemoteOptions) =>
      showAnswer(context, options, { method: 'POST', path: `${pathOf(problem)}/open` }),
    );
  const close = withRemoteOptions(new Command('close'), 'problem close prb_…')
    .summary('take no entries any more')
    .description('Take no entries any more.')
    .argument('<problem>', 'the problem, prb_…', idOf('problem'))
    .action((problem: string, options: RemoteOptions) =>
      showAnswer(context, options, { method: 'POST', path: `${pathOf(problem)}/close` }),
    );
  const release = withRemoteOptions(
    new Command('release'),
    'problem release prb_… --fingerprint sha256:…',
  )
    .summary('release sealed bytes early and for good')
    .description('Release sealed bytes early and for good: first look, then confirm.')
    .argument('<problem>', 'the problem, prb_…', idOf('problem'))
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
const DuplicateSchema = z.looseObject({
  problem: z.looseObject({ code: z.literal('DB_VERIFIER_DUPLICATE') }),
});

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
  const draft = { contractId, title, statement: problem.statement ?? title, sealing };
  const request = { method: 'POST', path: '/v1/problems', body: draft } as const;
  const { id } = await askApi(context, url, request, MadeSchema);
  const bind = (slot: string, body: object) => {
    const path = `${pathOf(id)}/inputs/${slot}`;
    return askApi(context, url, { method: 'PUT', path, body }, MadeSchema);
  };
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

/** Says at once what is published: should what follows fail, the problem is tried again with `--contract`. */
async function publish(
  context: CommandContext,
  url: string | undefined,
  body: { readonly package: string; readonly name: string },
): Promise<string> {
  const request = { method: 'POST', path: '/v1/checkers', body } as const;
  const { id } = await askApi(context, url, request, MadeSchema).catch((error: unknown) => {
    throw isDuplicate(error) ? alreadyPublished(body.name, error) : error;
  });
  context.host.stderr.write(`published ${toPrintable(id, 100)}\n`);
  return id;
}

function isDuplicate(error: unknown): boolean {
  const { data } = DuplicateSchema.safeParse(isAppError(error) ? error.details : null);
  return data !== undefined;
}

function alreadyPublished(name: string, cause: unknown): Error {
  return cliError('CLI_API_REFUSED', {
    message: `DB_VERIFIER_DUPLICATE: expected a contract that is still to be published, got one whose title ${JSON.stringify(name)} a checker of yours has`,
    fix: 'name it with --contract vct_…, as "kervyxa checker list" shows it; for changed terms, publish a version first with "kervyxa checker publish DIR --verifier vfr_…"',
    cause,
  });
}

function pathOf(problem: string): string {
  return `/v1/problems/${problem}`;
}
