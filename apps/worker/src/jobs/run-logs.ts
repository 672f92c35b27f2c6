import type { Contract } from '@kervyxa/contract';
import type { CriterionLog } from '@kervyxa/db';
import type { VerificationEvent } from '@kervyxa/verifier';

/** Kept of one criterion; the contract's outputKB may allow more. */
export const LOG_BYTES_MAX = 1_048_576;

interface Log {
  attempt: number;
  bytesSeen: number;
  readonly pieces: Uint8Array[];
}

/** What each criterion's command printed, stdout and stderr as they came: of its last try, and the first bytes of it. */
export interface RunLogs {
  onEvent(event: VerificationEvent): void;
  logs(): CriterionLog[];
}

export function createRunLogs({ criteria }: Contract): RunLogs {
  const kept = new Map<string, Log>();
  return {
    onEvent: (event) => {
      if (event.kind !== 'output') return;
      const log = kept.get(event.stepId);
      if (log === undefined || log.attempt !== event.attempt) {
        kept.set(event.stepId, append({ attempt: event.attempt, bytesSeen: 0, pieces: [] }, event));
      } else append(log, event);
    },
    logs: () =>
      criteria.flatMap(({ id, visibility }) => {
        const log = kept.get(`criterion:${id}`);
        if (log === undefined) return [];
        const truncated = log.bytesSeen > LOG_BYTES_MAX;
        return [{ criterionId: id, visibility, bytes: Buffer.concat(log.pieces), truncated }];
      }),
  };
}

function append(log: Log, { chunk }: { readonly chunk: Uint8Array }): Log {
  const room = Math.max(0, LOG_BYTES_MAX - log.bytesSeen);
  // A copy: the chunk is the sandbox's again afterwards.
  if (room > 0) log.pieces.push(Uint8Array.from(chunk.subarray(0, room)));
  log.bytesSeen += chunk.length;
  return log;
}
