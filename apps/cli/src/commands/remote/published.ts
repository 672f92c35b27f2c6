import { Command } from 'commander';
import { z } from 'zod';
import type { CommandContext } from '../../context.ts';
import { AnswerSchema, askApi } from '../../io/api-client.ts';
import {
  idOf,
  type ListOptions,
  type RemoteOptions,
  showPage,
  withListOptions,
  withRemoteOptions,
  writeAnswer,
} from './remote-command.ts';

export function checkerListCommand(context: CommandContext): Command {
  return withListOptions(new Command('list'), 'checker list')
    .summary('list the published contracts')
    .description('List the published contracts of all, newest first.')
    .action((options: ListOptions) => showPage(context, options, '/v1/checkers'));
}

export function checkerShowCommand(context: CommandContext): Command {
  return withRemoteOptions(new Command('show'), 'checker show vct_…')
    .summary('show a published contract, and whether its programs conform')
    .description('Show a published contract, and how the fixtures of its programs went.')
    .argument('<contract>', 'the contract, vct_…', idOf('verifierContract'))
    .action((contract: string, options: RemoteOptions) => show(context, contract, options));
}

const ContractSchema = z.looseObject({
  document: z.looseObject({ submission_requirements: z.unknown() }),
});

/** The latest programs, as many as come on a page; the whole document is for programs that ask for JSON. */
async function show(
  context: CommandContext,
  id: string,
  { url, json }: RemoteOptions,
): Promise<void> {
  const get = <T>(path: string, schema: z.ZodType<T>) =>
    askApi(context, url, { method: 'GET', path }, schema);
  const { document, ...contract } = await get(`/v1/checkers/${id}`, ContractSchema);
  const { items: programs } = await get(`/v1/checkers/${id}/implementations`, AnswerSchema);
  const { submission_requirements } = document;
  const told = json === true ? { document } : { submission_requirements };
  writeAnswer(context, { ...contract, ...told, programs }, json);
}
