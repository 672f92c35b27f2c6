import { toPrintable } from '@kervyxa/core';
import type { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import { type ApiAnswer, type ApiRequest, askApi, URL_DEFAULT } from '../../io/api-client.ts';
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
  context.host.stdout.write(json === true ? toJsonText(answer) : toText(answer));
}

/** One line a member, one block an item; what has parts is JSON. */
function toText(answer: ApiAnswer): string {
  const { items, next, ...members } = answer;
  if (!Array.isArray(items)) return toBlock(answer);
  const blocks = items.map((item) => toBlock({ ...item }));
  const more = typeof next === 'string' ? `${toBlock({ ...members, next })}` : '';
  return `${blocks.join('\n')}${more === '' ? '' : `\n${more}`}${items.length === 0 ? 'none\n' : ''}`;
}

function toBlock(members: ApiAnswer): string {
  const width = Math.max(...Object.keys(members).map((name) => name.length), 0);
  return Object.entries(members)
    .map(([name, value]) => `${name.padEnd(width)}  ${toValue(value)}\n`)
    .join('');
}

function toValue(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return toPrintable(typeof value === 'object' ? JSON.stringify(value) : String(value), 2_000);
}
