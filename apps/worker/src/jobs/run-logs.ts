import type { Contract } from '@kervyxa/contract';
import type { CriterionLog } from '@kervyxa/db';
import type { VerificationEvent } from '@kervyxa/verifier';

/** Kept of one criterion; the contract's outputKB may allow more. */
export const LOG_BYTES_MAX = 1_048_576;

interface Log {
  readonly attempt: number;
  bytesSeen: number;
  /** Grows: a program that says a byte at a time would else cost a hundred for each. */
  readonly bytes: ArrayBuffer;
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
      const { stepId, attempt, chunk } = event;
      let log = kept.get(stepId);
      if (log === undefined || log.attempt !== attempt) {
        const bytes = new ArrayBuffer(0, { maxByteLength: LOG_BYTES_MAX });
        kept.set(stepId, (log = { attempt, bytesSeen: 0, bytes }));
      }
      append(log, chunk);
    },
    logs: () =>
      criteria.flatMap(({ id, visibility }) => {
        const log = kept.get(`criterion:${id}`);
        if (log === undefined) return [];
        const truncated = log.bytesSeen > LOG_BYTES_MAX;
        return [{ criterionId: id, visibility, bytes: Buffer.from(log.bytes.slice()), truncated }];
      }),
  };
}

function append(log: Log, chunk: Uint8Array): void {
  const kept = chunk.subarray(0, Math.max(0, LOG_BYTES_MAX - log.bytesSeen));
  log.bytesSeen += chunk.length;
  const start = log.bytes.byteLength;
  log.bytes.resize(start + kept.length);
  // A copy: the chunk is the sandbox's again afterwards.
  new Uint8Array(log.bytes, start).set(kept);
}
