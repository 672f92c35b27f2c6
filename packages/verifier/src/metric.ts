const MARKER = 'KERVYXA_METRIC';
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
  #firstAttempt: string | null = null;
  #attemptCount = 0;

  push(chunk: Uint8Array): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      this.#append(chunk.subarray(start, end === -1 ? chunk.length : end));
      if (end === -1) return;
      this.#endLine();
      start = end + 1;
    }
  }

  /** Ends the stream (a last line needs no newline) and answers; call once. */
  finish(): MetricReading {
    this.#endLine();
    if (this.#attemptCount > 1) return { kind: 'several', count: this.#attemptCount };
    const line = this.#firstAttempt;
    if (line === null) return { kind: 'none' };
    const value = parseMetricLine(line);
    return value === null ? { kind: 'malformed', line } : { kind: 'one', value };
  }

  #append(piece: Uint8Array): void {
    if (this.#length < LINE_BYTES_KEPT) {
      this.#line.set(piece.subarray(0, LINE_BYTES_KEPT - this.#length), this.#length);
    }
    this.#length += piece.length;
  }

  #endLine(): void {
    const kept = this.#line.subarray(0, Math.min(this.#length, LINE_BYTES_KEPT));
    const text = Buffer.from(kept).toString('latin1');
    if (text.startsWith(MARKER)) {
      this.#attemptCount += 1;
      const tooLong = this.#length > LINE_BYTES_KEPT;
      this.#firstAttempt ??= tooLong ? `${text}…` : text;
    }
    this.#length = 0;
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
