import type { Screen } from '../host.ts';

/**
 * The last lines of a terminal, rewritten in place, with finished lines scrolling away above them. Lines must not be
 * wider than the screen: a wrapped one can't be erased. On anything but a terminal only `print` shows.
 */
export class LiveArea {
  readonly #screen: Screen;
  #shown: readonly string[] = [];

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Writes finished text above the live lines. */
  print(text: string): void {
    this.#screen.write(`${this.#eraseSequence()}${text}\n${this.#shown.join('\n')}`);
  }

  /** Replaces the live lines; an empty list removes them. */
  show(lines: readonly string[]): void {
    if (!this.#screen.isTerminal) return;
    if (lines.length === this.#shown.length && lines.every((line, i) => line === this.#shown[i]))
      return;
    const erase = this.#eraseSequence();
    this.#shown = lines;
    this.#screen.write(`${erase}${lines.join('\n')}`);
  }

  /** From the end of the last live line back to the start of the first, and clears to the end of the screen. */
  #eraseSequence(): string {
    if (this.#shown.length === 0) return '';
    return `\r${'\u001b[1A'.repeat(this.#shown.length - 1)}\u001b[J`;
  }
}
