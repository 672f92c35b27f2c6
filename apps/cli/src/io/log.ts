import { isAppError } from '@kervyxa/core';
import { pino, type Logger } from 'pino';
import type { Host } from '../host.ts';
import { toLogLine } from '../present/log-line.ts';

/** Names of fields that never belong into a log, at the top and one level down. */
const SECRET_FIELDS = ['authorization', 'cookie', 'key', 'apiKey', 'secret', 'password', 'token'];

/** JSON lines for programs; for a person on a terminal a short line an event. Both on stdout. */
export function createLog({ stdout, env }: Pick<Host, 'stdout' | 'env'>, isJson: boolean): Logger {
  const isDebug = env['KERVYXA_DEBUG'] === '1';
  const options = {
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level: string) => ({ level }) },
    serializers: { err: (error: Error) => sayError(error, isDebug) },
    redact: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
  };
  const write = (line: string): void => {
    stdout.write(isJson ? line : `${toLogLine(line, stdout)}\n`);
  };
  return pino(options, { write });
}

/** What was foreseen needs no stack: its code says what it is. A defect is found by nothing else. */
function sayError(error: Error, isDebug: boolean): object {
  if (!isAppError(error) || error.traits.fault === 'bug' || isDebug) {
    return pino.stdSerializers.err(error);
  }
  const { code, message, fix, details, cause } = error;
  const why = cause instanceof Error ? { cause: cause.message } : {};
  return { code, message, fix, details, ...why };
}
