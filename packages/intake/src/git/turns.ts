/** Runs tasks of one key one after another, and tasks of different keys side by side. A task's failure is its own. */
export function createTurns(): <T>(key: string, task: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return async (key, task) => {
    const before = last.get(key);
    const run = (async () => {
      await before;
      return task();
    })();
    const settled = run.then(
      () => undefined,
      () => undefined,
    );
    last.set(key, settled);
    try {
      return await run;
    } finally {
      if (last.get(key) === settled) last.delete(key);
    }
  };
}
