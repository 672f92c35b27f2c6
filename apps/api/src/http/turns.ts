import { createApiError } from '../errors.ts';

/** Work that takes much memory: one piece of it at a time of each principal, and so many of all. */
export interface Turns {
  /** Throws API_BUSY. */
  take<T>(principalId: string, work: () => Promise<T>): Promise<T>;
}

export function createTurns(max: number): Turns {
  const working = new Set<string>();
  return {
    async take(principalId, work) {
      if (working.has(principalId) || working.size >= max) {
        throw createApiError('API_BUSY', {
          message: 'expected less that takes much memory at once, got more than is allowed',
          fix: 'try again in a while',
        });
      }
      working.add(principalId);
      try {
        return await work();
      } finally {
        working.delete(principalId);
      }
    },
  };
}
