import { toPrintable } from '@kervyxa/core';
import type { PackProgress } from '@kervyxa/deps';
import type { Host } from '../host.ts';
import { LiveArea } from './live-area.ts';
import { count, cut } from './text.ts';

const BAR_COLUMNS = 24;
const REDRAW_MS = 100;
/** Where there is no bar, a line says what is waited for when nothing has moved for so long. */
const SILENT_MS_MAX = 10_000;

export interface PackProgressView {
  onProgress(progress: PackProgress): void;
  /** A line of its own above the bar. */
  note(text: string): void;
  /** Removes the bar; safe twice. */
  stop(): void;
}

/** A bar on stderr where that is a terminal; else one line at the beginning, and one whenever nothing moves. */
export function createPackProgress(host: Pick<Host, 'stderr' | 'every'>): PackProgressView {
  const area = new LiveArea(host.stderr);
  let latest: PackProgress | null = null;
  const redraw = () => {
    if (latest !== null) area.show([cut(toBar(latest), host.stderr.columns - 1)]);
  };
  let told: PackProgress | null = null;
  const tellWaiting = () => {
    if (latest !== null && latest === told && latest.waitingFor !== null) {
      area.print(`waiting for ${toPrintable(latest.waitingFor, 100)}`);
    }
    told = latest;
  };
  const stopTicking = host.stderr.isTerminal
    ? host.every(REDRAW_MS, redraw)
    : host.every(SILENT_MS_MAX, tellWaiting);
  return {
    onProgress(progress) {
      if (latest === null && !host.stderr.isTerminal) {
        area.print(`fetching ${count(progress.packagesTotal, 'package')}`);
      }
      const isFirst = latest === null;
      latest = progress;
      if (isFirst) redraw();
    },
    note: (text) => area.print(text),
    stop() {
      stopTicking();
      latest = null;
      area.show([]);
    },
  };
}

function toBar({ packagesDone, packagesTotal, bytes, waitingFor }: PackProgress): string {
  const share = packagesTotal === 0 ? 1 : packagesDone / packagesTotal;
  const waits = waitingFor === null ? '' : `, waiting for ${toPrintable(waitingFor, 100)}`;
  const full = '#'.repeat(Math.round(share * BAR_COLUMNS));
  return `[${full.padEnd(BAR_COLUMNS, '-')}] ${packagesDone}/${count(packagesTotal, 'package')}, ${megabytes(bytes)}${waits}`;
}

/** `3.1 MB`, and `812 bytes` of what would be none. */
export function megabytes(bytes: number): string {
  if (bytes > 0 && bytes < 100_000) return count(bytes, 'byte');
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
