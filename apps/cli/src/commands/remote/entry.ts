import { Command } from 'commander';
import { cliError } from '../../errors.ts';
import type { CommandContext } from '../../context.ts';
import { parseRoleFile, type RoleFile, uploadFiles } from './files.ts';
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
  const files = file.map(parseRoleFile);
  if (files.length === 0 && text === undefined)
    throw cliError('CLI_USAGE_INVALID', {
      message: 'expected --file or --text, got neither',
      fix: 'hand in what the contract asks for: "kervyxa problem show" names it',
    });
  await showAnswer(context, options, {
    method: 'POST',
    path: `/v1/problems/${problem}/entries`,
    body: { summaryText: text ?? null, files: await toFiles(context, options.url, files) },
  });
}

async function toFiles(
  context: CommandContext,
  url: string | undefined,
  files: readonly RoleFile[],
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
