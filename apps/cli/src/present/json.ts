import { escapeJson } from '@kervyxa/core';

/** A document for programs that may end up on a terminal (THREATS M22). */
export function toJsonText(value: unknown): string {
  return `${escapeJson(JSON.stringify(value, null, 2))}\n`;
}
