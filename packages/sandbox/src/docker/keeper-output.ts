const STDERR_CHARACTERS_MAX = 500;
const MEASURED = 'measured ';

/** Lines of a keeper's stdout, results of measurements apart from answers, and the beginning of its stderr. */
export class KeeperOutput {
  readonly answers = new Lines();
  readonly measurements = new Lines();
  errors = '';
  #rest = '';

  push(stream: 'stdout' | 'stderr', chunk: Uint8Array): void {
    const text = Buffer.from(chunk).toString('latin1');
    if (stream === 'stderr') {
      this.errors = (this.errors + text).slice(0, STDERR_CHARACTERS_MAX);
      return;
    }
    if (!text.includes('\n')) {
      this.#rest += text;
      return;
    }
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith(MEASURED)) this.measurements.push(line.slice(MEASURED.length));
      else this.answers.push(line);
    }
  }
}

/** Lines in order, for one who waits at a time. */
class Lines {
  readonly #lines: string[] = [];
  #waiting: ((line: string) => void) | null = null;

  push(line: string): void {
    this.#lines.push(line);
    this.#hand();
  }

  next(): Promise<string> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#hand();
    });
  }

  #hand(): void {
    if (this.#waiting === null) return;
    const line = this.#lines.shift();
    if (line === undefined) return;
    this.#waiting(line);
    this.#waiting = null;
  }
}
