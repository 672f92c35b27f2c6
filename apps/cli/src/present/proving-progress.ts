import { toPrintable } from '@kervyxa/core';
import type { ProvingEvent } from '@kervyxa/verifier';
import type { Host } from '../host.ts';
import { LiveArea } from './live-area.ts';
import { cut, seconds } from './text.ts';

const REDRAW_MS = 100;

export interface ProvingProgress {
  onEvent(event: ProvingEvent): void;
  /** A line of its own above the running column. */
  note(text: string): void;
  /** One changing line, on terminals only; empty for none. */
  live(text: string): void;
  /** Removes the running column from the screen; safe twice. */
  stop(): void;
}

/** A line a column and a replay on stderr, with how many there are; the running one with its time. */
export function createProvingProgress(
  host: Pick<Host, 'stderr' | 'clock' | 'every'>,
): ProvingProgress {
  const { stderr, clock } = host;
  const area = new LiveArea(stderr);
  let liveText = '';
  let running: { readonly text: string; readonly startedMs: number } | null = null;
  let startedMs = clock.monotonicMs();

  const lay = (mark: string, ms: number, text: string): string => {
    const line = `${mark.padEnd(4)}${seconds(ms)}  ${toPrintable(text, 300)}`;
    return stderr.isTerminal ? cut(line, stderr.columns - 1) : line;
  };
  const redraw = (): void => {
    const lines = liveText === '' ? [] : [liveText];
    if (running !== null) {
      lines.unshift(lay('....', clock.monotonicMs() - running.startedMs, running.text));
    }
    area.show(lines);
  };
  /** What ended since the last line took all the time since then: one column runs after another. */
  const end = (mark: string, text: string): void => {
    const nowMs = clock.monotonicMs();
    area.print(lay(mark, nowMs - startedMs, text));
    startedMs = nowMs;
  };
  const stopTicking = stderr.isTerminal ? host.every(REDRAW_MS, redraw) : () => undefined;

  return {
    onEvent(event) {
      switch (event.kind) {
        case 'column_started': {
          startedMs = clock.monotonicMs();
          const place = `${event.done + 1} of ${event.total}`;
          running = { text: `${place}: ${event.title}`, startedMs };
          break;
        }
        case 'column_finished': {
          const { verdict, expected, title } = event.column;
          const isAsWanted = expected === null ? verdict !== 'PASS' : verdict === expected;
          end(isAsWanted ? 'ok' : 'BAD', `${running?.text ?? title}: ${verdict}`);
          running = null;
          break;
        }
        case 'replay_finished':
          end('ok', `replay ${event.done} of ${event.total} of the known-good commit`);
          break;
      }
      redraw();
    },
    note: (text) => area.print(text),
    live(text) {
      liveText = cut(toPrintable(text), stderr.columns - 1);
      redraw();
    },
    stop() {
      stopTicking();
      liveText = '';
      running = null;
      area.show([]);
    },
  };
}
