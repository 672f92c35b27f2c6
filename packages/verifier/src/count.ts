import type { CountedSource } from '@kervyxa/contract';
import { Sha256HexSchema } from '@kervyxa/core';
import type { CapturedStream } from '@kervyxa/sandbox';
import { z } from 'zod';

const MARKER = 'KERVYXA_COUNT=';
/** Far more than the longest report, and far less than what is kept of a stream. */
const LINE_CHARACTERS_MAX = 512;

const CountReportSchema = z.strictObject({
  /** The work done; null where the program ended without a count that can be trusted. */
  count: z.int().min(0).nullable(),
  /** SHA-256 over everything that the program printed on stdout. */
  stdoutSha256: Sha256HexSchema,
  /** How the program ended, the harness's child: one of the two is null. */
  exitCode: z.int().min(0).max(255).nullable(),
  signal: z.string().min(1).max(32).nullable(),
});
export type CountReport = z.infer<typeof CountReportSchema>;

/** What the harness says on its stdout, which is one line and nothing else. */
export type CountReading =
  | { readonly kind: 'one'; readonly report: CountReport }
  | { readonly kind: 'none' }
  | { readonly kind: 'several'; readonly count: number }
  | { readonly kind: 'malformed'; readonly line: string };

/**
 * The command of the container for a criterion whose work is counted: the runtime image's harness runs the criterion's
 * own command as its child. That command is one program with its arguments (COUNTED_COMMAND_UNFIT), so the shell
 * expands its words, and with exec nothing comes after the harness.
 */
export function toCountCommand(source: CountedSource, command: string): string {
  return `exec kervyxa-count ${source} ${command.trimStart()}`;
}

/** Reads the report out of the whole standard output of a harness; pure. */
export function readCount({ head, bytesTotal }: CapturedStream): CountReading {
  const text = Buffer.from(head).toString('latin1');
  const lines = text.split('\n');
  const attempts = lines.filter((line) => line.startsWith(MARKER));
  const [attempt] = attempts;
  if (attempt === undefined) return { kind: 'none' };
  if (attempts.length > 1) return { kind: 'several', count: attempts.length };
  const isWhole = bytesTotal === head.length && text === `${attempt}\n`;
  const report = isWhole ? parseReport(attempt.slice(MARKER.length)) : null;
  const line = isWhole ? attempt : (lines.find((each) => each !== attempt && each !== '') ?? text);
  return report === null ? { kind: 'malformed', line } : { kind: 'one', report };
}

function parseReport(json: string): CountReport | null {
  if (json.length > LINE_CHARACTERS_MAX || !json.endsWith('}')) return null;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return null;
  }
  return CountReportSchema.safeParse(value).data ?? null;
}
