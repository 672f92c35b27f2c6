const MARKER = 'KERVYXA_METRIC';
/** Begins the last line of a harness that shows, by the token it was given, that it came to its end. */
export const COMPLETION_MARKER = 'KERVYXA_DONE';
const MARKER_START = MARKER.charCodeAt(0);
// Longer than any marker line that can be right; the rest of a longer line is counted, not kept (THREATS M16).
const LINE_BYTES_KEPT = 128;
const NEWLINE = 0x0a;
const DECIMAL = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?$/;
// What a double holds without silent change (THREATS M08).
const SIGNIFICANT_DIGITS_MAX = 17;

/** What the whole of a standard output says about the metric. */
export type MetricReading =
  | { readonly kind: 'one'; readonly value: number }
  | { readonly kind: 'none' }
  | { readonly kind: 'several'; readonly count: number }
  | { readonly kind: 'malformed'; readonly line: string };

/**
 * Reads metric lines out of a stream, piece by piece, in constant memory. Lines end at 0x0A only: a carriage return
 * or U+2028 inside a line makes no second one (THREATS M03). A line that begins with the marker is an attempt; the
 * stream must hold exactly one, and it must be exactly `KERVYXA_METRIC=` and one decimal number.
 */
export class MetricScanner {
  #line = new Uint8Array(LINE_BYTES_KEPT);
  #length = 0;
  /** The line before, which is the last one when the stream ends with a newline. */
  #ended = new Uint8Array(LINE_BYTES_KEPT);
  #endedLength = 0;
  #firstAttempt: string | null = null;
  #attemptCount = 0;

  /** Byte by byte: a flood of empty lines would cost a hundred times more with a slice or a search for each. */
  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0; // Never 0 for want of a byte: `at` is below the length.
      if (byte === NEWLINE) {
        this.#endLine();
        this.#length = 0;
        continue;
      }
      if (this.#length < LINE_BYTES_KEPT) this.#line[this.#length] = byte;
      this.#length += 1;
    }
  }

  /** Ends the stream (a last line needs no newline) and answers; call once. */
  finish(): MetricReading {
    if (this.#length > 0) this.#endLine();
    if (this.#attemptCount > 1) return { kind: 'several', count: this.#attemptCount };
    const line = this.#firstAttempt;
    if (line === null) return { kind: 'none' };
    const value = parseMetricLine(line);
    return value === null ? { kind: 'malformed', line } : { kind: 'one', value };
  }

  /** The last line of the finished stream, without its newline; null where it is longer than any that counts. */
  get lastLine(): string | null {
    if (this.#endedLength > LINE_BYTES_KEPT) return null;
    return Buffer.from(this.#ended.subarray(0, this.#endedLength)).toString('latin1');
  }

  #endLine(): void {
    if (this.#length >= MARKER.length && this.#line[0] === MARKER_START) this.#endCandidate();
    [this.#line, this.#ended] = [this.#ended, this.#line];
    this.#endedLength = this.#length;
  }

  #endCandidate(): void {
    const kept = this.#line.subarray(0, Math.min(this.#length, LINE_BYTES_KEPT));
    const text = Buffer.from(kept).toString('latin1');
    if (!text.startsWith(MARKER)) return;
    this.#attemptCount += 1;
    const tooLong = this.#length > LINE_BYTES_KEPT;
    this.#firstAttempt ??= tooLong ? `${text}…` : text;
  }
}

/** The number of a marker line, or null where the line is not exactly the marker and one decimal number. */
export function parseMetricLine(line: string): number | null {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  const prefix = `${MARKER}=`;
  if (!text.startsWith(prefix)) return null;
  const digits = text.slice(prefix.length);
  if (!DECIMAL.test(digits)) return null;
  const mantissa = digits
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '');
  if (mantissa.replace(/0+$/, '').length > SIGNIFICANT_DIGITS_MAX) return null;
  const value = Number(digits);
  if (!Number.isFinite(value)) return null;
  if (Number.isInteger(value) && Math.abs(value) > Number.MAX_SAFE_INTEGER) return null;
  if (value === 0) return mantissa === '' ? 0 : null; // A number too small to hold is not zero.
  return value;
}
