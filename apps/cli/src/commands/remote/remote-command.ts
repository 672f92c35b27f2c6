import { ID_PREFIXES, type IdKind, idSchemaOf } from '@kervyxa/core';
import { type Command, InvalidArgumentError } from 'commander';
import type { CommandContext } from '../../context.ts';
import {
  AnswerSchema,
  type ApiAnswer,
  type ApiRequest,
  askApi,
  URL_DEFAULT,
} from '../../io/api-client.ts';
import { toAnswerText } from '../../present/answer.ts';
import { toJsonText } from '../../present/json.ts';

/** What every command that asks an API takes. */
export interface RemoteOptions {
  readonly url?: string;
  readonly json?: boolean;
}

/** The same of a list. */
export interface ListOptions extends RemoteOptions {
  readonly after?: string;
}

export const REMOTE_HELP = `
Environment:
  KERVYXA_KEY  the API key of who is asking
  KERVYXA_URL  the address of the API; ${URL_DEFAULT} where left out

Exit codes:
  0 done
  2 usage, or the API refused it
  4 the API can not be reached`;

/** `example` is a command line without `kervyxa`. */
export function withRemoteOptions(command: Command, example: string): Command {
  return command
    .option('--url <url>', 'the address of the API')
    .option('--json', 'print the answer as it is')
    .addHelpText('after', `\nExamples:\n  $ kervyxa ${example}\n${REMOTE_HELP}`);
}

export function withListOptions(command: Command, example: string): Command {
  return withRemoteOptions(
    command.option('--after <cursor>', 'the next page: what the last one says as next'),
    example,
  );
}

/** An argument that is an id; another is refused before anybody is asked. */
export function idOf(kind: IdKind): (text: string) => string {
  return (text) => {
    if (idSchemaOf(kind).safeParse(text).success) return text;
    const prefix = ID_PREFIXES[kind];
    throw new InvalidArgumentError(`expected an id such as ${prefix}_… in full`);
  };
}

export function showPage(
  context: CommandContext,
  { after, ...options }: ListOptions,
  path: string,
): Promise<void> {
  const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`;
  return showAnswer(context, options, { method: 'GET', path: `${path}${query}` });
}

/** Asks, and shows what was answered. */
export async function showAnswer(
  context: CommandContext,
  { url, json }: RemoteOptions,
  request: ApiRequest,
): Promise<void> {
  writeAnswer(context, await askApi(context, url, request, AnswerSchema), json);
}

export function writeAnswer(
  { host }: CommandContext,
  answer: ApiAnswer,
  json: boolean | undefined,
): void {
  host.stdout.write(json === true ? toJsonText(answer) : toAnswerText(answer));
}
