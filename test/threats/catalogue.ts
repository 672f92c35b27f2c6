import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const ROW = /^\| (?<id>[A-Z]+-?\d+) +\| (?<attack>.+?) +\| (?<answer>.+?) +\|$/;
const IDS = /^(?:(?:BUG-\d+|[CDEGHMS]\d\d) )+/;
/** A title is a literal that begins with ids: of a test itself, or of a row from which a test takes its title. */
const TITLE = /(?<=['"`])(?:BUG-\d+|[CDEGHMS]\d\d)(?: (?:BUG-\d+|[CDEGHMS]\d\d))*(?=[ '"`])/g;
const IMPORT = /\bfrom '(\.[^']+|@kervyxa\/[a-z]+\/[a-z/-]+)'/g;

/** A row of docs/threats.md. */
export interface Threat {
  readonly id: string;
  readonly attack: string;
  readonly answer: string;
}

export function readThreats(): Threat[] {
  return readFileSync(join(ROOT, 'docs/threats.md'), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const { id, attack, answer } = ROW.exec(line)?.groups ?? {};
      return id === undefined || attack === undefined || answer === undefined
        ? []
        : [{ id, attack, answer }];
    });
}

/** The ids with which a title begins. */
export function idsOfTitle(title: string): string[] {
  return IDS.exec(title)?.[0].trim().split(' ') ?? [];
}

/** Of each id that leads a title, the test files that carry it out, as paths from the root. */
export function findTests(): Map<string, Set<string>> {
  const sources = readSources();
  const tests = [...sources.keys()].filter((path) => isTestFile(path));
  const found = new Map<string, Set<string>>();
  for (const [path, text] of sources) {
    const ids = [...text.matchAll(TITLE)].flatMap(([title]) => title.split(' '));
    if (ids.length === 0) continue;
    const carriedOutBy = isTestFile(path)
      ? [path]
      : tests.filter((test) => importsOf(test, sources).has(path));
    for (const id of ids) {
      const files = found.get(id) ?? new Set();
      for (const file of carriedOutBy) files.add(file);
      found.set(id, files);
    }
  }
  return found;
}

function isTestFile(path: string): boolean {
  return /\.test\.(ts|mjs)$/.test(path);
}

/** Tests, and the suites that several of them share: path from the root → text. */
function readSources(): Map<string, string> {
  const paths = ['packages', 'apps', 'bench', 'demo', 'docker', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name}`)
      .filter((path) => isTestFile(path) || path.endsWith('-suite.ts'))
      .filter((path) => !path.includes('node_modules/')),
  );
  return new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
}

/** The shared suites that a test file imports itself. */
function importsOf(path: string, sources: ReadonlyMap<string, string>): Set<string> {
  const imports = (sources.get(path) ?? '').matchAll(IMPORT);
  return new Set([...imports].map(([, target = '']) => resolveImport(path, target)));
}

function resolveImport(from: string, target: string): string {
  if (target.startsWith('.')) return relative(ROOT, join(ROOT, dirname(from), target));
  const [, name = '', ...entry] = target.split('/');
  const manifest = readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8');
  const { exports = {} } = JSON.parse(manifest) as { exports?: Record<string, string> };
  return join('packages', name, exports[`./${entry.join('/')}`] ?? '');
}
