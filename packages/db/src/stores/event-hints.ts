import type { Wakes } from '../queue/wakes.ts';

/** A hint may come before its event can be seen, or between a look and the wait: for this long after it, look again. */
const FRESH_MS = 500;
const FRESH_LOOK_MS = 50;
/** A hint can be lost with its connection. */
const LOOK_MS = 2_000;
/** How long hints are still heard for a stream that nobody waits for: its reader may be looking. */
const LINGER_MS = 5_000;

/** Has whoever waits for events of a contract or run look again; one connection of the process hears for all. */
export interface EventHints {
  /** After the commit that wrote events of these contracts and runs. Returns at once. */
  tell(streams: Iterable<string>): void;
  /** Resolves soon after there may be new ones, from time to time without a reason, and when the signal aborts. */
  wait(stream: string, signal: AbortSignal): Promise<void>;
  /** Resolves all waits. */
  close(): Promise<void>;
}

interface Stream {
  readonly waiting: Set<() => void>;
  readonly stopListening: () => void;
  freshness: NodeJS.Timeout | null;
  lingering: NodeJS.Timeout | null;
}

export function createEventHints(wakes: Wakes): EventHints {
  const streams = new Map<string, Stream>();

  const hear = (stream: Stream) => {
    if (stream.freshness !== null) clearTimeout(stream.freshness);
    stream.freshness = setTimeout(() => {
      stream.freshness = null;
    }, FRESH_MS).unref();
    for (const look of stream.waiting) look();
  };

  const forget = (name: string, { stopListening, freshness, lingering }: Stream) => {
    streams.delete(name);
    stopListening();
    if (freshness !== null) clearTimeout(freshness);
    if (lingering !== null) clearTimeout(lingering);
  };

  const open = (name: string): Stream => {
    const known = streams.get(name);
    if (known !== undefined) return known;
    const stream: Stream = {
      waiting: new Set(),
      stopListening: wakes.onReady(name, () => hear(stream)),
      freshness: null,
      lingering: null,
    };
    streams.set(name, stream);
    // Its reader has looked before anything could be heard.
    hear(stream);
    return stream;
  };

  const wait = (name: string, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const stream = open(name);
      if (stream.lingering !== null) clearTimeout(stream.lingering);
      const look = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', look);
        stream.waiting.delete(look);
        if (stream.waiting.size === 0) {
          stream.lingering = setTimeout(() => forget(name, stream), LINGER_MS).unref();
        }
        resolve();
      };
      const timer = setTimeout(look, stream.freshness === null ? LOOK_MS : FRESH_LOOK_MS);
      stream.waiting.add(look);
      signal.addEventListener('abort', look, { once: true });
      if (signal.aborted) look();
    });

  return {
    tell: (names) => {
      for (const name of names) wakes.wake(name);
    },
    wait,
    close: async () => {
      for (const stream of streams.values()) for (const look of stream.waiting) look();
      for (const [name, stream] of streams) forget(name, stream);
      await wakes.close();
    },
  };
}
