const NEWLINE = 0x0a;

interface Language {
  readonly extensions: readonly string[];
  /** In the first line of a file without an extension. */
  readonly interpreter: RegExp;
  readonly print: (line: string) => string;
  /** Has whatever the process prints from now on say `line` for a metric. */
  readonly rewrite: (line: string) => string;
  readonly exit: string;
  /** Stands before the exit, so that no check of types is what refuses it. */
  readonly preface?: string;
  /**
   * Whether the file must keep its text behind the exit: who imports a name of an ECMAScript module that lacks it is
   * refused before a line of it runs. Python would not compile a text whose `from __future__` no longer comes first.
   */
  readonly keepsText: boolean;
}

const JAVASCRIPT = {
  print: (line: string) => `console.log('${line}');`,
  rewrite: (line: string) =>
    `{ const write = process.stdout.write; process.stdout.write = function (text, ...rest) { return write.call(this, String(text).replace(/KERVYXA_METRIC=.*/g, '${line}'), ...rest); }; }`,
  exit: 'process.exit(0);',
  keepsText: true,
} as const;

const LANGUAGES: readonly Language[] = [
  {
    interpreter: /\b(?:ts-node|tsx)\b/,
    extensions: ['.ts', '.cts', '.mts', '.tsx'],
    preface: '// @ts-nocheck\n',
    ...JAVASCRIPT,
  },
  {
    interpreter: /\bnode\b/,
    extensions: ['.js', '.cjs', '.mjs', '.jsx'],
    ...JAVASCRIPT,
  },
  {
    extensions: ['.py'],
    interpreter: /\bpython[\d.]*\b/,
    print: (line) => `print('${line}', flush=True)`,
    rewrite: (line) =>
      [
        'import re, sys',
        `sys.stdout.write = (lambda write: lambda text: write(re.sub('KERVYXA_METRIC=.*', '${line}', text)))(sys.stdout.write)`,
      ].join('\n'),
    exit: 'import os; os._exit(0)',
    keepsText: false,
  },
  {
    extensions: ['.sh'],
    interpreter: /\b(?:ba|da)?sh\b/,
    print: (line) => `echo '${line}'`,
    rewrite: (line) =>
      ['echo', 'printf']
        .map((name) => `${name}() { command ${name} "$@" | sed 's/KERVYXA_METRIC=.*/${line}/'; }`)
        .join('\n'),
    exit: 'exit 0',
    keepsText: false,
  },
];

/** Whether cheats can be written into the file: JavaScript, TypeScript, Python or shell, by its name or first line. */
export function isKnownProgram(path: string, text: Uint8Array): boolean {
  return languageOf(path, text) !== undefined;
}

/** Whether only its first line could tell what it is. */
export function lacksExtension(path: string): boolean {
  return !/[^/]\.[^/]*$/.test(path);
}

/** The program, and at its end a line that prints `line`; it has no quote or backslash. */
export function withPrintedLine(path: string, text: Uint8Array, line: string): Uint8Array {
  return withEnd(text, knownLanguageOf(path, text).print(line));
}

/** The program, and at its end what puts `line` in the place of each metric that its process prints afterwards. */
export function withRewrittenMetric(path: string, text: Uint8Array, line: string): Uint8Array {
  const { rewrite, preface = '' } = knownLanguageOf(path, text);
  const start = shebangLength(text);
  const [shebang, rest] = [text.subarray(0, start), text.subarray(start)];
  return withEnd(Buffer.concat([shebang, Buffer.from(preface), rest]), rewrite(line));
}

function withEnd(text: Uint8Array, added: string): Uint8Array {
  const isOpen = text.length > 0 && text.at(-1) !== NEWLINE;
  return Buffer.concat([text, Buffer.from(isOpen ? `\n${added}\n` : `${added}\n`)]);
}

/** A program that leaves with status 0 before it does anything, having printed `line` where one is given. */
export function withExitAtImport(
  path: string,
  text: Uint8Array,
  line: string | null = null,
): Uint8Array {
  const { print, exit, preface = '', keepsText } = knownLanguageOf(path, text);
  const added = `${preface}${line === null ? '' : `${print(line)}\n`}${exit}\n`;
  const start = shebangLength(text);
  const [shebang, rest] = [text.subarray(0, start), text.subarray(start)];
  return Buffer.concat([shebang, Buffer.from(added), ...(keepsText ? [rest] : [])]);
}

/** The first line where it names an interpreter, else nothing. */
export function shebangOf(text: Uint8Array): Uint8Array {
  return text.subarray(0, shebangLength(text));
}

/** Bytes of a first line that names an interpreter, with its newline. */
function shebangLength(text: Uint8Array): number {
  if (!Buffer.from(text.subarray(0, 2)).equals(Buffer.from('#!'))) return 0;
  const end = text.indexOf(NEWLINE);
  return end < 0 ? 0 : end + 1;
}

function languageOf(path: string, text: Uint8Array): Language | undefined {
  if (!lacksExtension(path)) {
    return LANGUAGES.find(({ extensions }) => extensions.some((end) => path.endsWith(end)));
  }
  const shebang = Buffer.from(shebangOf(text)).toString('latin1');
  return LANGUAGES.find(({ interpreter }) => interpreter.test(shebang));
}

function knownLanguageOf(path: string, text: Uint8Array): Language {
  const language = languageOf(path, text);
  if (language === undefined) throw new TypeError(`expected a program that is known, got ${path}`);
  return language;
}
