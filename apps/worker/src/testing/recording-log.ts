import type { Log } from '../scheduler/nudge.ts';

/** Remembers `level message` of each line. */
export function recordingLog(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const at = (level: string) => (_facts: object, message: string) => {
    lines.push(`${level}: ${message}`);
  };
  return { lines, info: at('info'), warn: at('warn'), error: at('error') };
}
