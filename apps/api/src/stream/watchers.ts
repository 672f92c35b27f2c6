import { createApiError } from '../errors.ts';

/** Who has event streams open, and the end of all of them. */
export interface Watchers {
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
  /** Counts one more; the returned function takes it off again. Throws API_WATCHERS_EXCEEDED. */
  enter(principalId: string): () => void;
  close(): void;
}

export function createWatchers(limits: {
  readonly watchersPerPrincipalMax: number;
  readonly watchersMax: number;
}): Watchers {
  const closing = new AbortController();
  const openBy = new Map<string, number>();
  let open = 0;
  return {
    closing: closing.signal,
    enter(principalId) {
      const own = openBy.get(principalId) ?? 0;
      if (own >= limits.watchersPerPrincipalMax || open >= limits.watchersMax) {
        throw createApiError('API_WATCHERS_EXCEEDED', {
          message: `expected at most ${limits.watchersPerPrincipalMax} open event streams of one key, got more, or the server has too many`,
          fix: 'close a stream, or watch the contract instead of each run',
        });
      }
      openBy.set(principalId, own + 1);
      open += 1;
      return () => {
        const left = (openBy.get(principalId) ?? 1) - 1;
        if (left === 0) openBy.delete(principalId);
        else openBy.set(principalId, left);
        open -= 1;
      };
    },
    close: () => closing.abort(),
  };
}
