import type { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import { type ApiRequest, askApi, URL_DEFAULT } from '../../io/api-client.ts';
import { toAnswerText } from '../../present/answer.ts';
import { toJsonText } from '../../present/json.ts';

/** What every command that asks an API takes. */
export interface RemoteOptions {
  readonly url?: string;
  readonly json?: boolean;
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

/** Asks, and shows what was answered. */
export async function showAnswer(
  context: CommandContext,
  { url, json }: RemoteOptions,
  request: ApiRequest,
): Promise<void> {
  const answer = await askApi(context, url, request);
  context.host.stdout.write(json === true ? toJsonText(answer) : toAnswerText(answer));
}
