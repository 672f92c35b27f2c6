import { toPrintable } from '@kervyxa/core';
import type { VerificationEvent } from '../events.ts';

/** What is kept of one step's output: its end, where a test tool says what went wrong. */
const TAIL_BYTES = 2_048;
const EVIDENCE_LENGTH_MAX = 16_384;
const LINE_LENGTH_MAX = 500;

/** The ends of what the steps of a run printed; hidden criteria's as well, for requester and operator only. */
export interface LogTails {
  readonly onEvent: (event: VerificationEvent) => void;
  /** By step id: `setup:0`, `criterion:tests`; null where nothing was printed. */
  tailOf(stepId: string): string | null;
}

export function createLogTails(): LogTails {
  const tails = new Map<string, Buffer>();
  return {
    onEvent: (event) => {
      if (event.kind !== 'output') return;
      const { stepId, chunk } = event;
      const all = Buffer.concat([tails.get(stepId) ?? Buffer.alloc(0), chunk.slice(-TAIL_BYTES)]);
      tails.set(stepId, all.subarray(-TAIL_BYTES));
    },
    tailOf: (stepId) => tails.get(stepId)?.toString('utf8').trimEnd() ?? null,
  };
}

/** Parts of a finding's evidence as printable lines, within a bound; undefined where there is nothing to show. */
export function toEvidence(...parts: readonly (string | null)[]): string | undefined {
  const text = parts
    .filter((part) => part !== null && part !== '')
    .join('\n')
    .trimEnd();
  if (text === '') return undefined;
  return withinLength(toPrintableLines(text), EVIDENCE_LENGTH_MAX);
}

/** Text of many lines from outside, safe to show: line ends stay, a tab is two blanks. */
export function toPrintableLines(text: string): string {
  return text
    .replaceAll('\t', '  ')
    .split('\n')
    .map((line) => toPrintable(line.replace(/\r$/, ''), LINE_LENGTH_MAX))
    .join('\n');
}

export function withinLength(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const end = text.lastIndexOf('\n', lengthMax);
  return `${text.slice(0, end < 0 ? lengthMax : end).toWellFormed()}\n… (cut)`;
}
