import { TOUCH_EVERY_MS } from './prune.ts';
import type { Store, StoreFolder } from './store.ts';

/** Stores kept marked as used, for other processes too, until `release`, which is safe to call twice. */
export interface Hold {
  release(): void;
}

export function holdStores(stores: StoreFolder, held: readonly Store[]): Hold {
  const mark = (): void => {
    // A mark that fails is made up for by the next; a store that is gone shows when it is read.
    for (const store of held) stores.touch(store).catch(() => undefined);
  };
  const timer = setInterval(mark, TOUCH_EVERY_MS);
  timer.unref();
  return { release: () => clearInterval(timer) };
}
