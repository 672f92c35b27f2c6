import pc from 'picocolors';
import type { Host, Screen, StopSignal } from '../host.ts';

export interface FakeScreen extends Screen {
  /** Everything written. */
  text(): string;
  /** What a person sees: the lines left after the escape sequences were obeyed. */
  lines(): string[];
}

export interface FakeHost extends Host {
  readonly stdout: FakeScreen;
  readonly stderr: FakeScreen;
  /** Exit codes of `exitNow`. */
  readonly exits: number[];
  advance(ms: number): void;
  raise(signal: StopSignal): void;
}

interface FakeHostOptions {
  readonly terminal?: boolean;
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

/** A process for tests: screens that remember, a clock that stands still, signals on demand. */
export function fakeHost(options: FakeHostOptions = {}): FakeHost {
  const listeners = new Set<(signal: StopSignal) => void>();
  const ticks = new Set<() => void>();
  const exits: number[] = [];
  let nowMs = 0;
  return {
    stdout: fakeScreen(options),
    stderr: fakeScreen(options),
    interactive: options.terminal ?? false,
    env: options.env ?? {},
    clock: { now: () => new Date(nowMs), monotonicMs: () => nowMs },
    stdin: inputOf(options.stdin ?? ''),
    exits,
    onStopSignal(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    every(_ms, tick) {
      ticks.add(tick);
      return () => ticks.delete(tick);
    },
    exitNow: (exitCode) => exits.push(exitCode),
    advance(ms) {
      nowMs += ms;
      for (const tick of ticks) tick();
    },
    raise(signal) {
      for (const listener of listeners) listener(signal);
    },
  };
}

async function* inputOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

export function fakeScreen({ terminal = false, columns = 80 }: FakeHostOptions = {}): FakeScreen {
  let written = '';
  return {
    isTerminal: terminal,
    columns,
    colors: pc.createColors(false),
    write: (text) => {
      written += text;
    },
    text: () => written,
    lines: () => obey(written, columns),
  };
}

/** A terminal of the three sequences that are used: carriage return, cursor up, and erase to the end. */
function obey(text: string, columns: number): string[] {
  const lines = [''];
  let row = 0;
  let column = 0;
  for (const [token] of text.matchAll(/\u001b\[1A|\u001b\[J|[^]/g)) {
    if (token === '\u001b[1A') row -= 1;
    else if (token === '\u001b[J') lines.splice(row, Infinity, (lines[row] ?? '').slice(0, column));
    else if (token === '\r') column = 0;
    else if (token === '\n') {
      row += 1;
      column = 0;
      lines[row] ??= '';
    } else {
      const line = lines[row] ?? '';
      lines[row] = line.slice(0, column).padEnd(column) + token + line.slice(column + 1);
      column += 1;
      if (column > columns) throw new Error(`a line is wider than the screen: ${lines[row]}`);
    }
  }
  return lines;
}
