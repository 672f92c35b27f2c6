import { shellCalls } from './shell-walk.ts';
import { INTERPRETER } from './script-targets.ts';
import type { LiteralWord } from './shell-words.ts';

/** What of a command needs a network, in a few words, or null. A bundle makes npm and pip install from itself. */
export function networkUseOf(
  command: string,
  { hasBundle = false }: { readonly hasBundle?: boolean } = {},
): string | null {
  if (/\/dev\/(tcp|udp)\//.test(command)) return '/dev/tcp';
  const [, key] = API_KEY.exec(command) ?? [];
  if (key !== undefined) return key;
  for (const { words } of shellCalls(command)) {
    const use = useOf(words);
    if (use !== null && !(hasBundle && FROM_BUNDLE.has(use))) return use;
  }
  return null;
}

// A key of a hosted model that is handed over.
const API_KEY =
  /(?:^|[\s;&|])((?:AZURE_)?(?:OPENAI|ANTHROPIC|GEMINI|MISTRAL|COHERE|GROQ|DEEPSEEK|HF|HUGGINGFACE)_(?:API_)?(?:KEY|TOKEN))=/;

// The configuration in a bundle says offline and no-index, so these do without their options.
const FROM_BUNDLE = new Set(['npm ci', 'npm install', 'npm i', 'pip install']);

/** Whether what `networkUseOf` found would install packages. */
export function isInstall(use: string): boolean {
  return /^(npm|pnpm|yarn|bun|pip|uv|poetry)( (ci|install|i|add|sync|pip))?$/.test(use);
}

const NETWORK_PROGRAMS = new Set(
  `curl wget ftp sftp ssh scp rsync nc ncat netcat telnet socat dig nslookup host ping ping6 traceroute whois aria2c
  http https httpie uvx pipx apt apt-get aptitude apk yum dnf brew snap docker podman gh aws gcloud az ollama huggingface-cli`.split(
    /\s+/,
  ),
);
// Programs of which only some subcommands need a network.
const NETWORK_SUBCOMMANDS: Readonly<Record<string, readonly string[]>> = {
  git: ['clone', 'fetch', 'pull', 'push', 'ls-remote', 'submodule'],
  npm: [
    'install',
    'i',
    'add',
    'ci',
    'update',
    'up',
    'upgrade',
    'audit',
    'outdated',
    'view',
    'publish',
    'create',
    'init',
  ],
  pnpm: ['install', 'i', 'add', 'update', 'up', 'dlx', 'audit', 'outdated', 'fetch'],
  yarn: ['install', 'add', 'up', 'upgrade', 'dlx', 'audit'],
  bun: ['install', 'add', 'x', 'update'],
  pip: ['install', 'download', 'wheel'],
  uv: ['sync', 'add', 'pip', 'tool', 'run'],
  poetry: ['install', 'add', 'update'],
  conda: ['install', 'create', 'update'],
  gem: ['install', 'update'],
  bundle: ['install', 'update'],
  cargo: ['install', 'fetch', 'update', 'add'],
  go: ['get', 'install'],
  composer: ['install', 'update', 'require'],
  dotnet: ['restore', 'add'],
  playwright: ['install'],
  puppeteer: ['browsers'],
};
const OFFLINE_OPTIONS =
  /^(--offline|--no-index|--local|--frozen=offline|--dry-run|--cached|--prefer-offline=only)$/;

function useOf(words: readonly LiteralWord[]): string | null {
  const [program, ...args] = words;
  if (typeof program !== 'string') return null;
  // A relative path is a program of the repository, whatever it is called.
  const name = program.startsWith('/') ? program.replace(/^.*\//, '') : program;
  if (name === 'bunx' || NETWORK_PROGRAMS.has(name)) return isHelp(args) ? null : name;
  if (/^python[\d.]*$/.test(name)) {
    const module = args[args.indexOf('-m') + 1];
    if (args.includes('-m') && module === 'pip')
      return useOf(['pip', ...args.slice(args.indexOf('pip') + 1)]);
  }
  if (name === 'npx') return useOf(args.slice(args.findIndex((word) => !word?.startsWith('-'))));
  const inline = INTERPRETER.test(name) ? (inlineUse(args) ?? remoteProgram(args)) : null;
  if (inline !== null) return inline;
  return subcommandUse(/^pip[\d.]*$/.test(name) ? 'pip' : name, args);
}

// `git -c a=b fetch`, `git -C folder pull`, `npm --prefix folder ci`.
const VALUE_OPTION = /^(-c|-C|--prefix|--cwd|--git-dir)$/;

function subcommandUse(program: string, args: readonly LiteralWord[]): string | null {
  if (!Object.hasOwn(NETWORK_SUBCOMMANDS, program)) return null;
  if (args.some((word) => OFFLINE_OPTIONS.test(word ?? ''))) return null;
  if (installsOnlyItself(program, args)) return null;
  const subcommand = args.find(
    (word, index) =>
      word !== null && !word.startsWith('-') && !VALUE_OPTION.test(args[index - 1] ?? ''),
  );
  // `yarn` alone installs.
  if (subcommand === undefined) return program === 'yarn' && args.length === 0 ? 'yarn' : null;
  if (subcommand === null || !(NETWORK_SUBCOMMANDS[program] ?? []).includes(subcommand))
    return null;
  return `${program} ${subcommand}`;
}

/** What is installed lies in the repository and brings nothing along: `pip install --no-deps .`, `go install ./…`. */
function installsOnlyItself(program: string, args: readonly LiteralWord[]): boolean {
  const [, ...targets] = args.filter((word) => word === null || !word.startsWith('-'));
  const areLocal = targets.length > 0 && targets.every((word) => word?.startsWith('.') === true);
  if (program === 'go') return areLocal;
  const isAlone = args.includes('--no-deps') && args.includes('--no-build-isolation');
  return program === 'pip' && isAlone && areLocal;
}

function isHelp(args: readonly LiteralWord[]): boolean {
  return args.length > 0 && args.every((word) => word === '--version' || word === '--help');
}

const INLINE_OPTIONS = new Set(['-e', '-c', '-p', '-pe', '--eval', '--print']);
const INLINE_NETWORK =
  /(?<![.\w])fetch\s*\(|\b(require|import)\(\s*['"](node:)?(https?|net|dgram|dns)['"]|\bfrom\s+['"](node:)?(https?|net|dgram|dns)['"]|\bimport\s+(requests|urllib|socket|httpx)\b|\burlopen\b|\bfrom\s+(requests|urllib|httpx)\b|\b(api\.openai|api\.anthropic|generativelanguage\.googleapis)\.com/;
const LOOPBACK = /\b(localhost|127\.0\.0\.1)\b/;

/** `deno run https://…` */
function remoteProgram(args: readonly LiteralWord[]): string | null {
  const [program] = args.filter((word) => word !== 'run' && word?.startsWith('-') !== true);
  if (typeof program !== 'string' || LOOPBACK.test(program)) return null;
  return /^https?:\/\//.test(program) ? program : null;
}

/** Code given on the command line that opens a connection to somewhere else. */
function inlineUse(args: readonly LiteralWord[]): string | null {
  const index = args.findIndex((word) => word !== null && INLINE_OPTIONS.has(word));
  const code = index < 0 ? null : args[index + 1];
  if (typeof code !== 'string' || LOOPBACK.test(code)) return null;
  return INLINE_NETWORK.exec(code)?.[0] ?? null;
}
