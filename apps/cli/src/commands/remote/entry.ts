import { toPrintable } from '@kervyxa/core';
import { Command } from 'commander';
import { z } from 'zod';
import type { CommandContext } from '../../context.ts';
import { cliError } from '../../errors.ts';
import { askApi } from '../../io/api-client.ts';
import {
  type LoadedFile,
  loadRoleFiles,
  parseRoleFile,
  type RoleFile,
  uploadFiles,
} from './files.ts';
import {
  idOf,
  REMOTE_HELP,
  type RemoteOptions,
  showAnswer,
  withRemoteOptions,
} from './remote-command.ts';

interface SubmitOptions extends RemoteOptions {
  readonly file?: readonly string[];
  readonly text?: string;
}

export function entryCommand(context: CommandContext): Command {
  const submit = withRemoteOptions(
    new Command('submit'),
    'entry submit prb_… --file answer=./answer.json',
  )
    .summary('hand in an answer')
    .description('Hand in an answer to a problem.')
    .argument('<problem>', 'the problem, prb_…', idOf('problem'))
    .option('--file <role=file>', 'a file and the role that it fills; as often as needed', collect)
    .option('--text <text>', 'the answer in words, for contracts that take one')
    .action((problem: string, options: SubmitOptions) => submitEntry(context, problem, options));
  const show = withRemoteOptions(new Command('show'), 'entry show ent_…')
    .summary('show an entry')
    .description('Show an entry.')
    .argument('<entry>', 'the entry, ent_…', idOf('entry'))
    .action((entry: string, options: RemoteOptions) =>
      showAnswer(context, options, { method: 'GET', path: pathOf(entry) }),
    );
  const nominate = withRemoteOptions(new Command('nominate'), 'entry nominate ent_…')
    .summary('have an entry stand for you')
    .description('Have an entry stand for you, where entries are independent.')
    .argument('<entry>', 'the entry, ent_…', idOf('entry'))
    .action((entry: string, options: RemoteOptions) =>
      showAnswer(context, options, { method: 'POST', path: `${pathOf(entry)}/nominate` }),
    );
  return new Command('entry')
    .summary('hand in answers to problems')
    .description('Hand in answers to problems.')
    .addHelpText('after', HELP)
    .addCommand(submit)
    .addCommand(show)
    .addCommand(nominate);
}

const ProblemSchema = z.looseObject({ contractId: z.string() });
const ContractSchema = z.looseObject({
  document: z.looseObject({
    submission_requirements: z.looseObject({
      required_artifacts: z.array(z.looseObject({ role: z.string() })),
    }),
  }),
});

const HELP = `
Examples:
  $ kervyxa entry submit prb_… --file answer=./answer.json
  $ kervyxa entry submit prb_… --text "The answer is 42."
  $ kervyxa entry nominate ent_…
${REMOTE_HELP}`;

async function submitEntry(
  context: CommandContext,
  problem: string,
  { file = [], text, ...options }: SubmitOptions,
): Promise<void> {
  if (file.length === 0 && text === undefined)
    throw cliError('CLI_USAGE_INVALID', {
      message: 'expected --file or --text, got neither',
      fix: 'hand in what the contract asks for: "kervyxa problem show" names the contract, "kervyxa checker show" its roles',
    });
  const files = await loadRoleFiles(file.map(parseRoleFile));
  if (files.length > 0) await assertRoles(context, options.url, problem, files);
  await showAnswer(context, options, {
    method: 'POST',
    path: `/v1/problems/${problem}/entries`,
    body: { summaryText: text ?? null, files: await toFiles(context, options.url, files) },
  });
}

/** Before anything is handed in: an entry in a role that is not asked for is judged by nobody, and counts. */
async function assertRoles(
  context: CommandContext,
  url: string | undefined,
  problem: string,
  files: readonly RoleFile[],
): Promise<void> {
  const get = <T>(path: string, schema: z.ZodType<T>) =>
    askApi(context, url, { method: 'GET', path }, schema);
  const { contractId } = await get(`/v1/problems/${problem}`, ProblemSchema);
  const { document } = await get(`/v1/checkers/${contractId}`, ContractSchema);
  const roles = document.submission_requirements.required_artifacts.map(({ role }) => role);
  const other = files.find(({ role }) => !roles.includes(role));
  if (other === undefined) return;
  throw cliError('CLI_USAGE_INVALID', {
    message: `expected --file for a role (${roles.map((role) => toPrintable(role, 40)).join(', ') || 'the contract has none'}), got ${JSON.stringify(other.role)}`,
    fix: 'name a role that the contract of the problem asks for',
  });
}

async function toFiles(
  context: CommandContext,
  url: string | undefined,
  files: readonly LoadedFile[],
) {
  if (files.length === 0) return null;
  const { sha256, artifacts } = await uploadFiles(context, url, files);
  return { package: sha256, artifacts };
}

function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

function pathOf(entry: string): string {
  return `/v1/entries/${entry}`;
}
