import { toPrintable } from '@kervyxa/core';
import type { Step, VerificationEvent } from '@kervyxa/verifier';
import type { Host } from '../host.ts';
import { cut, seconds } from './text.ts';
import { LiveArea } from './live-area.ts';

const REDRAW_MS = 100;
const MARK_COLUMNS = 4;

export interface Progress {
  onEvent(event: VerificationEvent): void;
  /** A line of its own above the running steps. */
  note(text: string): void;
  /** One changing line below the running steps, on terminals only; empty for none. */
  live(text: string): void;
  /** Removes the running steps from the screen; safe twice. */
  stop(): void;
}

/** One line a step on stderr: rewritten with its elapsed time while it runs, kept with its outcome at the end. */
export function createProgress(host: Pick<Host, 'stderr' | 'clock' | 'every'>): Progress {
  const area = new LiveArea(host.stderr);
  let liveText = '';
  const running = new Map<string, { step: Step; startedMs: number }>();

  const redraw = () => {
    const now = host.clock.monotonicMs();
    const lines = [...running.values()].map(({ step, startedMs }) =>
      toLine(host, {
        mark: '....',
        paint: 'dim',
        ms: now - startedMs,
        text: toTitle(step),
        reason: null,
      }),
    );
    area.show(liveText === '' ? lines : [...lines, liveText]);
  };
  const stopTicking = host.stderr.isTerminal ? host.every(REDRAW_MS, redraw) : () => undefined;

  return {
    onEvent(event) {
      if (event.kind === 'output') return;
      if (event.kind === 'step_started') {
        running.set(event.step.id, { step: event.step, startedMs: host.clock.monotonicMs() });
      } else {
        running.delete(event.step.id);
        area.print(
          toLine(host, {
            ...OUTCOMES[event.status],
            ms: event.durationMs,
            text: toTitle(event.step),
            reason: event.reason,
          }),
        );
      }
      redraw();
    },
    note: (text) => area.print(text),
    live(text) {
      liveText = cut(toPrintable(text), host.stderr.columns - 1);
      redraw();
    },
    stop() {
      stopTicking();
      liveText = '';
      running.clear();
      area.show([]);
    },
  };
}

type Paint = 'dim' | 'green' | 'red' | 'yellow';

const OUTCOMES = {
  pass: { mark: 'pass', paint: 'green' },
  fail: { mark: 'FAIL', paint: 'red' },
  inconclusive: { mark: '????', paint: 'yellow' },
  error: { mark: 'ERR!', paint: 'red' },
} as const satisfies Record<string, { mark: string; paint: Paint }>;

/** A criterion's id, because reasons and log files use it. */
function toTitle({ id, kind, title }: Step): string {
  const name = { criterion: `${id.replace(/^criterion:/, '')}: `, setup: 'set-up: ' }[
    kind as string
  ];
  return toPrintable(`${name ?? ''}${title}`, 300);
}

function toLine(
  { stderr }: Pick<Host, 'stderr'>,
  line: { mark: string; paint: Paint; ms: number; text: string; reason: string | null },
): string {
  const time = seconds(line.ms);
  // A long title is cut, the reason never.
  const reason = line.reason === null ? '' : ` (${line.reason})`;
  const room = stderr.columns - MARK_COLUMNS - time.length - '  '.length - reason.length;
  const text = stderr.isTerminal ? cut(line.text, room) : line.text;
  return `${stderr.colors[line.paint](line.mark.padEnd(MARK_COLUMNS))}${time}  ${text}${reason}`;
}
