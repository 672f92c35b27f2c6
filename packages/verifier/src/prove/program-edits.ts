const NEWLINE = 0x0a;

interface Language {
  readonly extensions: readonly string[];
  readonly print: (line: string) => string;
  readonly exit: string;
  /**
   * Whether the file must keep its text behind the exit: who imports a name of an ECMAScript module that lacks it is
   * refused before a line of it runs. Python would not compile a text whose `from __future__` no longer comes first.
   */
  readonly keepsText: boolean;
}

const LANGUAGES: readonly Language[] = [
  {
    extensions: ['.js', '.cjs', '.mjs', '.jsx', '.ts', '.cts', '.mts', '.tsx'],
    print: (line) => `console.log('${line}');`,
    exit: 'process.exit(0);',
    keepsText: true,
  },
  {
    extensions: ['.py'],
    print: (line) => `print('${line}', flush=True)`,
    exit: 'import os; os._exit(0)',
    keepsText: false,
  },
  {
    extensions: ['.sh'],
    print: (line) => `echo '${line}'`,
    exit: 'exit 0',
    keepsText: false,
  },
];

/** Whether cheats can be written into the file: JavaScript, TypeScript, Python or shell by its name. */
export function isKnownProgram(path: string): boolean {
  return languageOf(path) !== undefined;
}

/** The program, and at its end a line that prints `line`; it has no quote or backslash. */
export function withPrintedLine(path: string, text: Uint8Array, line: string): Uint8Array {
  const added = `${knownLanguageOf(path).print(line)}\n`;
  const isOpen = text.length > 0 && text.at(-1) !== NEWLINE;
  return Buffer.concat([text, Buffer.from(isOpen ? `\n${added}` : added)]);
}

/** A program that leaves with status 0 before it does anything, having printed `line` where one is given. */
export function withExitAtImport(
  path: string,
  text: Uint8Array,
  line: string | null = null,
): Uint8Array {
  const { print, exit, keepsText } = knownLanguageOf(path);
  const added = line === null ? `${exit}\n` : `${print(line)}\n${exit}\n`;
  const start = shebangLength(text);
  const [shebang, rest] = [text.subarray(0, start), text.subarray(start)];
  return Buffer.concat([shebang, Buffer.from(added), ...(keepsText ? [rest] : [])]);
}

/** Bytes of a first line that names an interpreter, with its newline. */
function shebangLength(text: Uint8Array): number {
  if (!Buffer.from(text.subarray(0, 2)).equals(Buffer.from('#!'))) return 0;
  const end = text.indexOf(NEWLINE);
  return end < 0 ? 0 : end + 1;
}

function languageOf(path: string): Language | undefined {
  return LANGUAGES.find(({ extensions }) => extensions.some((end) => path.endsWith(end)));
}

function knownLanguageOf(path: string): Language {
  const language = languageOf(path);
  if (language === undefined) throw new TypeError(`expected a program that is known, got ${path}`);
  return language;
}
