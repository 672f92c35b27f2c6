import { pino, type Logger } from 'pino';
import type { Host } from '../host.ts';
import { toLogLine } from '../present/log-line.ts';

/** Names of fields that never belong into a log, at the top and one level down. */
const SECRET_FIELDS = ['authorization', 'cookie', 'key', 'apiKey', 'secret', 'password', 'token'];

/** JSON lines for programs; for a person on a terminal a short line an event. Both on stdout. */
export function createLog({ stdout }: Pick<Host, 'stdout'>, isJson: boolean): Logger {
  const options = {
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level: string) => ({ level }) },
    redact: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
  };
  const write = (line: string): void => {
    stdout.write(isJson ? line : `${toLogLine(line, stdout)}\n`);
  };
  return pino(options, { write });
}
